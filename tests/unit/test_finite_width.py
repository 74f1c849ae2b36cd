"""The recursions at order 1/width: derived coefficients, kinds, several routes to the same number."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpmath import mpf
from sympy import Rational, Symbol, diff, exp, simplify, symbols

from derive import Activation, Dense, theory
from derive.depth.finite.moments import Moments
from derive.records import DomainError, EocError, Kind, Unsupported

Q = Symbol("q", positive=True)


def test_sine_in_closed_form():
    """E sin^2 = (1 - exp(-2q))/2: curvature and source by hand."""
    fw = theory("sin(x)").finite_width
    w = Symbol("sigma_w", positive=True)
    second = (1 - exp(-2 * Q)) / 2
    assert simplify(fw.curvature.closed - w**2 * diff(second, Q, 2)) == 0
    assert simplify(fw.vertex_source.closed - w**4 * (1 - exp(-4 * Q)) ** 2 / 8) == 0
    assert fw.vertex.kind is Kind.EXACT


def test_relu_in_closed_form():
    fw = theory("relu").finite_width
    w, v, r, k1, t3 = symbols("sigma_w V4 r_n K1 T3")
    named = {s: symbols(s.name) for s in fw.third_cumulant.closed.free_symbols}
    q = symbols("q")
    assert fw.vertex.closed.subs(named).equals(5 * q**2 * w**4 / 4 + r * v * w**4 / 4)
    assert fw.mean_correction.closed.subs({s: symbols(s.name) for s in fw.mean_correction.closed.free_symbols}).equals(
        r * k1 * w**2 / 2
    )
    third = 11 * q**3 * w**6 / 2 + r * (15 * v * q * w**6 / 4 + r * t3 * w**6 / 8)
    assert fw.third_cumulant.closed.subs(named).expand() == third.expand()


def test_open_functions_have_kinds_latex_and_certified_numbers():
    fw = theory("tanh").finite_width
    assert all(result.kind is Kind.INTEGRAL for result in fw.results.values())
    assert "V_{4}" in fw.vertex.latex() and "r_{n}" in fw.vertex.latex()
    given = {"q": 1, "V4": "1/2", "K1": "1/10", "r_n": 2, "sigma_w": "1.1"}
    one = fw.step(1, "1/2", "1/10", sigma_w="1.1", ratio=2)
    assert fw.vertex.number(_only(fw.vertex, given)).overlaps(one.vertex)
    assert fw.mean_correction.number(_only(fw.mean_correction, given)).overlaps(one.correction)


def _only(result, given):
    return {name: value for name, value in given.items() if name in result.arguments}


@pytest.mark.parametrize(("source", "given"), [("hardtanh", {"a": -1, "b": 1}), ("leaky_relu", {"a": "1/10"})])
def test_kinks_count(source, given):
    """The float moments agree with certified derivatives of closed forms: nothing of phi'' is lost at a kink."""
    t = theory(Activation(source, **given))
    at = Moments(t.activation.phi, t.activation.dphi, {})(0.7)
    fw = t.finite_width
    assert at.g_slope == pytest.approx(float(fw.transport.number(q="0.7", sigma_w=1)), rel=1e-12)
    assert at.g_curvature == pytest.approx(float(fw.curvature.number(q="0.7", sigma_w=1)), rel=1e-11, abs=1e-13)


def test_hard_tanh_by_hand():
    """E phi^2 of hard-tanh: its slope is P(|z| < 1) by Stein, without the kinks' -2 p(1) it would be wrong."""
    got = Moments(*_functions(Activation("hardtanh", a=-1, b=1)), {})(1.0)
    inside, density = math.erf(math.sqrt(0.5)), math.exp(-0.5) / math.sqrt(2 * math.pi)
    assert got.e == pytest.approx(inside, rel=1e-13)
    assert got.g_slope == pytest.approx(inside - 2 * density, rel=1e-12)


def _functions(phi):
    layer = phi.layer
    return layer.phi, layer.dphi


def test_floats_and_balls_agree_at_unequal_widths():
    fw, widths = theory("erf(x)").finite_width, [40, 90]
    rough = fw.depth("0.8", 3, widths, "1.4", "0.3")
    sharp = fw.depth("0.8", 3, widths, "1.4", "0.3", certified=True)
    assert sharp.kind == "ENCLOSURE" and rough.kind == "float"
    for name in ("kernel", "vertex", "correction", "third", "gradient_norm", "gradient_overlap", "gradient_mixed",
                 "gradient_spread", "gradient_correction", "gain_correction", "gain_spread"):  # fmt: skip
        exact = [float(x) for x in getattr(sharp, name)]
        np.testing.assert_allclose(getattr(rough, name), exact, rtol=1e-10, atol=1e-12, err_msg=name)
        assert all(x.rad < mpf("1e-12") for x in getattr(sharp, name))


