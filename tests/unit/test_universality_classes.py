"""Universality classes, each decided from expansions and zeros: twins, parameters, refusals, reasons."""

import mpmath
import pytest
from sympy import Rational, Symbol, pi, sqrt

from derive import Activation, Dense, EocError, theory
from derive.depth.algebra import named_zero
from derive.depth.critical import pointwise_sign


def close(got, want, relative="1e-9"):
    with mpmath.workdps(30):
        return abs(mpmath.mpf(got.mid) - mpmath.mpf(want)) <= mpmath.mpf(relative) * abs(mpmath.mpf(want))


ZERO = {
    # phi: sigma_w^2, sigma of q' = q (1 - c q^sigma), prefactor of the decay of q, p_perp, sub-class
    "tanh(x)": (1, 1, Rational(1, 2), 1, "analytic"),
    "3*tanh(2*x)": (Rational(1, 36), 1, Rational(1, 8), 1, "analytic"),
    "sin(-x)": (1, 1, 1, 1, "analytic"),
    "x/(1 + abs(x))": (1, Rational(1, 2), pi / 8, 2, "kinked"),
    "x if x > 0 else exp(x) - 1": (1, Rational(1, 2), 2 * pi, 2, "kinked"),
    "abs(tanh(x))": (1, 1, Rational(1, 2), 1, "kinked"),
    "x - x**5/(1 + x**4)": (1, 2, sqrt(Rational(1, 60)), Rational(1, 2), "analytic"),
}


@pytest.mark.parametrize("text", ZERO)
def test_critical_at_vanishing_variance(text):
    w2, power, prefactor, p_perp, subclass = ZERO[text]
    u = theory(text).universality
    assert (u.name, u.subclass) == ("zero", subclass)
    assert u.exact["sigma_w"] ** 2 == w2
    assert u.p_0 == 1 / Rational(power)
    assert u.p_par == 1 + 1 / Rational(power)
    assert u.p_perp == p_perp
    assert (u.rate.prefactor - prefactor).equals(0)
    assert u.q.mid == 0


def test_linear_at_zero_decays_as_a_logarithm():
    u = theory("max(-3, min(3, x))").universality
    assert (u.name, u.subclass, u.p_0, u.p_par) == ("zero", "linear", 0, 1)
    assert u.rate.law == "logarithmic"
    assert u.rate.prefactor == Rational(9, 2)


def test_gelu_is_half_stable_at_a_root_in_closed_form():
    # PDLT (arXiv 2106.10165) gives the point to a few digits; the root of q^2 - 3 q - 2 = 0 is found and proved
    u = theory("gelu").universality
    assert u.name == "half-stable"
    assert u.exact["q"] == Rational(3, 2) + sqrt(17) / 2
    assert close(u.q, (3 + mpmath.sqrt(17)) / 2, "1e-12")
    assert close(u.sigma_w, mpmath.sqrt(mpmath.mpf("1.983058257437547125205477986")), "1e-12")
    assert close(u.sigma_b, mpmath.sqrt(mpmath.mpf("0.1729223907560673517498531798")), "1e-11")
    scaled = theory("2*(-x/3)*Phi(-x/3)").universality
    assert close(scaled.q, 9 * u.q.mid, "1e-12")
    assert close(scaled.sigma_w, u.sigma_w.mid * 3 / 2, "1e-12")
    assert scaled.exact["q"] == 9 * u.exact["q"]


def test_the_root_of_snake_is_a_logarithm():
    u = theory("x + sin(x)**2").universality
    assert close(u.q, "0.3046889317180031157684016856", "1e-12")
    value = u.exact["q"].evalf(30)
    assert abs(value - Rational("0.3046889317180031157684016856")) < Rational(1, 10**26)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("log(1 + exp(x))", "phi phi'' >= 0"),
        ("cos(x)", "phi phi'' <= 0"),
        ("log(cosh(x))", "phi phi'' >= 0"),
        ("x**3", "chi -> 0"),
        ("sign(x)", "infinite"),
        ("2 + 0*x", "constant"),
        ("x + x**3", "repels"),
        ("exp(-x**2/2)", "none missed"),
    ],
)
def test_none_says_which_condition_fails(text, words):
    u = theory(text).universality
    assert u.name == "none"
    assert any(words in reason for reason in u.reasons), u.reasons
    assert u.q is u.sigma_w is u.sigma_b is u.p_0 is None


