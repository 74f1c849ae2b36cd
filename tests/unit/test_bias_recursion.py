"""The drift ratio through depth, against mpmath, closed recursions and enclosures; phases and neutrality."""

import math

import mpmath
import numpy as np
import pytest

from derive import theory
from derive.depth.bias.dictionary import Guessing
from derive.records import Unsupported


def relu_by_mpmath(layers, w2, b2, slope=0):
    """gamma by the arc-cosine kernel in 60 digits, with data of unit variance; leaky slopes by its linear part."""
    with mpmath.workdps(60):
        w2, b2, a = mpmath.mpf(str(w2)), mpmath.mpf(str(b2)), mpmath.mpf(str(slope))
        q, k, found = w2 + b2, b2, []
        for _ in range(layers):
            found.append(k / (q - k))
            theta = mpmath.acos(k / q)
            relu = q * (mpmath.sin(theta) + (mpmath.pi - theta) * mpmath.cos(theta)) / (2 * mpmath.pi)
            k = w2 * ((1 - a) ** 2 * relu + a * k) + b2
            q = w2 * (1 + a * a) / 2 * q + b2
        return found


@pytest.mark.parametrize(("w2", "b2"), [(2, 0), (1.5, 0.1), (2.5, 0.1)])
def test_relu_and_leaky_relu_against_mpmath(w2, b2):
    for text, slope, given in (("relu", 0, {}), ("leaky_relu", 0.2, {"a": 0.2})):
        got = theory(text).guessing_bias.depth(100, math.sqrt(w2), math.sqrt(b2), **given).gamma
        want = [float(g) for g in relu_by_mpmath(100, w2, b2, slope)]
        assert got[-1] == pytest.approx(want[-1], rel=1e-10)
        assert got == pytest.approx(want, rel=1e-10, abs=1e-13)


def test_the_complement_survives_depth_1000():
    grid = np.sqrt(np.array([0.5, 1.5, 2.0, 3.0]))
    found = theory("relu").guessing_bias.depth(1000, grid, 0.3)
    assert np.isfinite(found.log_q).all() and (np.diff(found.log_e, axis=0) < 0).all()
    # ordered: 1 - c shrinks by chi a layer, far below the digits of c
    assert found.log_e[999, 0] - found.log_e[998, 0] == pytest.approx(math.log(0.25), rel=1e-12)
    assert found.e[999, 2] * 999**2 > 9 * math.pi**2 / 8


def test_scaled_and_mirrored_twins():
    plain = theory("relu").guessing_bias.depth(12, 1.4, 0.2)
    scaled = theory("3*max(x, 0)").guessing_bias.depth(12, 1.4 / 3, 0.2, start=Guessing(0.04, 1.96))
    mirrored = theory("max(-x, 0)").guessing_bias.depth(12, 1.4, 0.2)
    assert scaled.gamma == pytest.approx(plain.gamma, rel=1e-10)
    assert mirrored.gamma == pytest.approx(plain.gamma, rel=1e-10)


