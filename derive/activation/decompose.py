"""A formula with kinks and jumps, cut into intervals on each of which it is one expression without kinks."""

from __future__ import annotations

from sympy import (
    Abs,
    DiracDelta,
    Expr,
    Heaviside,
    Integral,
    Max,
    Min,
    Mod,
    Piecewise,
    S,
    arg,
    ceiling,
    conjugate,
    expand,
    floor,
    frac,
    im,
    oo,
    re,
    sign,
)
from sympy.core.relational import Eq, Ne, Relational
from sympy.logic.boolalg import And, Boolean, Not, Or

from derive.activation.cells import Cell, checked, compare, merge, split
from derive.activation.signs import open_line, sign_cells, undecided
from derive.program.symbols import X
from derive.records import DomainError, Unsupported

KINKS = (Piecewise, Max, Min, Abs, sign, Heaviside, Relational, And, Or, Not)
REFUSED = (floor, ceiling, frac, Mod, re, im, arg, conjugate, DiracDelta, Integral)


def decompose(expr: Expr, lower: Expr = -oo, upper: Expr = oo) -> list[Cell]:
    """The cells of a function of x on (lower, upper): values without kinks, points left out.

    Raises Unsupported where a condition cannot be decided, DomainError where no branch or no finite value is left.
    """
    if not expr.has(X) or not expr.has(*KINKS, *REFUSED):
        return [Cell(lower, upper, checked(expr, lower, upper))]
    for head, rule in _RULES:
        if isinstance(expr, head):
            return merge(rule(expr, lower, upper))
    return merge(_compose(expr, lower, upper))


def _compose(expr, lower, upper):
    """A smooth function of pieces is a function on each piece."""
    cells = []
    for low, high, values in _argument_cells(expr.args, lower, upper):
        value = checked(expr.func(*values), low, high)
        if value.has(X) and value.has(*KINKS) and value != expr:
            cells += decompose(value, low, high)
        else:
            cells.append(Cell(low, high, value))
    return cells


def _argument_cells(args, lower, upper):
    parts: list[tuple[Expr, Expr, tuple[Expr, ...]]] = [(lower, upper, ())]
    for argument in args:
        parts = [
            (cell.lower, cell.upper, (*values, cell.value))
            for low, high, values in parts
            for cell in decompose(argument, low, high)
        ]
    return parts


def _refuse(expr, lower, upper):
    raise Unsupported(
        f"{expr.func.__name__} of x has no finite list of pieces here",
        where=str(expr),
        why="only piecewise functions with finitely many exact breakpoints are cut into pieces",
        instead="write the needed steps out with `Piecewise`",
    )


def _sign_parts(expr, lower, upper):
    """(lower, upper, sign, value) over the pieces of expr and the parts of each with one sign."""
    return [
        (part.lower, part.upper, part.value, cell.value)
        for cell in decompose(expr, lower, upper)
        for part in sign_cells(cell.value, cell.lower, cell.upper)
    ]


def _abs(expr, lower, upper):
    return [
        Cell(low, high, value if s >= 0 else -value) for low, high, s, value in _sign_parts(expr.args[0], lower, upper)
    ]


def _sign(expr, lower, upper):
    return [Cell(low, high, s) for low, high, s, _ in _sign_parts(expr.args[0], lower, upper)]


def _heaviside(expr, lower, upper):
    at_zero = expr.args[1] if len(expr.args) > 1 else S.Half
    values = {1: S.One, 0: at_zero, -1: S.Zero}
    return [Cell(low, high, values[int(s)]) for low, high, s, _ in _sign_parts(expr.args[0], lower, upper)]


def _extremum(expr, lower, upper):
    keep = 1 if isinstance(expr, Max) else -1
    constants = [a for a in expr.args if not a.has(X)]
    moving = [a for a in expr.args if a.has(X)]
    # parameters among themselves stay one constant, whatever their order
    parts = ([expr.func(*constants)] if constants else []) + moving
    cells = decompose(parts[0], lower, upper)
    for candidate in parts[1:]:
        cells = [new for cell in cells for new in _larger(cell, candidate, keep, expr.func)]
    return cells


