"""Growth bounds on a part of a side, by structure where that succeeds and by ranges on small intervals where not."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from flint import acb, arb
from sympy import Expr

from derive.activation.growth import Growth, log_of
from derive.activation.ranges import Ranges
from derive.activation.tail import Tail

DOUBLINGS, HALVINGS = 8, 12


Evaluate = Callable[[acb], acb]


def bound(
    expr: Expr, side: int, start: arb, end: arb, values: Mapping[str, arb], evaluate: Evaluate | None = None
) -> Growth:
    """|expr| <= exp(a + b|x| + s x^2) (1 + |x|)^n for start <= |x| <= end on a side; end may be infinite.

    Where the structure gives no bound from `start` on, it may give one from farther out; the part between
    is bounded by ranges on ever smaller intervals, and by `evaluate` on balls where that is given.
    """
    nearest = Tail(side, start, values, end)
    near = nearest.found(expr)
    if near is not None:
        return near
    reach = max(start, arb(1))
    for _ in range(DOUBLINGS):
        if not reach < end:
            break
        far = Tail(side, reach, values, end).found(expr)
        height = supremum(expr, side, start, reach, values, evaluate) if far is not None else None
        if far is not None and height is not None:
            return largest([far, _constant(height)])
        reach = 2 * reach
    height = supremum(expr, side, start, end, values, evaluate) if end.is_finite() else None
    if height is None:
        return nearest.growth(expr)
    return _constant(height)


def _constant(height: arb) -> Growth:
    size = log_of(height)
    return Growth(size.upper() if size.is_finite() else size, arb(0), arb(0), 0)


def supremum(
    expr: Expr,
    side: int,
    start: arb,
    end: arb,
    values: Mapping[str, arb],
    evaluate: Evaluate | None = None,
    depth: int = HALVINGS,
) -> arb | None:
    """An upper bound of |expr| for start <= |x| <= end < inf on a side, or None."""
    ranges = Ranges(start, end, values) if side > 0 else Ranges(-end, -start, values)
    size = ranges(expr).magnitude()
    if size.finite():
        return size.high
    if evaluate is not None:
        found = evaluate(acb(ranges.x.ball())).abs_upper()
        if found.is_finite():
            return found
    if depth == 0:
        return None
    middle = ((start + end) / 2).mid()
    near = supremum(expr, side, start, middle, values, evaluate, depth - 1)
    far = supremum(expr, side, middle, end, values, evaluate, depth - 1) if near is not None else None
    return max(near, far) if near is not None and far is not None else None


def largest(bounds: list[Growth]) -> Growth:
    """One bound that holds wherever one of several holds."""
    return Growth(*(max(getattr(each, name) for each in bounds) for name in ("a", "b", "s", "n")))
