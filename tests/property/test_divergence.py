"""Where an expectation does not exist, no number is given: a closed form means nothing beyond its condition."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf, sqrt, workdps

from derive import EocError, expect

RATES = st.fractions(min_value=Fraction("1/16"), max_value=2, max_denominator=16)
VARIANCES = st.fractions(min_value=Fraction("1/8"), max_value=4, max_denominator=8)
CORRELATIONS = st.fractions(min_value=Fraction("-9/10"), max_value=Fraction("9/10"), max_denominator=10)


def number(result, **values):
    """The midpoint, or None where the expectation is refused or infinite."""
    try:
        mid = result.number(**values).mid
    except EocError:
        return None
    return mid if abs(mid) != mpf("inf") else None


@settings(max_examples=15)
@given(b=RATES, q=VARIANCES)
def test_gaussian_growth(b, q):
    """E exp(b x^2) = (1 - 2 b q)^(-1/2) for 2 b q < 1, and infinite otherwise."""
    got = number(expect(f"exp({b}*x**2)"), q=q)
    if 2 * b * q >= 1:
        assert got is None
    else:
        with workdps(20):
            exact = 1 - 2 * b * q
            assert got == pytest.approx(1 / sqrt(mpf(exact.numerator) / exact.denominator), rel=1e-14)


@settings(max_examples=4)
@given(b=RATES, q1=VARIANCES, q2=VARIANCES, c=CORRELATIONS)
def test_gaussian_growth_of_a_pair(b, q1, q2, c):
    """Finite iff 2 b q_i < 1 and (1 - 2 b q1)(1 - 2 b q2) > 4 b^2 c^2 q1 q2."""
    got = number(expect(f"exp({b}*x**2)", f"exp({b}*x**2)"), q1=q1, q2=q2, c=c)
    first, second = 1 - 2 * b * q1, 1 - 2 * b * q2
    determinant = first * second - 4 * b**2 * c**2 * q1 * q2
    if first <= 0 or second <= 0 or determinant <= 0:
        assert got is None
    else:
        with workdps(20):
            want = 1 / sqrt(mpf(determinant.numerator) / determinant.denominator)
            assert got == pytest.approx(want, rel=1e-14)


@pytest.mark.parametrize("formula", ["exp(x**2)", "x**2*exp(x**2)", "exp(exp(x))*x", "Phi(x)*exp(x**2)", "x*exp(x**2)"])
def test_too_fast_for_the_variance(formula):
    assert number(expect(formula), q=1) is None
    assert number(expect(formula).diff("q"), q=1) is None
