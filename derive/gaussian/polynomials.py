"""Expressions as polynomials in the Gaussian variables."""

from __future__ import annotations

from math import comb, prod

from sympy import Add, Expr, Integer, Mul, Poly, PolynomialError, Pow, Symbol

from derive.gaussian.atoms import Polynomial

MAX_DEGREE = 400
"""Above it nothing is expanded: a rule that lowers the degree one at a time has no use for it."""


def as_polynomial(expr: Expr, zs: tuple[Symbol, ...]) -> Polynomial | None:
    """The coefficients of a polynomial in zs, or None."""
    if not 0 <= _degree(expr, set(zs)) <= MAX_DEGREE:
        return None
    try:
        return dict(Poly(expr, *zs).as_dict(native=False))
    except PolynomialError:
        return None


def as_affine(expr: Expr, zs: tuple[Symbol, ...]) -> Polynomial | None:
    """The coefficients of an affine function of zs, or None."""
    polynomial = as_polynomial(expr, zs)
    return polynomial if polynomial is not None and all(sum(key) <= 1 for key in polynomial) else None


def _degree(expr: Expr, zs: set[Symbol]) -> int:
    """A bound of the degree read off the tree, -1 for what is no polynomial: nothing is expanded to find out."""
    if expr in zs:
        return 1
    if not expr.free_symbols & zs:
        return 0
    if isinstance(expr, Add | Mul):
        degrees = [_degree(arg, zs) for arg in expr.args]
        if min(degrees) < 0:
            return -1
        return max(degrees) if isinstance(expr, Add) else sum(degrees)
    if isinstance(expr, Pow) and isinstance(expr.exp, Integer) and expr.exp > 0:
        degree = _degree(expr.base, zs)
        return degree * int(expr.exp) if degree >= 0 else -1
    return -1


def written_out(expr: Expr) -> int:
    """How many terms the sums and products of an expression make when multiplied out, like terms not yet gathered."""
    if isinstance(expr, Add):
        return sum(written_out(arg) for arg in expr.args)
    if isinstance(expr, Mul):
        return prod(written_out(arg) for arg in expr.args)
    if isinstance(expr, Pow) and isinstance(expr.exp, Integer) and expr.exp > 0:
        terms, power = written_out(expr.base), int(expr.exp)
        return comb(terms + power - 1, power)
    return 1


__all__ = ["as_affine", "as_polynomial", "written_out"]