def test_parameters_by_region():
    a = Symbol("a", real=True)
    leaky = theory("leaky_relu").universality
    assert leaky.name == "scale-invariant"
    assert close(leaky.sigma_w.number(a="1/4"), mpmath.sqrt(mpmath.mpf(32) / 17), "1e-14")
    swish = theory("x*sigmoid(a*x)").universality
    one = theory("x*sigmoid(x)").universality
    assert swish.name == "half-stable"
    assert close(swish.q.number(a=3), one.q.mid / 9, "1e-12")
    assert close(swish.sigma_w.number(a=3), one.sigma_w.mid, "1e-12")
    assert theory("a*tanh(x)").universality.exact["sigma_w"] == 1 / abs(a)
    with pytest.raises(EocError, match=r"zero for a in \(-sqrt\(6\)/3, sqrt\(6\)/3\)"):
        _ = theory("tanh(x) + a*x**2").universality
    assert theory(Activation("tanh(x) + a*x**2", a="1/2")).universality.name == "zero"
    with pytest.raises(EocError, match="other than one activation"):
        _ = theory(Dense() >> Activation("tanh(x)") >> Dense() >> Activation("sin(x)")).universality


def test_what_is_not_decided_is_not_answered():
    with pytest.raises(EocError, match="open"):
        _ = theory("exp(x**2/20) - x").universality


def test_sign_of_phi_times_its_bend():
    assert [pointwise_sign(Activation(t).expr) for t in ("tanh(x)", "exp(x)", "max(-1, min(1, x))", "sin(x) + 1")] == [
        -1,
        1,
        -1,
        None,
    ]


def test_a_guess_that_does_not_solve_the_equation_is_refused():
    from fractions import Fraction

    from sympy import exp

    from derive.program.symbols import Q

    assert named_zero(Q**2 - 2, Fraction(1), Fraction(2)) == sqrt(2)
    # within 1e-60 of sqrt(2), but not it
    assert named_zero(Q**2 - 2 - Rational(1, 10**75) * Q, Fraction(1), Fraction(2)) is None
    assert named_zero(exp(Q) - Q - 2, Fraction(1), Fraction(2)) is None


def test_a_marginal_point_at_0_says_whether_it_attracts():
    """V(q) - q = k q^2 + ... at sigma_w = 1/phi'(0): k = -2 for tanh, 3/4 for SiLU."""
    assert theory("tanh").edge_of_chaos(sigma_b=0).points[0].order.startswith("attracts: ")
    silu = theory("silu").edge_of_chaos(sigma_b=0).points[0]
    assert silu.order.startswith("repels: ") and "k = 0.75" in silu.order and silu.stable is None
    clipped = theory("hardtanh").edge_of_chaos(sigma_b=0, a=-1, b=2).points[0]
    assert clipped.order.startswith("attracts: ") and "up to |x| = 1.0" in clipped.order
    assert theory("relu").edge_of_chaos(sigma_b=0).points[0].order == ""  # every q is a fixed point


def test_a_block_whose_weights_drop_out_has_no_class():
    found = theory("residual(dense >> relu >> dense, scale=0)").universality
    assert found.name == "none" and "no weight is left: V(q) = q and chi = 1" in found.reasons[1]


def test_the_value_an_open_parameter_is_asked_for_lies_in_its_domain():
    with pytest.raises(EocError, match=r"a=-1, b=1") as caught:
        _ = theory("hardtanh").universality
    assert "nearest to 0 depends" in caught.value.why
    low = theory(Activation("x*sinh(a*x)+x", domains={"a": (3, 4)}))
    with pytest.raises(EocError, match=r"a=7/2"):
        _ = low.universality
