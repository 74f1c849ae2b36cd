"""Where a function of x is positive and where negative: exact, by intervals."""

from __future__ import annotations

from itertools import pairwise

from sympy import (
    Abs,
    Add,
    Dummy,
    Expr,
    Integer,
    Mul,
    Poly,
    Pow,
    Rational,
    S,
    asinh,
    atan,
    atanh,
    cancel,
    cos,
    default_sort_key,
    erf,
    erfinv,
    exp,
    expand,
    igcd,
    log,
    oo,
    pi,
    real_roots,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
)
from sympy.polys.polyerrors import PolynomialError

from derive.activation.cells import Cell, compare, merge, overlay, sign_of, split
from derive.program.symbols import X
from derive.records import Unsupported


def sign_cells(expr: Expr, lower: Expr = -oo, upper: Expr = oo) -> list[Cell]:
    """The sign (-1, 0, 1) of a function without kinks on each part of (lower, upper), points left out.

    Raises Unsupported where the symbols leave a sign open or a root has no closed form.
    """
    for rule in (_constant, _by_assumptions, _polynomial, _product, _odd_increasing, _one_generator):
        cells = rule(expr, lower, upper)
        if cells is not None:
            return merge(cells)
    if any(wave.has(X) for wave in expr.atoms(sin, cos)):
        raise undecided(expr, "a wave changes sign again and again: breakpoints must be finitely many and exact")
    raise undecided(expr)


def undecided(expr: Expr, reason: str = "") -> Unsupported:
    """The refusal of a condition whose sign is open."""
    names = sorted(symbol.name for symbol in expr.free_symbols - {X})
    advice = (
        f"give {', '.join(names)} a number or a sign, or write out the pieces, as in `x if x > 0 else a*x`"
        if names
        else "write the breakpoints as numbers"
    )
    return Unsupported(
        "the sign of a condition cannot be decided",
        where=str(expr),
        why=reason or "breakpoints must be exact, and this expression has no root in closed form",
        instead=advice,
    )


def open_line(expr: Expr) -> tuple[Expr, Expr] | None:
    """(m, r) if expr = m (x - r), the sign of m is open and r is no quotient of parameters; else None."""
    if not expr.has(X) or not expr.is_polynomial(X) or Poly(expr, X).degree() != 1:
        return None
    slope, offset = Poly(expr, X).all_coeffs()
    root = cancel(-offset / slope)
    return (slope, root) if sign_of(slope) is None and not root.as_numer_denom()[1].free_symbols else None


def _constant(expr, lower, upper):
    if expr.has(X):
        return None
    sign = sign_of(expr)
    if sign is None:
        raise undecided(expr, "its sign depends on parameters whose domains leave it open")
    return [Cell(lower, upper, Integer(sign))]


def located(expr: Expr, lower: Expr, upper: Expr) -> Expr:
    """The expression with x replaced by a symbol that carries the sign of the interval."""
    if compare(lower, S.Zero) in (0, 1):
        return expr.xreplace({X: Dummy("x", positive=True)})
    if compare(upper, S.Zero) in (-1, 0):
        return expr.xreplace({X: Dummy("x", negative=True)})
    return expr


def _by_assumptions(expr, lower, upper):
    known = located(expr, lower, upper)
    # a function without kinks that is >= 0 and not identically 0 is positive almost everywhere
    if known.is_nonnegative:
        return [Cell(lower, upper, S.One)]
    if known.is_nonpositive:
        return [Cell(lower, upper, S.NegativeOne)]
    return None


def _product(expr, lower, upper):
    if isinstance(expr, Mul):
        cells = [Cell(lower, upper, S.One)]
        for factor in expr.args:
            cells = overlay(cells, sign_cells(factor, lower, upper), lambda a, b: a * b)
        return cells
    if isinstance(expr, Pow) and expr.exp.is_integer and not expr.exp.has(X):
        if expr.exp.is_even:
            return [Cell(lower, upper, S.One)]
        return sign_cells(expr.base, lower, upper) if expr.exp.is_odd else None
    return None


def _odd_increasing(expr, lower, upper):
    if expr.func in (tanh, sinh, asinh, atan, erf) and expr.args[0].has(X):
        return sign_cells(expr.args[0], lower, upper)
    return None


def _polynomial(expr, lower, upper):
    if not expr.is_polynomial(X):
        return None
    poly = Poly(expr, X)
    if poly.is_zero:
        return [Cell(lower, upper, S.Zero)]
    if poly.degree() <= 2:
        return _low_degree(poly, expr, lower, upper)
    step = igcd(0, *(power for (power,) in poly.monoms()))
    if step > 1 and (step % 2 or compare(lower, S.Zero) in (0, 1)):
        return _in_power(poly, step, lower, upper)
    if expr.free_symbols != {X}:
        return None
    try:
        roots = sorted(set(real_roots(poly)), key=lambda root: root.evalf(30))
    except (NotImplementedError, PolynomialError) as error:
        raise undecided(expr) from error
    points = _between(roots)
    return split(lower, upper, roots, [Integer(_sure_sign(poly.as_expr().subs(X, p), expr)) for p in points])


