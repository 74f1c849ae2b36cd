"""Products of functions with kinks at thresholds whose order is open."""

from fractions import Fraction

import pytest

from derive import Activation, expect

ORDERS = [("(1/2)", "(-1)"), ("(-1)", "(1/2)"), ("(2/3)", "(2/3)")]
PRODUCTS = [
    "abs(x - {a})*abs(x - {b})",
    "max(x, {a})*max(x, {b})",
    "(2 if x < {a} else 3)*(5 if x < {b} else 7)",
]


@pytest.mark.parametrize("formula", PRODUCTS)
def test_in_either_order(formula):
    """The formula with open thresholds, put in numbers, is the formula with numbers."""
    result = expect(formula.format(a="a", b="b"))
    assert result.kind.name == "EXACT"
    for a, b in ORDERS:
        value = result.number(q=1, a=Fraction(a.strip("()")), b=Fraction(b.strip("()")))
        assert value.overlaps(expect(formula.format(a=a, b=b)).number(q=1))


DEGENERATE = {
    "a variance of 0": (("cos(x)", "x**2"), [[0, 0], [0, 1]], 1),
    "without atoms": (("tanh(x) + 1", "x**2"), [[0, 0], [0, 1]], 1),
    "both 0": (("x + 1", "x + 2"), [[0, 0], [0, 0]], 2),
    "correlation 1": (("max(x, 0)", "max(x, 0)"), [["1/2", 1], [1, 2]], Fraction(1, 2)),
    "correlation -1": (("max(x, 0)", "max(-x, 0)"), [["1/2", -1], [-1, 2]], Fraction(1, 2)),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_laws(name):
    functions, cov, want = DEGENERATE[name]
    assert float(expect(*functions, cov=cov).number().mid) == pytest.approx(float(want), rel=1e-15)


def test_a_symbolic_law_of_correlation_1_is_a_question_of_one_variable():
    result = expect("max(u, 0)*max(v, 0)", of="u v", cov=[["s", "s"], ["s", "s"]])
    assert str(result.closed) == "s/2" and float(result.number(s=2).mid) == 1


def test_a_power_is_printed_as_one():
    assert str(expect(Activation("exp(x**2)").derivative() ** 2).closed) == "4*q/(1 - 4*q)**(3/2)"
