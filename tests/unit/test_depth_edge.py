"""The edge of chaos and fixed points: exact families, transformed twins, published points, refusals."""

import mpmath
import pytest

from derive import Activation, Dense, EocError, theory


def close(got, want, digits=12):
    return abs(mpmath.mpf(got.mid) - mpmath.mpf(want)) <= mpmath.mpf(10) ** -digits * max(1, abs(mpmath.mpf(want)))


def test_scale_invariant_functions_are_critical_at_every_q():
    edge = theory("leaky_relu").edge_of_chaos(sigma_b=0, a="1/4")
    assert close(edge.sigma_w, mpmath.sqrt(mpmath.mpf(32) / 17))
    assert edge.sigma_b.mid == 0
    assert edge.valid is True
    assert edge.reason == "every q is a fixed point"
    assert theory("relu").edge_of_chaos(sigma_b="0.1").points == ()
    assert "scale-invariant" in theory("relu").edge_of_chaos(sigma_b="0.1").reason


def test_a_jump_has_no_edge():
    edge = theory("sign(x)").edge_of_chaos()
    assert edge.points == ()
    assert edge.valid is False
    with pytest.raises(AttributeError, match="infinite"):
        _ = edge.sigma_w


def test_negative_bias_variance_is_not_valid():
    edge = theory("cos(x)").edge_of_chaos(q=1)
    assert edge.valid is False
    assert edge.sigma_b is None
    assert edge.sigma_b2.upper < 0


# sigma_b, q, sigma_w: 20-digit quadrature of what soufiane001/impact_of_init_and_activation (eoc_curves.py) samples
SAMPLED = {
    "tanh(x)": (
        ("0.05", ".15369193582122", "1.1225390047696"),
        ("0.2", ".5120785042339", "1.3041458400565"),
        ("0.5", "1.3179389989721", "1.5496739125082"),
        ("1", "3.0363963946237", "1.8555891011389"),
    ),
    "erf": (("0.2", ".4657629357829", "1.1527954134921"),),
    "gelu": (("0.2", ".57563711661921", "1.5470094704162"),),
    "silu": (("0.2", ".68945250291377", "1.6795316006916"),),
    "selu": (("0.2", ".71704910951074", ".93747558210532"),),
    "mish": (("0.2", ".74554946996318", "1.4634392077936"),),
    "x if x > 0 else exp(x) - 1": (("0.2", "1.1069305403461", "1.2292511241372"),),
}
UNSTABLE = ("gelu", "silu", "mish")
QUICK = ("tanh(x)", "gelu")


@pytest.mark.parametrize("text", [pytest.param(t, marks=() if t in QUICK else pytest.mark.slow) for t in SAMPLED])
def test_points_given_sigma_b(text):
    t = theory(text)
    for sigma_b, q, sigma_w in SAMPLED[text]:
        points = t.edge_of_chaos(sigma_b=sigma_b).points
        assert len(points) == 1
        assert close(points[0].q, q)
        assert close(points[0].sigma_w, sigma_w)
        assert points[0].stable is (text not in UNSTABLE)


def test_twins_scale_as_they_must():
    plain = theory("tanh(x)").edge_of_chaos(q=1)
    scaled = theory("3*tanh(2*x)").edge_of_chaos(q="1/4")
    assert close(scaled.sigma_w, plain.sigma_w.mid / 6)
    assert close(scaled.sigma_b, plain.sigma_b.mid / 2)
    mirrored = theory("tanh(-x)").edge_of_chaos(q=1)
    assert mirrored.sigma_w.overlaps(plain.sigma_w)


def test_half_stable_side_is_told():
    edge = theory("gelu").edge_of_chaos(q=1)
    assert edge.stable is False
    assert edge.chi_parallel.lower > 1
    assert theory("gelu").edge_of_chaos(q=4).stable is True


def test_symbols_give_results():
    curve = theory("tanh(x)").edge_of_chaos(q="q")
    point = theory("tanh(x)").edge_of_chaos(q=2)
    assert curve.sigma_w.number(q=2).overlaps(point.sigma_w)
    assert curve.sigma_b2.number(q=2).overlaps(point.sigma_b2)
    slope = theory("leaky_relu").edge_of_chaos()
    assert close(slope.sigma_w.number(a="1/4"), mpmath.sqrt(mpmath.mpf(32) / 17))
    assert slope.valid is True


