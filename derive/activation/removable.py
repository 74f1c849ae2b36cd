"""Values near a removable singularity: a quotient of analytic functions that vanish together at a point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flint import acb, arb
from sympy import Expr, cos, cosh, cot, coth, csc, csch, sin, sinh

from derive.activation.cells import Cell, compare
from derive.activation.ranges import constant
from derive.activation.zeros import real_zeros
from derive.program.evaluate import plan
from derive.program.gate import freeze
from derive.program.program import Program
from derive.program.symbols import X

MAX_ORDER = 6


@dataclass(frozen=True)
class Removable:
    """f = n/d near a point p at which n and d vanish to order m (n at least, d exactly).

    By Taylor's formula with the integral remainder n(z) = (z - p)^m A and d(z) = (z - p)^m B, where A and B
    are means with the same positive weight of the m-th derivatives over the segment from p to z. So f(z) = A/B
    lies in the quotient of the hulls of both derivatives over any convex set that contains p and z, and f is
    analytic where both are and the second has no zero.
    """

    point: Expr
    above: Program
    below: Program

    def value(self, z: acb, values: Mapping[str, arb], analytic: bool) -> acb:
        """An enclosure of f on the ball."""
        p = acb(constant(self.point, values))
        hull = z.union(p)
        parts = []
        for program in (self.above, self.below):
            arguments = [hull, *(acb(values[name]) for name in program.inputs[1:])]
            parts.append(plan(program)(arguments, analytic)[0])
        return parts[0] / parts[1]


def removable(cell: Cell, values: Mapping[str, arb]) -> tuple[Removable, ...]:
    """The removable singularities of a cell's value in its closed interval, as far as they are quotients."""
    quotient = cell.value
    for head, form in _QUOTIENTS.items():
        quotient = quotient.replace(head, form)
    above, below = quotient.as_numer_denom()
    if not below.has(X):
        return ()
    points = [
        p for p in real_zeros(below) or () if compare(cell.lower, p) in (-1, 0) and compare(p, cell.upper) in (-1, 0)
    ]
    found = [_order(above, below, point, values) for point in points]
    return tuple(item for item in found if item is not None)


_QUOTIENTS = {
    coth: lambda u: cosh(u) / sinh(u),
    csch: lambda u: 1 / sinh(u),
    cot: lambda u: cos(u) / sin(u),
    csc: lambda u: 1 / sin(u),
}


def _order(above: Expr, below: Expr, point: Expr, values: Mapping[str, arb]) -> Removable | None:
    for _ in range(MAX_ORDER):
        if not below.subs(X, point).is_zero:
            symbols = (X, *sorted((above.free_symbols | below.free_symbols) - {X}, key=str))
            return Removable(point, freeze({"value": above}, symbols), freeze({"value": below}, symbols))
        if not above.subs(X, point).is_zero:
            return None
        above, below = above.diff(X), below.diff(X)
    return None
