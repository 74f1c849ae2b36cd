"""Whether a function is real and finite on the whole line, and if not, where and why not."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Literal

from flint import arb
from sympy import CRootOf, Expr, Mul, Rational, oo

from derive.activation.cells import Cell, compare, sign_of
from derive.activation.certify import certify
from derive.activation.demands import Demand, demands, known_sign
from derive.activation.interval import INF, NEG_INF, Range
from derive.activation.ranges import Ranges
from derive.activation.signs import sign_cells
from derive.activation.zeros import first_zero, real_zeros
from derive.program.symbols import X
from derive.records import DomainError, Unsupported


def check(cells: tuple[Cell, ...], values: Mapping[str, arb | Range]) -> tuple[DomainError | None, tuple[str, ...]]:
    """The first violated demand as an error (or None), and notes on what could not be decided.

    values  balls or ranges of the parameters
    """
    notes: list[str] = []
    for cell in cells:
        for demand in dict.fromkeys(demands(cell.value)):
            problem = _decide(demand, cell, values)
            if isinstance(problem, DomainError):
                return problem, tuple(notes)
            if problem is not None and problem not in notes:
                notes.append(problem)
    return None, tuple(notes)


def _decide(demand: Demand, cell: Cell, values: Mapping[str, arb | Range]) -> DomainError | str | None:
    if known_sign(demand.inner, cell.lower, cell.upper, demand.relation):
        ends = [end for end in (cell.lower, cell.upper) if end not in (oo, -oo)]
        zeros = [end for end in ends if demand.relation != "nonnegative" and demand.inner.subs(X, end).is_zero]
        return _at_zeros(demand, cell, zeros) if zeros else None
    if not demand.inner.has(X):
        sign = sign_of(demand.inner)
        if sign is None:
            return f"{demand.whole} is real and finite only if {demand.condition}"
        good = (
            sign > 0 or (sign == 0 and demand.relation == "nonnegative") or (sign < 0 and demand.relation == "nonzero")
        )
        return None if good else _error(demand, "for every x")
    exact = _by_roots(demand, cell)
    if exact is not None:
        return exact if exact is not True else None
    return _by_intervals(demand, cell, values)


def _by_roots(demand: Demand, cell: Cell) -> DomainError | str | Literal[True] | None:
    """Exactly, where the zeros of the inner expression are known; True if the demand is met."""
    u, inside = demand.inner, []
    if demand.relation == "nonzero" and (zero := first_zero(u)) is not None and _within(zero, cell):
        return _error(demand, f"at x = {zero}", "infinite")
    if demand.relation != "nonnegative":
        points = real_zeros(u)
        if points is None or None in (places := [_within(point, cell) for point in points]):
            return None
        inside = [point for point, place in zip(points, places, strict=True) if place]
    if demand.relation == "nonzero":
        return _at_zeros(demand, cell, inside) if inside else True
    try:
        signs = sign_cells(u, cell.lower, cell.upper)
    except Unsupported:
        return None
    bad = [part for part in signs if part.value < 0]
    if any(compare(part.lower, part.upper) != -1 for part in bad):
        return None  # such a part may be empty
    if bad:
        return _error(demand, "for " + " and ".join(_interval(part, demand.relation == "positive") for part in bad))
    return _at_zeros(demand, cell, inside) if inside else True


def _at_zeros(demand: Demand, cell: Cell, points: list[Expr]) -> DomainError | str:
    """A singularity is no problem where the function has a finite limit: it is filled by that."""
    filled = []
    for point in points:
        if cell.value == demand.whole or (isinstance(cell.value, Mul) and _others_finite(demand, cell.value, point)):
            return _error(demand, f"at x = {_shown(point)}", "infinite")
        sides = ([] if point == cell.lower else ["-"]) + ([] if point == cell.upper else ["+"])
        limits = {cell.value.limit(X, point, side) for side in sides} if not point.free_symbols else {oo}
        if len(limits) != 1 or not next(iter(limits)).is_finite:
            return _error(demand, f"at x = {_shown(point)}", "infinite")
        filled.append(f"{limits.pop()} at x = {point}")
    return f"{cell.value} is filled by its limit {', '.join(filled)}"


def _others_finite(demand: Demand, value: Mul, point: Expr) -> bool:
    """Whether the singular factor meets only factors that are finite and not zero at the point."""
    if demand.whole not in value.args:
        return False
    rest = (value / demand.whole).subs(X, point)
    return bool(rest.is_finite and rest.is_zero is False)


def _shown(point: Expr) -> str:
    return str(point.evalf(12)) if point.has(CRootOf) else str(point)


def _within(point: Expr, cell: Cell) -> bool | None:
    """Whether a point lies in the closed cell; None if the symbols leave it open."""
    left, right = compare(cell.lower, point), compare(point, cell.upper)
    if left == 1 or right == 1:
        return False
    return None if left is None or right is None else True


def _interval(part: Cell, closed: bool) -> str:
    less = "<=" if closed else "<"
    if part.lower is -oo and part.upper is oo:
        return "every x"
    if part.lower is -oo:
        return f"x {less} {part.upper}"
    if part.upper is oo:
        return f"x {less.replace('<', '>')} {part.lower}"
    return f"{part.lower} {less} x {less} {part.upper}"


def _by_intervals(demand: Demand, cell: Cell, values: Mapping[str, arb | Range]) -> DomainError | str | None:
    undecided = f"it is not proved that {demand.condition} for all x, which {demand.whole} needs to be real and finite"
    names = {s.name for s in demand.inner.free_symbols - {X}}
    if not names <= set(values):
        return undecided
    numbers = Ranges(arb(0), arb(0), values)
    low = NEG_INF if cell.lower is -oo else numbers(cell.lower).low
    high = INF if cell.upper is oo else numbers(cell.upper).high
    verdict = certify(demand.inner, demand.relation, low, high, values)
    if verdict.holds is True:
        return None
    if verdict.holds is False:
        return _error(demand, _place(verdict.at, demand.relation))
    return undecided


def _place(at, relation: str) -> str:
    if isinstance(at, Fraction):
        exact = Rational(at.numerator, at.denominator)
        shown = str(exact) if exact.q < 1000 else f"{float(at):.6g}"
        return f"at x = {shown}" if relation == "nonzero" or exact.q >= 1000 else f"at x = {shown}, among others"
    return f"near x = {float(((at[0] + at[1]) / 2).mid()):.10g}"


def _error(demand: Demand, place: str, failure: str = "") -> DomainError:
    return DomainError(
        f"{demand.whole} is {failure or demand.failure} {place}",
        where=str(demand.whole),
        why="an activation must be real and finite on the whole line",
        instead="guard it with a condition, as in `f if x > 1 else 0`, or move its argument, as in log(1 + exp(x))",
    )
