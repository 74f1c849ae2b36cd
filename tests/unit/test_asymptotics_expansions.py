"""Expansions for small and large variance against rigorous enclosures: the remainder falls as it is said to."""

from fractions import Fraction
from math import log2

import mpmath
import pytest
from sympy import Abs, I, Max, Min, Piecewise, Rational, Symbol, atan, cosh, erf, exp, log, oo, pi, sin, sqrt, tanh

from derive.activation.normal_form import derivative, normal_form, to_piecewise
from derive.gaussian.asymptotics import expand_large, expand_small
from derive.gaussian.asymptotics.decaying import decaying
from derive.gaussian.asymptotics.infinity import tail_powers
from derive.gaussian.asymptotics.moments import certified
from derive.gaussian.asymptotics.taylor import taylor
from derive.gaussian.enclosure import enclose
from derive.gaussian.node import single
from derive.gaussian.special import NormalCdf
from derive.program.operations.sigmoid import Sigmoid
from derive.program.operations.softplus import Softplus
from derive.program.symbols import Q, X
from derive.records import Kind, Unsupported

A = Symbol("a", positive=True)
STEP = Piecewise((1, X > 0), (0, True))
ELU = Piecewise((X, X > 0), (exp(X) - 1, True))
MISH = X * tanh(Softplus(X))
SOFTSIGN = X / (1 + Abs(X))

FUNCTIONS = {
    "relu": Max(X, 0),
    "tanh": tanh(X),
    "tanh, scaled, mirrored, shifted": Rational(3, 2) * tanh(Rational(1, 2) - 2 * X),
    "gelu": X * NormalCdf(X),
    "gelu, mirrored and shifted": (1 - X) * NormalCdf(1 - X),
    "elu": ELU,
    "elu, another slope": Piecewise((X, X > 0), (Rational(1, 3) * (exp(2 * X) - 1), True)),
    "hardtanh": Max(-1, Min(1, X)),
    "softsign": SOFTSIGN,
    "mish": MISH,
    "silu": X * Sigmoid(X),
    "step": STEP,
    "step elsewhere": STEP.subs(X, X - 1) * tanh(X),
    "abs": Abs(X) + 1,
    "arctan": atan(X),
    "log cosh": Softplus(2 * X) - X,
    "bump": exp(-(X**2)),
    "erf": erf(X),
    "isru": X / sqrt(1 + X**2),
}


def slope(expr):
    return to_piecewise(derivative(normal_form(expr))[0])


def error(body, found, q):
    """The expectation less the expansion, and the radius of that."""
    with mpmath.workdps(60):
        value = enclose(single(body), {"q": q}, 25)
        point = mpmath.mpf(q.numerator) / q.denominator
        total = mpmath.mpf(0)
        for power, coefficient in found.terms:
            number = certified(coefficient, {"q": q}, 30)
            total += number.mid * point ** (mpmath.mpf(int(power.p)) / int(power.q))
        return mpmath.mpf(value.mid().str(50, radius=False)) - total


def check_order(body, found, points):
    """The remainder shrinks by 4^|power| (nearly) or more from one point to the next."""
    first, second = (abs(error(body, found, q)) for q in points)
    if found.remainder is None:
        assert max(first, second) < 1e-20
        return
    assert second < 1e-20 or log2(first / second) / 2 > abs(found.remainder) - 0.3


@pytest.mark.parametrize("name", FUNCTIONS)
def test_small_variance(name):
    for body in (FUNCTIONS[name] ** 2, slope(FUNCTIONS[name]) ** 2):
        found = expand_small(single(body), Rational(5, 2))
        assert found.kind is Kind.SERIES
        check_order(body, found, (Fraction(1, 2**14), Fraction(1, 2**16)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_large_variance(name):
    for body in (FUNCTIONS[name] ** 2, slope(FUNCTIONS[name]) ** 2):
        check_order(body, expand_large(single(body), 3), (Fraction(2**10), Fraction(2**12)))


def test_a_wrong_coefficient_is_seen():
    body = tanh(X) ** 2
    right = expand_small(single(body), Rational(3))
    wrong = right.times(Rational(1001, 1000), Rational(0))
    points = Fraction(1, 2**14), Fraction(1, 2**16)
    check_order(body, right, points)
    with pytest.raises(AssertionError):
        check_order(body, wrong, points)


def test_known_expansions():
    tanh_squared = expand_small(single(tanh(X) ** 2), Rational(4))
    assert tanh_squared.sum == Q - 2 * Q**2 + Rational(17, 3) * Q**3

    assert expand_small(single(Max(X, 0) ** 2), Rational(2)).expr == Q / 2
    assert expand_small(single(Max(X, 0)), Rational(2)).expr == sqrt(Q) / sqrt(2 * pi)
    assert expand_small(single(STEP), Rational(2)).expr == Rational(1, 2)
    mish = expand_small(single(MISH**2), Rational(2))
    assert mish.coefficient(1) == Rational(9, 25)
    large = expand_large(single(Max(-1, Min(1, X)) ** 2), 2)
    assert (large.coefficient(Rational(-1, 2)) + Rational(2, 3) * sqrt(2 / pi)).equals(0)


def test_tanh_at_infinity():
    found = expand_large(single(tanh(X) ** 2), 2)
    number = found.certified()[Rational(-1, 2)]
    with mpmath.workdps(30):
        assert abs(number.mid + mpmath.sqrt(2 / mpmath.pi)) < number.rad + mpmath.mpf(10) ** -25
    assert number.rad < 1e-15


def test_parameters_stay_symbols():
    body = Piecewise((X, X > 0), (A * (exp(X) - 1), True)) ** 2
    found = expand_small(single(body), Rational(2))
    assert found.coefficient(1) == (1 + A**2) / 2 or (found.coefficient(1) - (1 + A**2) / 2).expand() == 0
    large = expand_large(single(body), 3)
    assert (large.coefficient(0) - A**2 / 2).expand() == 0


def test_logarithms_appear_where_the_tail_is_odd():
    found = expand_large(single(SOFTSIGN**2), 2)
    assert found.coefficient(Rational(-1, 2)).has(log(2 * Q))
    assert expand_large(single(SOFTSIGN**2), 1).log_remainder


def test_refusals_name_the_part():
    with pytest.raises(Unsupported, match="sin"):
        expand_large(single(sin(X) ** 2), 2)
    with pytest.raises(Unsupported, match="growth"):
        expand_large(single(exp(X)), 2)
    with pytest.raises(Unsupported):
        expand_small(single(sqrt(Abs(X))), Rational(2))
    threshold = Symbol("t", real=True)
    with pytest.raises(Unsupported, match="t"):
        expand_small(single(Piecewise((1, threshold < X), (0, True))), Rational(2))


def test_taylor_and_tails_of_compositions():
    assert taylor(tanh(X) / X, 5) == (1, 0, -Rational(1, 3), 0, Rational(2, 15))
    assert taylor(tanh(log(1 + exp(X))), 2) == (Rational(3, 5), Rational(8, 25))
    squareplus = tail_powers((X + sqrt(X**2 + 4)) / 2, 4)
    assert [squareplus.at(n) for n in range(-1, 4)] == [1, 0, 1, 0, -1]
    assert tail_powers(X * Sigmoid(X), 4).coefficients == (1,)
    assert tail_powers(X * Sigmoid(-X), 4).is_zero
    assert not decaying(tanh(X)).has(tanh)
    assert I not in decaying(log(cosh(X))).atoms()


def test_the_order_term_is_sympys():
    found = expand_large(single(tanh(X) ** 2), 2)
    assert found.at is oo
    assert found.expr.getO() is not None
