"""Small variances: the limit q -> 0 and the expansion about it."""

from __future__ import annotations

import pytest

from derive import Activation, expect


@pytest.mark.parametrize(("formula", "limit"), [("x*Phi(x)", 0), ("1 if x > 0 else 0", 0.5), ("cos(x)", 1)])
def test_limit_of_vanishing_variance(formula, limit):
    """E f^2 as q -> 0 from above: f(0)^2, or the mean of the two squares at a jump."""
    assert float(expect(Activation(formula) ** 2).number(q=0)) == limit


def test_small_variance_expansion_of_tanh():
    """E tanh^2 = q - 2 q^2 + 17 q^3/3 - ...: term by term from the Taylor series of tanh^2."""
    from sympy import Rational

    from derive.program.symbols import Q

    series = expect(Activation("tanh") ** 2).series("q", 0, order=4)
    assert series.removeO() == Q - 2 * Q**2 + Rational(17, 3) * Q**3
