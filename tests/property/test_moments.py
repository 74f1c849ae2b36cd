"""Identities that hold for every activation, on random piecewise, smooth and mixed functions."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf, ncdf, npdf, sqrt, workdps

from derive import Activation, expect

SMALL = st.fractions(min_value=-2, max_value=2, max_denominator=6)
VARIANCES = st.fractions(min_value=Fraction(1, 8), max_value=5, max_denominator=8)
CORRELATIONS = st.fractions(min_value=-1, max_value=1, max_denominator=10)
CONTINUOUS = st.sampled_from(
    ["tanh(x)", "x*Phi(x)", "max(x, 0)", "erf(x)", "x if x > 0 else exp(x) - 1", "x*sigmoid(x)", "max(-1, min(1, x))"]
)
EXAMPLES = settings(max_examples=12)


def lower(enclosure):
    return mpf(enclosure.mid) - mpf(enclosure.rad)


def upper(enclosure):
    return mpf(enclosure.mid) + mpf(enclosure.rad)


def meet(one, other):
    """Whether two enclosures of the same number share a point."""
    with workdps(40):
        return lower(one) <= upper(other) and lower(other) <= upper(one)


@EXAMPLES
@given(left=SMALL, right=SMALL, kink=SMALL, q=VARIANCES)
def test_two_slopes_and_a_kink(left, right, kink, q):
    """E f for f = left*(x-k) below k and right*(x-k) above: by hand from the truncated mean."""
    r = expect(f"({left})*(x - ({kink})) if x < {kink} else ({right})*(x - ({kink}))")
    got = r.number(q=q, digits=20)
    with workdps(40):
        s, k = sqrt(mpf(q.numerator) / q.denominator), mpf(kink.numerator) / kink.denominator
        above = s * npdf(k / s) - k * ncdf(-k / s)
        below = -s * npdf(k / s) - k * ncdf(k / s)
        a, b = (mpf(v.numerator) / v.denominator for v in (left, right))
        want = a * below + b * above
        assert lower(got) - mpf("1e-30") <= want <= upper(got) + mpf("1e-30")
        assert got.rad <= mpf("1e-14")


@EXAMPLES
@given(formula=CONTINUOUS, q=VARIANCES)
def test_stein(formula, q):
    """E x f(x) = q E f'(x) for continuous f (Stein 1981, Lemma 1)."""
    phi = Activation(formula)
    left = expect(phi * Activation("x")).number(q=q)
    right = expect(q * phi.derivative()).number(q=q)
    assert meet(left, right)


@EXAMPLES
@given(formula=CONTINUOUS, a=SMALL, b=SMALL, q=VARIANCES)
def test_linearity(formula, a, b, q):
    phi = Activation(formula)
    whole = expect(a * phi + b * Activation("x**2")).number(q=q)
    first, second = expect(phi).number(q=q), expect(Activation("x**2")).number(q=q)
    with workdps(40):
        a, b = (mpf(v.numerator) / v.denominator for v in (a, b))
        want = a * first.mid + b * second.mid
        slack = abs(a) * first.rad + abs(b) * second.rad + whole.rad
        assert abs(whole.mid - want) <= slack + mpf("1e-30")


@EXAMPLES
@given(formula=CONTINUOUS, q1=VARIANCES, q2=VARIANCES, c=CORRELATIONS)
def test_pair_is_symmetric_and_bounded(formula, q1, q2, c):
    """K(q1, q2, c) = K(q2, q1, c) and |K| <= sqrt(E f(u)^2 E f(v)^2)."""
    phi = Activation(formula)
    pair = expect(phi, phi)
    k = pair.number(q1=q1, q2=q2, c=c)
    assert meet(k, pair.number(q1=q2, q2=q1, c=c))
    square = expect(phi**2)
    with workdps(40):
        bound = sqrt(upper(square.number(q=q1)) * upper(square.number(q=q2)))
        assert max(abs(lower(k)), abs(upper(k))) <= bound + 2 * mpf(k.rad) + mpf("1e-30")


@EXAMPLES
@given(formula=CONTINUOUS, q=VARIANCES)
def test_pair_at_the_ends(formula, q):
    """c = 1 is E f^2, c = 0 is (E f)^2, c = -1 is E f(x) f(-x)."""
    phi, mirrored = (
        Activation(formula),
        Activation(formula.replace("x", "(-x)").replace("ma(-x)", "max").replace("e(-x)p", "exp")),
    )
    pair = expect(phi, phi)
    assert meet(pair.number(q1=q, q2=q, c=1), expect(phi**2).number(q=q))
    assert meet(pair.number(q1=q, q2=q, c=-1), expect(phi * mirrored).number(q=q))
    zero, mean = pair.number(q1=q, q2=q, c=0), expect(phi).number(q=q)
    with workdps(40):
        slack = zero.rad + 3 * abs(mean.mid) * mean.rad + mean.rad**2
        assert abs(zero.mid - mean.mid**2) <= slack + mpf("1e-30")


@EXAMPLES
@given(
    formula=CONTINUOUS,
    q1=VARIANCES,
    q2=VARIANCES,
    c=st.fractions(Fraction(-9, 10), Fraction(9, 10), max_denominator=10),
)
def test_price(formula, q1, q2, c):
    """dK/dc = sqrt(q1 q2) E f'(u) f'(v) (Price 1958)."""
    phi = Activation(formula)
    d = phi.derivative()
    slope = expect(phi, phi).diff("c").number(q1=q1, q2=q2, c=c)
    product = expect(d, d).number(q1=q1, q2=q2, c=c)
    with workdps(40):
        root = sqrt(mpf((q1 * q2).numerator) / (q1 * q2).denominator)
        assert abs(slope.mid - root * product.mid) <= slope.rad + root * product.rad + mpf("1e-30")


@pytest.mark.parametrize("formula", ["max(x, 0)", "x*Phi(x)", "erf(x)"])
@EXAMPLES
@given(q1=VARIANCES, q2=VARIANCES, c=CORRELATIONS)
def test_emitted_code_computes_the_number(formula, q1, q2, c):
    """Double precision code against the certified number, to 1e-14 of sqrt(E f(u)^2 E f(v)^2)."""
    phi = Activation(formula)
    pair, square = expect(phi, phi), expect(phi**2)
    want = pair.number(q1=q1, q2=q2, c=c)
    got = compiled(formula)(float(q1), float(q2), float(c))
    with workdps(30):
        scale = sqrt(mpf(square.number(q=q1).mid) * mpf(square.number(q=q2).mid))
        rounded_inputs = mpf("4e-16") * sqrt(mpf(float(q1 * q2)))  # |dK/dc| <= 1.3 sqrt(q1 q2) for these
        assert abs(mpf(float(got)) - want.mid) <= mpf("1e-14") * scale + rounded_inputs


CODE: dict = {}


def compiled(formula):
    if formula not in CODE:
        phi = Activation(formula)
        CODE[formula] = expect(phi, phi).compile("numpy")
    return CODE[formula]
