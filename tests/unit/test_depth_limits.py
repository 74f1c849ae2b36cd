"""Both ends of the edge of chaos: leading terms against certified points far out, twins, what is not known."""

import mpmath
import pytest
from sympy import Rational, log, oo, pi, tanh

from derive import Activation, theory
from derive.depth import limits


def ends(text, **parameters):
    return theory(text).edge_of_chaos(q="q", **parameters).limits


QUICK = ("gelu",)
FAR = ("tanh(x)", "gelu", "x*sigmoid(x)", "softsign", "selu", "x + tanh(x)/3", "x + sin(x)")


@pytest.mark.parametrize("text", [pytest.param(t, marks=() if t in QUICK else pytest.mark.slow) for t in FAR])
def test_leading_terms_are_those_of_points_far_out(text):
    t = theory(text)
    for limit in ends(text):
        q = mpmath.mpf("1e-3") if limit.at == 0 else mpmath.mpf("1e4")
        step = 100 if limit.at == oo else mpmath.mpf("0.01")
        for name in ("sigma_w2", "sigma_b2"):
            lead = getattr(limit, name)
            off = []
            for place in (q, q * step):
                point = t.edge_of_chaos(q=mpmath.nstr(place, 12))
                value = point.sigma_w.mid**2 if name == "sigma_w2" else point.sigma_b2.mid
                off.append(abs(value / (lead.number().mid * place ** mpmath.mpf(str(float(lead.power)))) - 1))
            # the next term is a power of sqrt(q) smaller: a tenth for a hundredth of q
            assert off[1] < off[0] / 5 + 1e-9, (text, limit.at, name, off)
            assert off[1] < 0.02
        assert limit.valid is True
        assert point.stable is limit.stable


def test_coefficients_are_exact_and_scale_with_the_function():
    start = ends("gelu")[0]
    assert (start.sigma_w2.coefficient, start.sigma_b2.coefficient, start.sigma_b2.power) == (4, 2 / pi, 2)
    assert start.excess.coefficient == 4 / pi
    # phi -> A phi(a x): q -> q/a^2, sigma_w -> sigma_w/(a A), sigma_b -> sigma_b/a
    twin = ends("3*(2*x)*Phi(2*x)")[0]
    assert twin.sigma_w2.coefficient == Rational(4, 36)
    assert twin.sigma_b2.coefficient == 2 / pi * 4**2 / 4
    far, mirrored = ends("gelu")[1], ends("-x*Phi(-x)")[1]
    assert far.sigma_b2.number().overlaps(mirrored.sigma_b2.number())


def test_parameters_stay_or_are_given():
    start, far = ends("celu")
    assert start.valid is True and far.stable is True
    assert far.sigma_b2.power == Rational(1, 2)
    given = ends("elu", alpha="1/2")[0]
    assert given.sigma_w2.coefficient == Rational(8, 5)
    alpha = next(iter(ends("elu")[0].sigma_w2.coefficient.free_symbols))
    assert ends("elu")[0].sigma_w2.coefficient.subs(alpha, Rational(1, 2)) == Rational(8, 5)


def test_waves_have_their_limit_from_closed_forms():
    far = ends("sin(x)")[1]
    assert (far.sigma_w2.coefficient, far.sigma_b2.coefficient, far.sigma_b2.power) == (2, 1, 1)
    assert far.stable is True


def test_ends_without_a_real_point_and_without_an_expansion():
    assert ends("sigmoid")[0].valid is False
    assert "no real point" in str(ends("sigmoid")[0])
    far = ends("log(1 + x**2)")[1]
    assert far.sigma_w2 is None and "no power" in str(far)
    linear = ends("max(-1, min(1, x))")[0]
    assert linear.sigma_b2 is None and "O(q^8)" in str(linear)
    ray = ends("max(x, 0)")[0]
    assert (ray.why, ray.valid) == ("sigma_b^2 is 0", True)
    assert ends("sign(x)") == ()


def test_the_curve_of_blocks_ends_where_their_expectations_have_expansions():
    residual = theory("dense >> sin(x) >> sin(x)").edge_of_chaos(q="q")
    assert residual.limits[0].sigma_w2.coefficient == 1
    assert "several units" in str(theory("dense >> gelu >> maxpool(2)").edge_of_chaos(q="q").limits[0])


def test_a_curve_shows_its_ends():
    shown = repr(theory(Activation("sin(x)")).edge_of_chaos(q="q"))
    assert "q -> 0: sigma_w^2 -> 1, sigma_b^2 ~ 1/3 q^3, q attracts" in shown


def test_pages_show_the_ends():
    from derive.show.edge_limits import edge_limits
    from derive.show.latex import _end

    start, far = edge_limits(theory("max(-1, min(1, x))"))
    assert start["unicode"] == "σ_w² → 1, σ_b² = O(q^8)"
    assert far["unicode"] == "σ_w² ~ √2·√π·√q/2, σ_b² ~ q"
    assert far["terms"]["sigma_w2"]["power"] == "1/2"
    assert _end(far).endswith(r"\sigma_{b}^{2} \sim q$ (stable there).\par")


@pytest.mark.parametrize("name", ["a", pytest.param("slope", marks=pytest.mark.slow)])
def test_a_parameter_inside_a_nested_function_stays_an_atom(name):
    # phi = x tanh(a log(1 + e^x)): phi'(0) = tanh(a log 2); its powers stay polynomials in one number
    start = theory(f"x*tanh({name}*log(1+exp(x)))").edge_of_chaos(q="q").limits[0]
    parameter = next(iter(start.sigma_w2.coefficient.free_symbols))
    assert parameter.name == name
    assert start.sigma_w2.coefficient.subs(parameter, Rational(3, 2)).equals(1 / tanh(Rational(3, 2) * log(2)) ** 2)


def test_an_expansion_that_swells_is_given_up(monkeypatch):
    monkeypatch.setattr(limits, "SECONDS", 0.05)
    start = theory("x*tanh(log(1 + exp(a*x) + b**2))").edge_of_chaos(q="q").limits[0]
    assert start.sigma_w2 is None and "took too long" in start.why