def test_a_scaled_twin():
    """phi(a x)/b with sigma_w b/a and kernels in units of 1/a^2: every statistic scales."""
    a, b = 3.0, 0.5
    plain = theory("tanh").finite_width.depth("0.9", 5, 64, "1.3", "0.2")
    twin = theory("tanh(3*x)/0.5").finite_width.depth("0.1", 5, 64, repr(1.3 * b / a), repr(0.2 / a))
    np.testing.assert_allclose(twin.vertex * a**4, plain.vertex, rtol=1e-9)
    np.testing.assert_allclose(twin.correction * a**2, plain.correction, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(twin.third * a**6, plain.third, rtol=1e-9)
    np.testing.assert_allclose(twin.gradient_spread, plain.gradient_spread, rtol=1e-9)


def test_ratio_of_widths_enters_as_stated():
    fw = theory("tanh").finite_width
    wide = fw.depth(1, 3, [50, 100], 1)
    even = fw.depth(1, 3, 50, 1)
    source = wide.vertex[1]
    at = float(fw.transport.number(q=wide_kernel(fw), sigma_w=1))
    assert wide.vertex[2] - even.vertex[2] == pytest.approx(at**2 * source, rel=1e-12)


def wide_kernel(fw):
    return repr(float(fw.depth(1, 2, 50, 1).kernel[1]))


def test_logarithms_and_kurtosis():
    d = theory("relu").finite_width.depth(1, 11, 100, "1.4142135623730951")
    assert d.log_mean[-1] == pytest.approx(-10 * 5 / 200, rel=1e-9)
    assert d.log_variance[-1] == pytest.approx(10 * 5 / 100, rel=1e-9)
    assert d.excess_kurtosis[-1] == pytest.approx(1.5, rel=1e-9)
    assert d.mean[-1] == pytest.approx(1, rel=1e-12)
    assert d.gradient_mean[-1] == pytest.approx(1, rel=1e-12)
    assert d.variance[0] == 0


def test_numbers_in_the_layer_are_used():
    fixed = theory(Dense(sigma_w="1.2", sigma_b="0.1") >> Activation("tanh")).finite_width
    np.testing.assert_allclose(
        fixed.depth(1, 4, 30).vertex, theory("tanh").finite_width.depth(1, 4, 30, "1.2", "0.1").vertex
    )


def test_functions_that_jump_have_kernels_but_no_tangents():
    fw = theory("step(x)").finite_width
    d = fw.depth(1, 3, 50, 1)
    assert d.gradient_norm is None and np.all(np.isfinite(d.vertex))
    assert d.vertex[1] == pytest.approx(0.25, rel=1e-12)
    with pytest.raises(EocError, match="jumps"):
        _ = d.gradient_mean
    with pytest.raises(Unsupported, match="jumps"):
        _ = fw.gain_mean


def test_what_is_refused():
    fw = theory("tanh").finite_width
    with pytest.raises(EocError, match="sigma_w"):
        fw.depth(1, 3, 50)
    with pytest.raises(DomainError):
        fw.depth(0, 3, 50, 1)
    with pytest.raises(EocError, match="widths"):
        fw.depth(1, 5, [10, 20], 1)
    with pytest.raises(Unsupported):
        _ = theory("dense >> relu >> maxpool(2)").finite_width.vertex
    with pytest.raises(Unsupported):
        _ = fw.exact
    with pytest.raises(EocError, match="attracts"):
        theory("relu").finite_width.fixed("2", 0)
    with pytest.raises(EocError, match="K1"):
        _ = theory(Activation("tanh(K1*x)")).finite_width.vertex


def test_class_laws():
    tanh, elu = theory("tanh").finite_width.criticality, theory(Activation("elu", alpha=1)).finite_width.criticality
    assert (tanh.spread, tanh.shift) == (Rational(2, 3), Rational(-1, 3))
    assert (elu.spread, elu.shift, elu.sigma) == (Rational(2, 3), Rational(-1, 4), Rational(1, 2))
    relu = theory("relu").finite_width.criticality
    assert (relu.spread, relu.shift) == (5, 0)


@pytest.mark.parametrize(("name", "q0", "layers", "gap"), [("tanh", 1, 1500, 0.01), ("softsign", "0.5", 1500, 0.03)])
def test_class_laws_are_what_the_recursions_do(name, q0, layers, gap):
    """V/(l K^2) and K1/(l K) approach the stated numbers, up to log(l)/l."""
    fw = theory(name).finite_width
    law, d = fw.criticality, fw.depth(q0, layers, 10**6, fw.theory.universality.exact["sigma_w"])
    assert d.vertex[-1] / d.kernel[-1] ** 2 / layers == pytest.approx(float(law.spread), rel=gap)
    assert d.correction[-1] / d.kernel[-1] / layers == pytest.approx(float(law.shift), rel=2 * gap)
