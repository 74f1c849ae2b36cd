"""Products of functions with kinks at thresholds whose order is open."""

from fractions import Fraction

import pytest

from derive import expect

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