def _in_power(poly, step, lower, upper):
    """A polynomial in x**step, where that is an increasing function."""
    outer = Add(*(factor * X ** (power // step) for (power,), factor in poly.terms()))
    cells = sign_cells(outer, -oo if step % 2 else S.Zero, oo)
    roots = []
    for cell in cells[:-1]:
        sign = sign_of(cell.upper)
        if sign is None:
            raise undecided(poly.as_expr(), f"the sign of {cell.upper} is open")
        roots.append(sign * (sign * cell.upper) ** Rational(1, step))
    return split(lower, upper, roots, [cell.value for cell in cells])


def _low_degree(poly, expr, lower, upper):
    coefficients = poly.all_coeffs()
    if poly.degree() == 0:
        return _constant(coefficients[0], lower, upper)
    lead = sign_of(coefficients[0])
    if lead is None:
        if isinstance(expr, (Mul, Pow)):
            return None
        raise undecided(expr, f"the sign of {coefficients[0]} is open")
    if poly.degree() == 1:
        return split(lower, upper, [expand(-coefficients[1] / coefficients[0])], [Integer(-lead), Integer(lead)])
    a, b, c = coefficients
    discriminant = expand(b**2 - 4 * a * c)
    if discriminant.is_nonpositive:
        return [Cell(lower, upper, Integer(lead))]
    if not discriminant.is_nonnegative:
        if isinstance(expr, (Mul, Pow)):
            return None
        raise undecided(expr, f"the sign of its discriminant {discriminant} is open")
    half = sqrt(discriminant) / (2 * Abs(a))
    roots = [-b / (2 * a) - half, -b / (2 * a) + half]
    return split(lower, upper, roots, [Integer(lead), Integer(-lead), Integer(lead)])


def _between(roots: list[Expr]) -> list[Rational]:
    """A rational point in each gap of ascending real numbers."""
    if not roots:
        return [S.Zero]
    near = [Rational(str(root.evalf(30))) for root in roots]
    middle = [(a + b) / 2 for a, b in pairwise(near)]
    return [near[0] - 1, *middle, near[-1] + 1]


def _sure_sign(value: Expr, expr: Expr) -> int:
    sign = sign_of(value)
    if sign is None:
        raise undecided(expr)
    return sign


INVERSES = {
    exp: (log, S.Zero, oo),
    tanh: (atanh, S.NegativeOne, S.One),
    atan: (tan, -pi / 2, pi / 2),
    sinh: (asinh, -oo, oo),
    asinh: (sinh, -oo, oo),
    erf: (erfinv, S.NegativeOne, S.One),
}
"""Increasing functions of the whole line: inverse and range."""


def _one_generator(expr, lower, upper):
    """A function of one increasing function of an affine argument."""
    outer, inside = generator(expr)
    if inside is None or not inside.args[0].is_polynomial(X):
        return None
    inner = Poly(inside.args[0], X)
    if inner.degree() != 1:
        return None
    inverse, low, high = INVERSES[inside.func]
    cells = sign_cells(outer, low, high)
    if any(compare(low, cell.upper) != -1 or compare(cell.upper, high) != -1 for cell in cells[:-1]):
        return None  # whether the function takes the value at all is open
    slope, offset = inner.all_coeffs()
    orientation = sign_of(slope)
    if orientation is None:
        raise undecided(expr, f"the sign of {slope} is open")
    roots = [(inverse(cell.upper) - offset) / slope for cell in cells[:-1]]
    values = [cell.value for cell in cells]
    if orientation < 0:
        roots, values = roots[::-1], values[::-1]
    return split(lower, upper, roots, values)


def generator(expr: Expr) -> tuple[Expr, Expr] | tuple[None, None]:
    """(f as an expression in x, g) with expr = f(g(x)) and g in INVERSES, or (None, None)."""
    stand_in = Dummy(real=True)
    for part in sorted(expr.atoms(*INVERSES), key=default_sort_key):
        outer = expr.xreplace({part: stand_in})
        if part.has(X) and not outer.has(X):
            return outer.xreplace({stand_in: X}), part
    poly = expr.as_poly() if isinstance(expr, (Add, Mul, Pow)) else None  # exp(2*x) is the square of exp(x)
    parts = [g for g in poly.gens if g.has(X)] if poly is not None else []
    if poly is not None and len(parts) == 1 and parts[0].func in INVERSES:
        return poly.as_expr(*(X if g == parts[0] else g for g in poly.gens)), parts[0]
    return None, None