@pytest.mark.parametrize("text", ["gelu", "tanh"])
def test_tables_against_enclosures(text):
    b = theory(text).guessing_bias
    certified = b.certified_depth(5, 1.5, 0.25, q="2.3125", c="1/37")
    floats = b.depth(5, 1.5, 0.25)
    assert floats.q[0] == 2.3125
    for layer, q, e in zip(certified, floats.q, floats.e, strict=True):
        assert e == pytest.approx(float(layer.e), rel=2e-10)
        assert q == pytest.approx(float(layer.q), rel=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize(("text", "sigma_w", "k"), [("relu", 1.0, 2), ("x", 1.2, 3)])
def test_max_pooling_in_its_limits(text, sigma_w, k):
    b = theory(f"dense >> {text} >> maxpool({k})").guessing_bias
    found = b.depth(3, sigma_w)
    assert found.gamma[1] == pytest.approx(float(b.amplification.number(q=1)), rel=1e-11)
    covariance = theory(f"dense >> {text} >> maxpool({k})").covariance_map
    c = found.c[1]
    second = float(theory(f"dense >> {text} >> maxpool({k})").second_moment.number(q=1))
    want = float(covariance.number(q1=1, q2=1, c=float(c))) / second
    assert found.c[2] == pytest.approx(want, rel=1e-10)
    assert abs(found.chi[0] - found.slope[0]) > 0.1  # two critical conditions


def test_bias_is_made_iff_the_mean_is_not_zero():
    assert theory("relu").guessing_bias.generates() is True
    assert theory("tanh").guessing_bias.generates() is False
    assert theory("x^3").guessing_bias.generates(2) is False
    assert theory("max(x, 0) - 1/sqrt(2*pi)").guessing_bias.generates(2) is True
    ratio = theory("gelu").guessing_bias.amplification
    assert str(ratio.kind) == "EXACT"
    with mpmath.workdps(30):
        m, v = (mpmath.quad(lambda z, n=n: (z * mpmath.ncdf(z)) ** n * mpmath.npdf(z), [-12, 0, 12]) for n in (1, 2))
        assert float(ratio.number(q=1)) == pytest.approx(float(m**2 / (v - m**2)), rel=1e-14)


def test_phases_and_their_notes():
    b = theory("relu").guessing_bias
    assert b.at(1.2, 0.3).name == "ordered-deep prejudice" and b.at(1.2, 0.3).approach == pytest.approx(0.72)
    chaotic = b.at(1.6, 0.3)
    assert chaotic.name == "chaotic-deep prejudice" and (chaotic.law, chaotic.exponent) == ("power", 2)
    assert chaotic.factor == pytest.approx(2 / (9 * math.pi**2), rel=1e-12)
    assert b.at(1.2, 0).note("bias-free-axis") and b.at(1.2, 0).law == "power"
    t = theory("tanh").guessing_bias
    assert [t.at(w, 0.3).name for w in (1.2, 1.5, 1.8)] == ["ordered-deep prejudice", "prejudice", "neutrality"]
    assert t.at(1.5, 0).note("no-bias") and t.at(1.5, 0).gamma == 0
    pooled = theory("dense >> relu >> avgpool(2)").guessing_bias
    middle = pooled.at(1.85, 0.3)
    assert middle.note("two-conditions") and middle.chi < 1 < middle.slope
    assert (middle.name, middle.law) == ("ordered-deep prejudice", "exponential")
    with pytest.raises(Unsupported):
        theory("dense >> relu >> dropout(0.1)").guessing_bias.depth(3, 1.4)


def test_the_power_law_is_approached():
    found = theory("relu").guessing_bias.depth(4000, 1.7, 0.3)
    rate = theory("relu").guessing_bias.at(1.7, 0.3)
    assert found.gamma[-1] / 4000**2 == pytest.approx(rate.factor, rel=0.02)


def test_the_line_of_neutrality():
    b = theory("erf").guessing_bias
    weight, bias = b.line()
    assert str(weight.kind) in ("EXACT", "SPECIAL")
    w2, b2 = (float(r.number(q=0.8)) for r in (weight, bias))
    state = b.depth(2, math.sqrt(w2), math.sqrt(b2), start=Guessing(0.4, 0.4))
    assert state.q[1] == pytest.approx(0.8, rel=1e-10) and state.gamma[1] == pytest.approx(1, rel=1e-9)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_steeper_twin_has_its_line_at_smaller_variances():
    b = theory("erf").guessing_bias
    w2, b2 = (float(r.number(q=0.8)) for r in b.line())
    (point,) = b.neutrality(math.sqrt(b2))
    assert float(point.sigma_w2) == pytest.approx(w2, rel=1e-9)
    (twin,) = theory("erf(2*x)").guessing_bias.neutrality(math.sqrt(b2) / 2)
    assert float(twin.sigma_w2) == pytest.approx(w2 / 4, rel=1e-9)


@pytest.mark.slow
def test_normalisations_before_and_after_the_activation():
    """Before it only batch normalisation, behind it only RMS normalisation leaves the drift that ReLU makes."""
    made, root = 1 / (math.pi - 1), math.sqrt(2)
    plain = theory("relu").guessing_bias.depth(6, root).gamma
    depth = {
        text: theory(text).guessing_bias.depth(6, root)
        for text in ("dense >> batchnorm >> relu", "dense >> relu >> batchnorm", "dense >> relu >> layernorm",
                     "dense >> relu >> rmsnorm")
    }  # fmt: skip
    before, after, behind, rms = (found.gamma for found in depth.values())
    assert before[1:] == pytest.approx(made, rel=1e-12) and after == pytest.approx(0, abs=1e-15)
    assert rms == pytest.approx(plain, rel=1e-9)
    assert behind == pytest.approx(0, abs=1e-12)
    chi = depth["dense >> batchnorm >> relu"].chi
    assert chi == pytest.approx(math.pi / (math.pi - 1), rel=1e-12)
    # layer normalisation behind ReLU takes a bias away: C(c) - C(0) over 1 - C(0), with slope 0.734 at c = 0
    small = theory("dense >> relu >> layernorm").guessing_bias.depth(2, root, start=Guessing(1e-4, 1.0)).gamma
    assert small[1] / small[0] == pytest.approx(0.25 / (0.5 - 0.5 / math.pi), rel=1e-3)
    pinned = theory("dense >> batchnorm >> relu").guessing_bias.at(1.5, 0.3)
    assert pinned.name == "neutrality" and pinned.gamma == pytest.approx(
        (2.25 / (2 * math.pi) + 0.09) / (2.25 * (0.5 - 0.5 / math.pi)), rel=1e-12
    )


def test_the_edge_of_chaos_itself_has_its_name():
    t = theory("tanh")
    point = t.guessing_bias.at(float(t.edge_of_chaos(sigma_b=0.3).sigma_w), 0.3)
    assert (point.name, point.law, point.exponent) == ("transient-deep prejudice", "power", 1)
    assert point.gamma == math.inf
    w = float(t.edge_of_chaos(sigma_b=0.3).sigma_w)
    grown = t.guessing_bias.depth(300, w, 0.3).gamma
    assert (grown[299] - grown[199]) / 100 == pytest.approx(point.factor, rel=0.02)


@pytest.mark.slow
def test_a_chaotic_block_that_pools_maxima_settles_where_its_recursion_does():
    b = theory("dense >> tanh >> maxpool(2)").guessing_bias
    point = b.at(2.5, 0.3)
    assert point.name == "prejudice" and point.note("two-conditions")
    assert b.depth(300, 2.5, 0.3).gamma[-1] == pytest.approx(point.gamma, rel=1e-10)


def test_pooled_blocks_report_both_conditions_and_plain_ones_have_one_edge():
    assert theory("dense >> tanh >> avgpool(2)").guessing_bias.at(1.5, 0.3).note("two-conditions")
    assert not theory("tanh").guessing_bias.at(1.5, 0.3).note("two-conditions")


def test_a_diagram_at_a_depth_has_that_depths_drift_ratio(tmp_path):
    b = theory("relu").guessing_bias
    diagram = b.phase((1.0, 1.8), (0.1, 1.0), n=5, layers=10)
    assert diagram.c[2, 3] == pytest.approx(float(b.depth(10, 1.6, 0.55).c[-1]), rel=1e-12)
    diagram.plot(tmp_path / "relu.svg")
    assert "layer 10" in repr(diagram.plot().axes[0].get_title())
