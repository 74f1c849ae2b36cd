"""Symmetries of a function, proved on its normal form."""

from __future__ import annotations

from flint import arb
from sympy import Expr, erf, exp, expand, oo, sqrt, tanh

from derive.activation.cells import Cell, compare
from derive.activation.ranges import constant
from derive.activation.terms import NormalForm, is_ordered
from derive.program.registry import operations
from derive.program.symbols import X


def parity(form: NormalForm) -> str | None:
    """ "odd" if f(-x) = -f(x), "even" if f(-x) = f(x) (the zero function is even), None if neither is proved."""
    if not is_ordered(form):
        return None
    mirrored = [Cell(_minus(c.upper), _minus(c.lower), c.value.subs(X, -X)) for c in reversed(form.cells)]
    if any(compare(a.lower, b.lower) != 0 for a, b in zip(form.cells, mirrored, strict=True)):
        return None
    values = [(a.value, b.value) for a, b in zip(form.cells, mirrored, strict=True)]
    if all(is_zero(value - image) for value, image in values):
        return "even"
    return "odd" if all(is_zero(value + image) for value, image in values) else None


def _minus(end: Expr) -> Expr:
    return -end if end not in (oo, -oo) else oo if end == -oo else -oo


def is_zero(expr: Expr) -> bool:
    """Whether an expression is proved to vanish identically: expanded, over one denominator, or in exponentials."""
    if expr == 0:
        return True
    if _differs_somewhere(expr):
        return False
    if expand(expr) == 0:
        return True
    table = operations()
    sigmoid, cdf = table["sigmoid"].head, table["normal_cdf"].head
    # the logistic function and Phi in functions that know their parity
    expr = expr.replace(sigmoid, lambda u: (1 + tanh(u / 2)) / 2).replace(cdf, lambda u: (1 + erf(u / sqrt(2))) / 2)
    return _numerator_vanishes(expr) or (expr.has(exp) and _numerator_vanishes(expr.rewrite(exp)))


def _differs_somewhere(expr: Expr) -> bool:
    """Whether a ball shows it at one point, for one value of each parameter: cheap, and no proof of zero."""
    values = {"x": arb(0.6875)}
    for i, symbol in enumerate(sorted(expr.free_symbols - {X}, key=str)):
        values[symbol.name] = arb(11 + 2 * i) / 16 * (-1 if symbol.is_negative else 1)
    found = constant(expr, values)
    return bool(found.is_finite() and not found.contains(0))


def _numerator_vanishes(expr: Expr) -> bool:
    return bool(expand(expand(expr).as_numer_denom()[0]) == 0)
