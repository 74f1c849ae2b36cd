"""The last pass: the closed form as a paper would print it."""

from __future__ import annotations

from sympy import Expr

from derive.gaussian.closed import Closed


def tidy(closed: Closed) -> Expr:
    """The closed form as one SymPy expression."""
    return closed.expr()


__all__ = ["tidy"]
