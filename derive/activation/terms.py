"""A function of x as a sum of smooth expressions times one-sided steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from sympy import (
    Add,
    Expr,
    Max,
    Min,
    Piecewise,
    S,
    StrictGreaterThan,
    StrictLessThan,
    count_ops,
    default_sort_key,
    expand,
    oo,
)

from derive.activation.cells import Cell, compare, merge
from derive.program.symbols import X


@dataclass(frozen=True, slots=True)
class Term:
    """value(x) times a one-sided step.

    value      an expression in x without kinks
    threshold  where the step is, free of x (may hold parameters, Max, Min); None for side 0
    side       +1: times 1{x > threshold}; -1: times 1{x < threshold}; 0: times 1
    """

    value: Expr
    threshold: Expr | None
    side: int


@dataclass(frozen=True, slots=True)
class NormalForm:
    """phi(x) = sum of terms, for almost every x.

    terms  at most one step each; no two share (threshold, side)
    cells  the same function interval by interval, from left to right
    """

    terms: tuple[Term, ...]
    cells: tuple[Cell, ...]

    def as_expr(self) -> Expr:
        """The function as one SymPy expression."""
        return to_piecewise(self)


def from_cells(cells: list[Cell] | tuple[Cell, ...]) -> NormalForm:
    """The normal form of a partition of the line.

    An interval is a difference of right steps, 1{a < x < b} = 1{x > a} - 1{x > max(a, b)}, and of left steps where
    it lies certainly left of 0; the outermost left piece stays a left step: of tails that lie on the side of their
    interval a difference keeps its digits, exp(x)*(1 - step) would lose them all.
    """
    cells = tuple(merge(list(cells)))
    common = _common_part(cells)
    steps: dict[tuple[int, Expr], list[Expr]] = {}
    for cell in cells:
        value = cell.value - common
        if cell.lower is -oo and cell.upper is oo:
            common, value = cell.value, S.Zero
        elif cell.lower is -oo:
            steps.setdefault((-1, cell.upper), []).append(value)
        elif cell.upper is not oo and compare(cell.upper, S.Zero) in (-1, 0):
            start = cell.lower if compare(cell.lower, cell.upper) == -1 else Min(cell.lower, cell.upper)
            steps.setdefault((-1, cell.upper), []).append(value)
            steps.setdefault((-1, start), []).append(-value)
        else:
            steps.setdefault((1, cell.lower), []).append(value)
            if cell.upper is not oo:
                end = cell.upper if compare(cell.lower, cell.upper) == -1 else Max(cell.lower, cell.upper)
                steps.setdefault((1, end), []).append(-value)
    terms = [Term(common, None, 0)] if common != 0 else []
    for (side, threshold), values in sorted(steps.items(), key=lambda item: (item[0][0], default_sort_key(item[0][1]))):
        value = shorter(Add(*values))
        if value != 0:
            terms.append(Term(value, threshold, side))
    return NormalForm(tuple(_in_order(terms)), cells)


def _common_part(cells: tuple[Cell, ...]) -> Expr:
    """The summands that every cell shares: they need no step."""
    shared = set(Add.make_args(cells[0].value))
    for cell in cells[1:]:
        shared &= set(Add.make_args(cell.value))
    return Add(*shared)


def shorter(value: Expr) -> Expr:
    """The value expanded, where that is shorter."""
    expanded = expand(value)
    return expanded if count_ops(expanded) < count_ops(value) or expanded == 0 else value


def _in_order(terms: list[Term]) -> list[Term]:
    """Side 0, then left steps, then right steps by ascending threshold as far as that is decidable."""
    ordered: list[Term] = []
    for term in terms:
        place = len(ordered)
        while place > 0 and ordered[place - 1].side == term.side != 0:
            if compare(term.threshold, ordered[place - 1].threshold) != -1:
                break
            place -= 1
        ordered.insert(place, term)
    return sorted(ordered, key=lambda term: {0: 0, -1: 1, 1: 2}[term.side])


def breakpoints(form: NormalForm) -> tuple[Expr, ...]:
    """The thresholds of the terms, ascending as far as that is decidable."""
    return tuple(ascending({term.threshold for term in form.terms if term.threshold is not None}))


def ascending(points: Iterable[Expr]) -> list[Expr]:
    """Points in ascending order as far as that is decidable, else in a fixed order."""
    ordered: list[Expr] = []
    for point in sorted(points, key=default_sort_key):
        place = len(ordered)
        while place > 0 and compare(point, ordered[place - 1]) == -1:
            place -= 1
        ordered.insert(place, point)
    return ordered


def is_ordered(form: NormalForm) -> bool:
    """Whether the cells are certainly non-empty and follow each other from left to right."""
    ends = [cell.lower for cell in form.cells[1:]]
    adjacent = all(a.upper == b.lower for a, b in pairwise(form.cells))
    return adjacent and all(compare(a, b) == -1 for a, b in pairwise(ends))


def to_piecewise(form: NormalForm) -> Expr:
    """One ordered Piecewise where the breakpoints can be ordered, else a sum of one-sided pieces."""
    if is_ordered(form):
        branches = [(cell.value, StrictLessThan(X, cell.upper)) for cell in form.cells[:-1]]
        return Piecewise(*branches, (form.cells[-1].value, True))
    total = []
    for term in form.terms:
        if term.threshold is None:
            total.append(term.value)
        else:
            step = (StrictGreaterThan if term.side > 0 else StrictLessThan)(X, term.threshold)
            total.append(Piecewise((term.value, step), (S.Zero, True)))
    return Add(*total)
