"""Fixed points as sets, their ends and rates, bifurcations, and points of the curve with a given sigma_w."""

import mpmath
import pytest
from sympy import Rational, pi

from derive import Activation, EocError, theory
from derive.depth.approach import critical_correlation, scale_invariant_correlation


def close(got, want, relative="1e-10"):
    return abs(mpmath.mpf(got.mid) - mpmath.mpf(want)) <= mpmath.mpf(relative) * abs(mpmath.mpf(want))


def test_all_points_with_a_given_sigma_w():
    edge = theory("gelu").edge_of_chaos(sigma_w="1.4")
    assert len(edge.points) == 2
    assert "none missed" in edge.reason
    for point in edge.points:
        back = theory("gelu").edge_of_chaos(q=str(mpmath.nstr(point.q.mid, 15)))
        assert close(back.sigma_w, "1.4")
        assert close(back.sigma_b, point.sigma_b.mid)
    twin = theory("gelu").edge_of_chaos(sigma_w="1.4").points[0]
    scaled = theory("x/3*Phi(x/3)").edge_of_chaos(sigma_w="4.2").points[0]
    assert close(scaled.q, 9 * twin.q.mid)
    assert theory("relu").edge_of_chaos(sigma_w=1).points == ()
    assert "scale-invariant" in theory("relu").edge_of_chaos(sigma_w=1).reason
    assert theory("tanh(x)").edge_of_chaos(sigma_w="0.9").points == ()
    with pytest.raises(EocError, match="with q"):
        theory("tanh(x)").edge_of_chaos(q=1, sigma_w=1)


def test_the_number_of_fixed_points_changes_at_the_bifurcations():
    t = theory("gelu")
    found = t.bifurcations(sigma_b="0.1")
    assert [b.kind for b in found] == ["two meet", "one leaves to infinity", "two meet"]
    assert close(found[1].sigma_w, mpmath.sqrt(2))
    counts = [len(t.at(w, "0.1").fixed_points) for w in (1, "1.5", 2)]
    assert counts == [1, 2, 0]
    low, high = found[0].sigma_w, found[2].sigma_w
    assert len(t.at(str(mpmath.nstr(high.mid * (1 - mpmath.mpf("1e-6")), 12)), "0.1").fixed_points) == 2
    assert len(t.at(str(mpmath.nstr(high.mid * (1 + mpmath.mpf("1e-6")), 12)), "0.1").fixed_points) == 0
    between = (low.mid + mpmath.sqrt(2)) / 2
    assert len(t.at(str(mpmath.nstr(between, 12)), "0.1").fixed_points) == 3
    assert [b.kind for b in theory("tanh(x)").bifurcations()] == ["one enters at 0"]
    twin = theory("2*(3*x)*Phi(3*x)").bifurcations(sigma_b="1/30")
    assert close(twin[2].sigma_w, high.mid / 6)


def test_the_ends_of_the_line_and_the_certificate():
    point = theory("gelu").at("1.5", "0.1")
    assert "none missed" in point.certificate
    assert point.ends[0].startswith("is no fixed point")
    assert point.ends[1].startswith("attracts")
    falling = theory("tanh(x)").at("0.5", 0)
    assert falling.ends[0].startswith("attracts")
    assert close(falling.rates[0].xi, -1 / mpmath.log("0.25"))


def test_power_laws_from_the_expansions():
    # q ~ 1/(2 l) for tanh, 1 - c ~ 9 pi^2/(2 l^2) for ReLU, a quarter of it with biases
    (rate,) = theory("tanh(x)").at(1, 0).rates
    assert (rate.law, rate.exponent, rate.prefactor) == ("power", 1, Rational(1, 2))
    assert theory("3*tanh(x/3)").at(1, 0).rates[0].prefactor == Rational(9, 2)
    relu = Activation("relu").expr
    assert scale_invariant_correlation(relu, False).prefactor == 9 * pi**2 / 2
    assert scale_invariant_correlation(relu, True).prefactor == 9 * pi**2 / 8
    assert scale_invariant_correlation(Activation("7*abs(x)").expr, False).prefactor == 9 * pi**2 / 8
    by_kinks = critical_correlation(relu, {"q": Rational(3), "sigma_w": mpmath_sqrt2()})
    assert close(by_kinks.prefactor, 9 * mpmath.pi**2 / 2)
    assert theory("abs(x)").at(1, 0).rates[0].prefactor == 9 * pi**2 / 8


def mpmath_sqrt2():
    import flint

    return flint.arb(2).sqrt()


def test_the_law_of_relu_is_that_of_its_iterated_map():
    # arc-cosine kernel of degree 1 (Cho and Saul 2009), iterated
    c = mpmath.mpf(1) / 2
    for _ in range(4000):
        c = (mpmath.sqrt(1 - c * c) + c * (mpmath.pi - mpmath.acos(c))) / mpmath.pi
    assert abs((1 - c) * 4000**2 / (9 * mpmath.pi**2 / 2) - 1) < mpmath.mpf("0.01")


def test_trainable_depth_is_six_scales():
    point = theory("tanh(x)").at("5/3", 0)
    rates = {rate.of: rate for rate in point.rates}
    assert close(rates["|c - c*|"].trainable_depth, 6 * point.xi_c.mid)
    assert rates["|q - q*|"].xi is point.xi_q


def test_uniform_weights_of_the_default_linear_layer():
    # U(-1/sqrt(n), 1/sqrt(n)) has variance 1/(3 n): sigma_w^2 = 1/3, and biases of variance 1/(3 n)
    t = theory("relu")
    chi = t.chi.number(q=1, sigma_w="0.5773502691896257645")
    assert close(chi, mpmath.mpf(1) / 6)
    point = t.at("0.5773502691896257645", "0.0360843918243516")
    assert close(point.q, mpmath.mpf(1) / 640)
    assert close(point.xi_c, 1 / mpmath.log(6))
