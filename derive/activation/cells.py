"""Partitions of the real line into intervals with a value each, where end points may be symbolic."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from flint import ctx
from sympy import Expr, Max, Min, S, expand, nan, oo, zoo

from derive.activation.ranges import constant
from derive.program.symbols import X
from derive.records import DomainError, Unsupported

SIGN_BITS = 192


@dataclass(frozen=True, slots=True)
class Cell:
    """A value on the open interval (lower, upper); the interval may be empty for some parameters."""

    lower: Expr
    upper: Expr
    value: Expr


def sign_of(expr: Expr) -> int | None:
    """The sign of an expression free of x, decided from the assumptions on its symbols, or None."""
    known = None if expr.free_symbols or expr.is_Rational else _sign_of_number(expr)
    if known is not None:
        return known
    for candidate in (expr, expand(expr)):
        if candidate.is_zero:
            return 0
        if candidate.is_positive:
            return 1
        if candidate.is_negative:
            return -1
    return None


def _sign_of_number(expr: Expr) -> int | None:
    """By a ball, before SymPy is asked: its is_zero takes log(1 + exp(-30)) and the like for 0."""
    try:
        with ctx.workprec(SIGN_BITS):
            value = constant(expr, {})
    except Unsupported:
        return None
    return 1 if value > 0 else -1 if value < 0 else None


def compare(first: Expr, second: Expr) -> int | None:
    """-1, 0 or 1 as first <, =, > second; None where the symbols leave it open."""
    if first == second:
        return 0
    if first is -oo or second is oo:
        return -1
    if first is oo or second is -oo:
        return 1
    return sign_of(first - second)


def larger(first: Expr, second: Expr) -> Expr:
    """The larger end point; Max(first, second) where the order is open."""
    order = compare(first, second)
    if order is None:
        return Max(first, second)
    return first if order >= 0 else second


def smaller(first: Expr, second: Expr) -> Expr:
    """The smaller end point; Min(first, second) where the order is open."""
    order = compare(first, second)
    if order is None:
        return Min(first, second)
    return first if order <= 0 else second


def is_empty(lower: Expr, upper: Expr) -> bool:
    """Whether (lower, upper) is certainly empty: some bound from below is >= some bound from above."""
    return any(compare(a, b) in (0, 1) for a in Max.make_args(lower) for b in Min.make_args(upper))


def clip(cells: Iterable[Cell], lower: Expr, upper: Expr) -> list[Cell]:
    """The parts of the cells inside (lower, upper)."""
    inside = []
    for cell in cells:
        low, high = larger(cell.lower, lower), smaller(cell.upper, upper)
        if not is_empty(low, high):
            inside.append(Cell(low, high, cell.value))
    return inside


def split(lower: Expr, upper: Expr, roots: Iterable[Expr], values: Iterable[Expr]) -> list[Cell]:
    """(lower, upper) cut at ascending roots, with one value more than roots."""
    ends = [-oo, *roots, oo]
    return clip((Cell(a, b, v) for a, b, v in zip(ends[:-1], ends[1:], values, strict=True)), lower, upper)


def same(first: Expr, second: Expr) -> bool:
    """Whether two values are equal, by expansion."""
    if first == second:
        return True
    if first in (True, False) or second in (True, False):
        return False
    return expand(first - second) == 0


def merge(cells: list[Cell]) -> list[Cell]:
    """Neighbours with equal values joined; the cells must partition an interval.

    Those that may be empty stay apart: with a and b in any order, (b, a) and (a, b) are not (b, b) together.
    """
    if len(cells) > 1 and all(same(cells[0].value, cell.value) for cell in cells[1:]):
        return [Cell(cells[0].lower, cells[-1].upper, cells[0].value)]
    merged: list[Cell] = []
    for cell in cells:
        meets = bool(merged) and merged[-1].upper == cell.lower and _in_order(merged[-1]) and _in_order(cell)
        if meets and same(merged[-1].value, cell.value):
            merged[-1] = Cell(merged[-1].lower, cell.upper, merged[-1].value)
        else:
            merged.append(cell)
    return merged


def _in_order(cell: Cell) -> bool:
    return compare(cell.lower, cell.upper) in (-1, 0)


def overlay(first: Iterable[Cell], second: Iterable[Cell], combine: Callable[[Expr, Expr], Expr]) -> list[Cell]:
    """The common refinement of two partitions, values combined."""
    second = tuple(second)
    return merge(
        [
            Cell(part.lower, part.upper, checked(combine(cell.value, part.value), part.lower, part.upper))
            for cell in first
            for part in clip(second, cell.lower, cell.upper)
        ]
    )


def checked(value: Expr, lower: Expr, upper: Expr) -> Expr:
    """The value, unless it is infinite or undefined on the whole interval."""
    if value.has(oo, -oo, zoo, nan, S.ImaginaryUnit):
        kind = "complex" if value.has(S.ImaginaryUnit) else "infinite or undefined"
        raise DomainError(
            f"the function is {kind} on an interval",
            where=f"{lower} < {X} < {upper}",
            why="an activation must be real and finite on the whole line",
            instead="restrict it to where it is defined, as in `f if x > 0 else 0`",
        )
    return value
