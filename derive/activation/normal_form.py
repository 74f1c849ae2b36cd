"""The normal form of a formula and the algebra of normal forms."""

from __future__ import annotations

from collections.abc import Callable

from sympy import Add, Expr, Pow, S, expand, oo, together

from derive.activation.cells import Cell, overlay, sign_of
from derive.activation.decompose import decompose
from derive.activation.jumps import Jump, jumps
from derive.activation.terms import NormalForm, Term, breakpoints, from_cells, is_ordered, to_piecewise
from derive.program.symbols import X
from derive.records import Unsupported

__all__ = [
    "Jump",
    "NormalForm",
    "Term",
    "add",
    "breakpoints",
    "compose_affine",
    "derivative",
    "is_ordered",
    "jumps",
    "mul",
    "normal_form",
    "power",
    "scale",
    "to_piecewise",
]


def normal_form(expr: Expr) -> NormalForm:
    """The normal form of a SymPy expression in x and parameters.

    Raises Unsupported where a breakpoint or a condition cannot be decided from the assumptions on the
    parameters, DomainError where the expression is undefined on an interval.
    """
    return from_cells(decompose(S(expr)))


def add(first: NormalForm, second: NormalForm) -> NormalForm:
    """f + g."""
    return from_cells(overlay(first.cells, second.cells, lambda a, b: a + b))


def mul(first: NormalForm, second: NormalForm) -> NormalForm:
    """f g; steps whose order is open meet in Max and Min of their thresholds."""
    return from_cells(overlay(first.cells, second.cells, lambda a, b: a * b))


def power(form: NormalForm, exponent: int) -> NormalForm:
    """f**n for an integer n >= 0."""
    return _map(form, lambda value: value**exponent)


def scale(form: NormalForm, factor: Expr) -> NormalForm:
    """factor times f, for a factor free of x."""
    return _map(form, lambda value: factor * value)


def _map(form: NormalForm, function: Callable[[Expr], Expr]) -> NormalForm:
    return from_cells([Cell(c.lower, c.upper, function(c.value)) for c in form.cells])


def compose_affine(form: NormalForm, slope: Expr, offset: Expr) -> NormalForm:
    """x -> f(slope*x + offset), for a slope of known sign other than 0."""
    slope, offset = S(slope), S(offset)
    orientation = sign_of(slope)
    if orientation in (None, 0):
        raise Unsupported(
            "an affine change of variable needs a slope of known sign other than zero",
            where=str(slope),
            why="the sign decides on which side of a breakpoint a piece lies",
            instead="give the parameter a domain that does not contain zero",
        )

    def moved(end: Expr) -> Expr:
        return end * orientation if end in (oo, -oo) else expand((end - offset) / slope)

    cells = []
    for cell in form.cells:
        lower, upper = (cell.lower, cell.upper) if orientation > 0 else (cell.upper, cell.lower)
        cells.append(Cell(moved(lower), moved(upper), cell.value.subs(X, slope * X + offset)))
    return from_cells(cells if orientation > 0 else cells[::-1])


def derivative(form: NormalForm) -> tuple[NormalForm, tuple[Jump, ...]]:
    """The function f' away from breakpoints, and the Dirac parts of f' at the jumps of f."""
    return _map(form, lambda value: _over_one_pole(value.diff(X))), jumps(form)


def _over_one_pole(value: Expr) -> Expr:
    """Summands with a pole at 0 as one quotient: cos(x)/x - sin(x)/x**2 has a value at 0, its summands have none."""
    if isinstance(value, Add) and any(p.base == X and p.exp.is_negative for p in value.atoms(Pow)):
        return together(value)
    return value
