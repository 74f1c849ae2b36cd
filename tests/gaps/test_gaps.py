"""What is known to be missing, as strict xfails: whoever closes a gap is told so by a failing test."""

from __future__ import annotations

import pytest

from derive import Activation, EocError, expect, theory


@pytest.mark.xfail(raises=EocError, reason="the limit q -> 0 is refused", strict=True)
@pytest.mark.parametrize(("formula", "limit"), [("x*Phi(x)", 0), ("1 if x > 0 else 0", 0.5), ("cos(x)", 1)])
def test_limit_of_vanishing_variance(formula, limit):
    """E f^2 as q -> 0 from above: f(0)^2, or the mean of the two squares at a jump."""
    assert float(expect(Activation(formula) ** 2).number(q=0)) == limit


@pytest.mark.xfail(raises=EocError, reason="no expansion without a closed form", strict=True)
def test_small_variance_expansion_of_tanh():
    """E tanh^2 = q - 2 q^2 + 17 q^3/3 - ...: term by term from the Taylor series of tanh^2."""
    from sympy import Rational, Symbol

    series = expect(Activation("tanh") ** 2).series("q", 0, order=4)
    q = next(s for s in series.free_symbols if isinstance(s, Symbol))
    assert series.removeO() == q - 2 * q**2 + Rational(17, 3) * q**3


@pytest.mark.xfail(raises=EocError, reason="no enclosure of three dependent variables", strict=True)
def test_three_dependent_variables_without_atoms():
    r = expect("tanh(u)*max(v, w)", of="u v w", mean=[0, 0, 0], cov=[[1, "1/5", "1/10"], ["1/5", 1, 0], ["1/10", 0, 1]])
    assert r.number().rad < 1e-10


@pytest.mark.xfail(raises=AttributeError, reason="universality classes are not built", strict=True)
def test_universality():
    assert theory("tanh").universality.name == "zero"