def test_fixed_points_with_stability_basins_and_depth_scales():
    # tanh with the gain 5/3: numbers by independent 20-digit quadrature
    point = theory("tanh(x)").at(sigma_w="5/3", sigma_b=0)
    assert close(point.q, "1.17848049038591")
    assert close(point.chi, "1.20983132038283")
    assert point.gradient == "exploding"
    assert point.c.mid == 0
    rms = mpmath.sqrt(theory("tanh(x)").second_moment.number(q=mpmath.nstr(point.q.mid, 18)).mid)
    assert abs(rms - mpmath.mpf(".651347047693414")) < mpmath.mpf("1e-13")
    assert close(point.xi_c, -1 / mpmath.log(mpmath.mpf("0.920790652845")), 10)
    selu = theory("selu").at(sigma_w=0.75, sigma_b=0)
    assert close(selu.q, "0.0230337846107584")
    assert close(selu.chi, "1.0036703508394")
    second = theory("selu").second_moment.number(q=mpmath.nstr(selu.q.mid, 18))
    assert abs(mpmath.sqrt(second.mid) - mpmath.mpf(".20235847009484")) < mpmath.mpf("1e-12")


def test_attraction_depends_on_where_one_starts():
    t = theory("gelu")
    below, above = t.at(1.5, 0.1, q0=1), t.at(1.5, 0.1, q0=4)
    assert [p.stable for p in below.fixed_points] == [True, False]
    assert below.q.upper < 0.03
    assert above.attractor is None
    assert above.tendency == "grows without bound"
    with pytest.raises(AttributeError, match="grows"):
        _ = above.chi
    assert t.at(1, 0).tendency == "falls to 0"


def test_refusals_name_what_works():
    with pytest.raises(EocError, match="both"):
        theory("tanh(x)").edge_of_chaos(q=1, sigma_b=0.1)
    with pytest.raises(EocError, match="sigmas are given"):
        theory(Dense(sigma_w=1) >> Activation("tanh(x)")).edge_of_chaos()
    with pytest.raises(EocError, match="no variance"):
        theory("tanh(x)").edge_of_chaos(q=-1)
    with pytest.raises(EocError, match="no parameter b"):
        theory("tanh(x)").edge_of_chaos(b=1)


def test_scale_invariant_phases_need_no_fixed_point():
    # He et al. 2015: ReLU keeps the variance at sigma_w^2 = 2; beyond it explodes while correlations still go to 1
    exploding = theory("relu").at(sigma_w=2, sigma_b=0)
    assert (exploding.gradient, exploding.geometry) == ("exploding", "c -> 1, as a power law")
    assert exploding.tendency == "grows without bound"
    assert theory("relu").at(sigma_w=1, sigma_b=0).gradient == "vanishing"
    stays = theory("x").at(sigma_w=1, sigma_b=0)
    assert (stays.gradient, stays.geometry) == ("critical", "c stays")
    assert theory("abs(x)").at(sigma_w=1, sigma_b=0, q0=3).q.mid == 3
    biased = theory("relu").at(sigma_w=1, sigma_b=1)
    assert close(biased.q, 2)
    assert biased.tendency == "converges"


def test_the_curve_ends_at_vanishing_variance_where_phi_vanishes_at_zero():
    for text, sigma_w in (("tanh(x)", 1), ("gelu", 2), ("3*tanh(x/2)", "0.6666666666666666666")):
        first = theory(text).edge_of_chaos(sigma_b=0).points[0]
        assert first.q.mid == 0
        assert close(first.sigma_w, sigma_w)
    assert all(p.q.mid > 0 for p in theory("sigmoid").edge_of_chaos(sigma_b=0).points)


def test_a_constant_has_no_edge():
    for text in ("x - x", "2 + 0*x"):
        for edge in (theory(text).edge_of_chaos(q=1), theory(text).edge_of_chaos(sigma_b="0.1")):
            assert edge.points == ()
            assert "constant" in edge.reason


def test_a_decreasing_map_is_followed():
    t = theory("exp(-x**2)")
    point = t.at(sigma_w=1, sigma_b=0, q0=5)
    assert point.tendency == "converges"
    assert point.chi_parallel.upper < 0
    assert point.basin is None


def test_standard_deviations_are_not_negative():
    with pytest.raises(EocError, match="negative"):
        theory("tanh(x)").edge_of_chaos(sigma_b=-1)
    with pytest.raises(EocError, match="negative"):
        theory("tanh(x)").at(sigma_w=-1)
