"""Expansions and limits of theory results."""

import mpmath
import pytest
from sympy import Rational, expand, pi, sqrt

from derive import Activation, Kind, expect, theory
from derive.program.symbols import SIGMA_B, SIGMA_W, Q
from derive.records import EocError


def test_variance_map_and_gain_of_tanh_for_small_q():
    t = theory("tanh(x)")
    found = t.variance_map.series("q", 0, 4)
    assert found.kind is Kind.SERIES
    assert found.remainder == 4
    assert expand(found.removeO() - SIGMA_B**2 - SIGMA_W**2 * (Q - 2 * Q**2 + Rational(17, 3) * Q**3)) == 0
    assert expand(t.chi.series("q", 0, 2).removeO() - SIGMA_W**2 * (1 - 2 * Q)) == 0
    assert expand(t.chi_parallel.series("q", 0, 2).removeO() - SIGMA_W**2 * (1 - 4 * Q)) == 0


@pytest.mark.parametrize("text", ["x*Phi(x)", "tanh(x)", "x if x > 0 else exp(x) - 1", "max(-1, min(1, x))"])
def test_product_of_phi_and_its_second_derivative_by_the_hermite_form(text):
    """E phi phi'' = d/dq E phi^2 - E phi'^2, kinks and all."""
    phi = Activation(text)
    whole = expect(phi**2).diff("q").series("q", 0, 3)
    square = expect(phi.derivative() ** 2).series("q", 0, 3)
    for q in ("1/1000", "1/4000"):
        value = expect(phi**2).diff("q").number(q=q).mid - expect(phi.derivative() ** 2).number(q=q).mid
        formal = (whole.removeO() - square.removeO()).subs(Q, Rational(q)).evalf(30)
        assert abs(value - mpmath.mpf(str(formal))) < 100 * mpmath.mpf(float(Rational(q))) ** 3


def test_large_q_with_certified_coefficients():
    t = theory("tanh(x)")
    found = t.variance_map.series("q", "oo", 2)
    assert found.coefficient(0, sigma_w=2, sigma_b=1).mid == 5
    value = found.coefficient("-1/2", sigma_w=1, sigma_b=0)
    with mpmath.workdps(30):
        assert abs(value.mid + mpmath.sqrt(2 / mpmath.pi)) < 1e-18
    relu = theory("relu").variance_map.series("q", "oo", 3)
    assert relu.remainder is None
    assert relu.removeO() == SIGMA_B**2 + SIGMA_W**2 * Q / 2
    assert "O(" in repr(theory("gelu").chi.series("q", "oo", 2))


@pytest.mark.parametrize(
    ("text", "limit"),
    [("x*Phi(x)", 0), ("1 if x > 0 else 0", 0.5), ("cos(x)", 1), ("tanh(x + 1)", float(mpmath.tanh(1) ** 2))],
)
def test_limit_of_vanishing_variance(text, limit):
    """E f^2 as q -> 0 from above: f(0)^2, or the mean of the two squares at a jump."""
    assert abs(float(expect(Activation(text) ** 2).number(q=0)) - limit) < 1e-15


def test_limits_that_are_quotients():
    t = theory("gelu")
    at = {"q": 0, "sigma_w": 1}
    assert abs(t.chi.number(**at).mid - mpmath.mpf("0.25")) < 1e-18
    assert abs(t.chi_parallel.number(**at).mid - mpmath.mpf("0.25")) < 1e-15
    slope = expect("1 if x > 0.0 else 0").diff("q")
    assert slope.number(q=0).mid == 0
    infinite = expect("abs(x)").diff("q")
    assert infinite.number(q=0).mid == mpmath.inf


def test_limits_of_pairs():
    value = expect("1 if x > 0 else 0", "1 if x > 0 else 0").number(q1=0, q2=1, c="1/2")
    assert abs(value.mid - mpmath.mpf(1) / 3) < 1e-15


def test_closed_results_in_other_arguments_keep_sympys_series():
    found = theory("relu").variance_map.series("sigma_w", 0, 3)
    assert expand(found.removeO() - SIGMA_B**2 - SIGMA_W**2 * Q / 2) == 0
    assert theory("gelu").chi.series("q", 0, 1).removeO() == SIGMA_W**2 / 4
    with pytest.raises(EocError):
        theory("tanh(x)").variance_map.series("beta")
    assert expect("abs(x)").series("q", 0, 1).expr == sqrt(2 * Q / pi)
