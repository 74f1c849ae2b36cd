"""Expressions in expectations with the closed ones written out."""

from __future__ import annotations

from collections.abc import Callable

from sympy import Add, Derivative, Expr, Pow, cancel

from derive.gaussian import numbers
from derive.gaussian.forms import open_slope, slope_form
from derive.gaussian.node import GaussianE

Choice = Callable[[GaussianE, Expr], Expr | None]


def resolve(expr: Expr, *, code: bool = False, slopes: bool = False, choice: Choice | None = None) -> Expr:
    """The expression with every closed node substituted, in K and Delta for pairs.

    Of an open node in one variable the part that is closed is taken out. With `code`, nodes stay whole that floating
    point had better integrate: open ones, and those whose closed form loses digits. With `slopes`, d/dq of an open node
    stays as such, which is shorter than the sum of expectations it is. `choice` says what stands for a node with a
    closed form; None leaves it whole.
    """
    replaced = {}
    for part in numbers.outermost(expr):
        node = part.expr if isinstance(part, Derivative) else part
        closed = None if code and numbers.cancels(node) else numbers.closed_form(node)
        if closed is not None and choice is not None:
            closed = choice(node, closed)
        if closed is None:
            partial = None if code or isinstance(part, Derivative) else numbers.partial_form(node)
            written = isinstance(part, Derivative) and not slopes
            shorter = open_slope(part) if code and written else None
            replaced[part] = partial or shorter or (part.doit() if written else part)
            continue
        closed = resolve(closed, code=code)
        if isinstance(part, Derivative):
            closed = numbers.differentiate_closed(closed, part) if code else slope_form(part, closed)
        replaced[part] = closed
    return expr.xreplace(replaced)


SHORT = 60
"""Operations up to which a quotient is looked at."""


def shortened(expr: Expr) -> Expr:
    """A quotient over a sum without the factors that both share, where that is shorter: q/(q/2 - q/pi)."""
    sums = [p for p in expr.atoms(Pow) if p.exp.is_negative and isinstance(p.base, Add)]
    if not sums or expr.has(GaussianE) or expr.count_ops() > SHORT:
        return expr
    found = cancel(expr)
    return found if found.count_ops() < expr.count_ops() else expr


__all__ = ["resolve", "shortened"]
