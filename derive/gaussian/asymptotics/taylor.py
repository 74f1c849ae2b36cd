"""Taylor coefficients of an expression at x = 0."""

from __future__ import annotations

from sympy import Expr

from derive.gaussian.asymptotics.composition import substituted
from derive.gaussian.asymptotics.laurent import variable
from derive.program.symbols import X
from derive.records import Unsupported

SPARE = 6
"""Orders kept for what quotients such as tanh(x)/x lose."""


def taylor(expr: Expr, order: int) -> tuple[Expr, ...]:
    """The coefficients of x^0, ..., x^(order - 1) at 0.

    Raises Unsupported where the expression is not analytic there.
    """
    found = substituted(expr, variable(order + SPARE), X)
    if (not found.is_zero and found.start < 0) or found.end < order:
        raise Unsupported("no Taylor series at 0 to this order", where=str(expr), why="a pole, or too many quotients")
    return tuple(found.at(n) for n in range(order))


__all__ = ["taylor"]