def _larger(cell, candidate, keep, head):
    chosen = []
    for other in decompose(candidate, cell.lower, cell.upper):
        difference = cell.value - other.value
        if not cell.value.has(X) and not other.value.has(X):
            chosen.append(Cell(other.lower, other.upper, head(cell.value, other.value)))
            continue
        line = open_line(difference)
        if line is not None:
            chosen += _about_root(other, *line, head)
            continue
        for part in sign_cells(difference, other.lower, other.upper):
            value = cell.value if part.value * keep >= 0 else other.value
            chosen.append(Cell(part.lower, part.upper, value))
    return chosen


def _about_root(cell, slope, root, head):
    """max(f, g) where f - g = m (x - r) and the sign of m is open: g + max(m, 0) (x - r) right of r, min left of it."""
    factor = cell.value.diff(X) if cell.value.is_polynomial(X) else S.Zero
    through_root = not factor.has(X) and expand(cell.value - factor * (X - root)) == 0
    parts = []
    for part in split(cell.lower, cell.upper, [root], [S.NegativeOne, S.One]):
        choose = head if part.value > 0 else Min if head is Max else Max
        if through_root:
            value = choose(expand(factor + slope), factor) * (X - root)
        else:
            value = cell.value + choose(slope, 0) * (X - root)
        parts.append(Cell(part.lower, part.upper, value))
    return parts


def _piecewise(expr, lower, upper):
    open_parts, cells = [(lower, upper)], []
    for value, condition in expr.args:
        still_open = []
        for low, high in open_parts:
            for test in truth(condition, low, high):
                if test.value == S.true:
                    cells.append((test.lower, test.upper, value))
                else:
                    still_open.append((test.lower, test.upper))
        open_parts = still_open
    if open_parts:
        low, high = open_parts[0]
        raise DomainError(
            "no branch of the piecewise function applies",
            where=f"{low} < {X} < {high}",
            why="an activation must be defined on the whole line",
            instead="end with a default branch, (value, True)",
        )
    cells = sorted(cells, key=lambda part: _position(part, cells))
    return [new for low, high, value in cells for new in decompose(value, low, high)]


def _position(part, cells):
    """The number of cells certainly to the left of a cell."""
    return sum(compare(other[1], part[0]) in (-1, 0) for other in cells if other is not part)


def truth(condition: Boolean, lower: Expr, upper: Expr) -> list[Cell]:
    """Where a condition on x is true and where false, points left out."""
    if condition in (S.true, S.false):
        return [Cell(lower, upper, condition)]
    if isinstance(condition, (Eq, Ne)):
        return merge(_equality(condition, lower, upper))
    if isinstance(condition, Relational):
        wanted = 1 if condition.rel_op in (">", ">=") else -1
        strict = condition.rel_op in (">", "<")
        parts = _sign_parts(condition.lhs - condition.rhs, lower, upper)
        return merge([Cell(a, b, S(s * wanted > 0 or (s == 0 and not strict))) for a, b, s, _ in parts])
    if isinstance(condition, Not):
        return [Cell(c.lower, c.upper, Not(c.value)) for c in truth(condition.args[0], lower, upper)]
    if isinstance(condition, (And, Or)):
        cells = [Cell(lower, upper, S(isinstance(condition, And)))]
        for part in sorted(condition.args, key=str):
            cells = [
                Cell(new.lower, new.upper, condition.func(cell.value, new.value))
                for cell in cells
                for new in truth(part, cell.lower, cell.upper)
            ]
        return merge(cells)
    raise Unsupported(
        "a condition of this kind is not understood",
        where=str(condition),
        why="conditions are comparisons of functions of x, joined by and, or, not",
        instead="write the condition as comparisons",
    )


def _equality(condition, lower, upper):
    """Equality with a non-constant function holds at single points only, which no integral sees."""
    equal = isinstance(condition, Eq)
    cells = []
    for cell in decompose(condition.lhs - condition.rhs, lower, upper):
        zero = cell.value.is_zero
        if not cell.value.has(X) and zero is None:
            raise undecided(cell.value, "whether it is zero depends on parameters")
        cells.append(Cell(cell.lower, cell.upper, S(bool(zero) == equal)))
    return cells


def _indicator(expr, lower, upper):
    return [Cell(c.lower, c.upper, S.One if c.value == S.true else S.Zero) for c in truth(expr, lower, upper)]


_RULES = (
    (REFUSED, _refuse),
    (Piecewise, _piecewise),
    ((Max, Min), _extremum),
    (Abs, _abs),
    (sign, _sign),
    (Heaviside, _heaviside),
    ((Relational, And, Or, Not), _indicator),
)
