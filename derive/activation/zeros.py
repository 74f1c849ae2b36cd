"""The real zeros of an expression in closed form."""

from __future__ import annotations

from sympy import Expr, Mul, Poly, Pow, S, asinh, atan, cos, erf, exp, pi, sin, sinh, sqrt, tanh

from derive.activation.cells import compare, sign_of
from derive.activation.signs import INVERSES, generator
from derive.program.symbols import X


def real_zeros(expr: Expr) -> list[Expr] | None:
    """All real zeros of a function of x without kinks, in closed form, or None if they are not known.

    Also a list of points of which some may be no zeros where a parameter makes the function degenerate.
    """
    if not expr.has(X):
        return [] if sign_of(expr) in (1, -1) else None
    if expr.is_positive or expr.is_negative or isinstance(expr, exp):
        return []
    if isinstance(expr, Mul):
        found: list[Expr] = []
        for factor in expr.args:
            zeros = real_zeros(factor)
            if zeros is None:
                return None
            found += zeros
        return _distinct(found)
    if isinstance(expr, Pow) and expr.exp.is_positive and not expr.exp.has(X):
        return real_zeros(expr.base)
    if expr.func in (tanh, sinh, asinh, atan, erf):
        return real_zeros(expr.args[0])
    return _of_polynomial(expr) if expr.is_polynomial(X) else _through_generator(expr)


def first_zero(expr: Expr) -> Expr | None:
    """One of the infinitely many zeros of a sine or cosine of an affine argument, or None."""
    if not isinstance(expr, (sin, cos)) or not expr.args[0].is_polynomial(X):
        return None
    inner = Poly(expr.args[0], X)
    if inner.degree() != 1 or not sign_of(inner.LC()):
        return None
    return ((pi / 2 if isinstance(expr, cos) else S.Zero) - inner.TC()) / inner.LC()


def _of_polynomial(expr: Expr) -> list[Expr] | None:
    poly = Poly(expr, X)
    if not sign_of(poly.LC()):
        return None
    if poly.degree() == 1:
        return [-poly.TC() / poly.LC()]
    if poly.degree() == 2:
        a, b, c = poly.all_coeffs()
        gap = sign_of(b**2 - 4 * a * c)
        if gap == -1:
            return []
        if gap is not None:
            return _distinct([(-b - sqrt(b**2 - 4 * a * c)) / (2 * a), (-b + sqrt(b**2 - 4 * a * c)) / (2 * a)])
    if poly.domain.is_ZZ or poly.domain.is_QQ:
        return _distinct(poly.real_roots())
    return None


def _through_generator(expr: Expr) -> list[Expr] | None:
    """Zeros of f(g(x)), g an increasing function of an affine argument."""
    outer, inner = generator(expr)
    if inner is None or not inner.args[0].is_polynomial(X) or Poly(inner.args[0], X).degree() != 1:
        return None
    affine = Poly(inner.args[0], X)
    heights = real_zeros(outer)
    if heights is None or not sign_of(affine.LC()):
        return None
    inverse, low, high = INVERSES[inner.func]
    found = []
    for height in heights:
        above, below = compare(low, height), compare(height, high)
        if above in (0, 1) or below in (0, 1):
            continue
        if above is None or below is None:
            return None
        found.append((inverse(height) - affine.TC()) / affine.LC())
    return found


def _distinct(points: list[Expr]) -> list[Expr]:
    return list(dict.fromkeys(points))
