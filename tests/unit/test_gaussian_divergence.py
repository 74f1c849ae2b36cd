"""Expectations that are infinite, their signs, and those that are neither finite nor infinite."""

from fractions import Fraction

import pytest
from mpmath import inf
from sympy import Heaviside, Symbol, exp, tanh

from derive import EocError, expect
from derive.gaussian.divergence import infinite
from derive.gaussian.node import pair, single
from derive.gaussian.special import NormalCdf
from derive.program.symbols import X

B = Symbol("b", real=True)
ONE = {
    "exp(b*x**2)": (exp(B * X**2), 1),
    "negative": (-exp(B * X**2), -1),
    "even polynomial": ((X**2 - 9) * exp(B * X**2), 1),
    "odd": (X * exp(B * X**2), None),
    "one side": (X * exp(B * X**2) * Heaviside(-X - 1), -1),
    "a bounded support": (exp(B * X**2) * Heaviside(X) * Heaviside(1 - X), None),
    "the falling side of Phi": (exp(B * X**2) * NormalCdf(X) * Heaviside(-X), None),
    "both sides of Phi": (X**3 * exp(B * X**2) * NormalCdf(X), 1),
    "fourth power": (exp(X**4 + X), 1),
    "cubic": (X * exp(X**3), 1),
    "no such shape": (exp(X**2) * tanh(X), None),
}


@pytest.mark.parametrize("name", ONE)
def test_one_variable(name):
    f, sign = ONE[name]
    assert infinite(single(f), {"q": Fraction(1), "b": Fraction(3, 4)}) == sign


def test_the_limit_belongs_to_the_infinite_side():
    """E exp(b x**2) and E exp(b x**2) x**n at 2 b q = 1: the density is outweighed exactly."""
    at = {"q": Fraction(2), "b": Fraction(1, 4)}
    assert infinite(single(exp(B * X**2)), at) == 1
    assert infinite(single(exp(B * X**2 - X**2 / 1000)), at) is None
    assert infinite(single(exp(B * X**2 - X) * Heaviside(X)), at) is None
    assert infinite(single(exp(B * X**2 + X) * Heaviside(X)), at) == 1


@pytest.mark.parametrize(("b", "c"), [("0.3", "0.1"), ("0.3", "0.9"), ("0.6", "0.1"), ("2", "0.1"), ("0.3", "-0.9")])
def test_pair_of_gaussian_growth(b, c):
    """Finite if and only if 2 b q_i < 1 and (1 - 2 b q1)(1 - 2 b q2) > 4 b**2 K**2."""
    rate, rho = Fraction(b), Fraction(c)
    first, second = 1 - 2 * rate, 1 - rate
    finite = first > 0 and second > 0 and first * second > 4 * rate**2 * rho**2 / 2
    at = {"q1": Fraction(1), "q2": Fraction(1, 2), "c": rho, "b": rate}
    assert infinite(pair(exp(B * X**2), exp(B * X**2)), at) == (None if finite else 1)
    number = expect("exp(b*x**2)", "exp(b*x**2)").number(q1=1, q2="0.5", c=c, b=b)
    assert (number.mid < inf) is finite
    assert infinite(pair(-exp(B * X**2), exp(B * X**2)), at) == (None if finite else -1)


def test_one_sided_growth_needs_the_right_quadrant():
    """exp(b u**2) 1{u > 0} exp(b v**2) 1{v < 0}: a positive correlation keeps it finite."""
    f, g = exp(B * X**2) * Heaviside(X), exp(B * X**2) * Heaviside(-X)
    at = {"q1": Fraction(1), "q2": Fraction(1), "b": Fraction(2, 5)}
    assert infinite(pair(f, g), {**at, "c": Fraction(9, 10)}) is None
    assert infinite(pair(f, g), {**at, "c": Fraction(-9, 10)}) == 1
    assert infinite(pair(f, g), {**at, "c": Fraction(-1)}) == 1


def test_numbers_of_results():
    assert expect("exp(x^2)").number(q=2).mid == inf
    assert expect("-exp(x^4)").number(q=1).mid == -inf
    for odd in ("x*exp(b*x^2)", "x*exp(x^4)", "x^3*exp(x^2)"):
        result = expect(odd)
        with pytest.raises(EocError):
            result.number({"q": 1, "b": "0.6"} if "b" in odd else {"q": 1})


@pytest.mark.parametrize(
    ("text", "infinite_square"),
    [
        ("sqrt(abs(x))", True),
        ("3*sqrt(abs(x - 1/2))", True),
        ("-sqrt(abs(2*x + 1))", True),
        ("abs(x)**(2/3)", False),
        ("x*log(abs(x))", False),
    ],
)
def test_a_singular_point_makes_the_mean_square_slope_infinite(text, infinite_square):
    """phi' of order 1/sqrt(distance) next to the point: E phi'^2 diverges there at every variance, and says so."""
    from derive import Activation

    found = expect(Activation(text).derivative() ** 2)
    assert (found.kind.name == "DIVERGENT") is infinite_square
    assert (found.number(q="0.3").mid == inf) is infinite_square
    assert expect(Activation(text).derivative()).kind.name != "DIVERGENT"
