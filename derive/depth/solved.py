"""Fixed points of the variance map as formulas in sigma_w and sigma_b, where V(q) = q is solved in closed form."""

from __future__ import annotations

from sympy import Expr, LambertW, Poly, Symbol, exp, expand, sqrt

from derive.depth.edge import closed_forms
from derive.program.symbols import Q

Y = Symbol("_y", real=True)


def formulas(variance: Expr) -> tuple[Expr, ...]:
    """Every q with V(q) = q as an expression; () where the equation is not of a solved form, or every q solves it.

    V a polynomial in q of degree 2 at most; or V = a + b q + c exp(-k q): with q = y/k + a/(1 - b) it is
    y e^y = z, solved by both real branches of Lambert's W (DLMF 4.13). Real positive values are the fixed points.
    """
    closed = closed_forms(variance)
    if closed is None:
        return ()
    equation = expand(closed[0] - Q)
    if equation.is_polynomial(Q):
        return _of_polynomial(equation)
    return _of_exponential(equation)


def _of_polynomial(equation: Expr) -> tuple[Expr, ...]:
    degree = Poly(equation, Q).degree() if equation.has(Q) else 0
    c = [equation.coeff(Q, k) for k in range(3)]
    if degree == 1:
        return (-c[0] / c[1],)
    if degree == 2:
        root = sqrt(c[1] ** 2 - 4 * c[0] * c[2])
        return (-c[1] - root) / (2 * c[2]), (-c[1] + root) / (2 * c[2])
    return ()


def _of_exponential(equation: Expr) -> tuple[Expr, ...]:
    """a + b q + c exp(-k q) = 0."""
    waves = equation.atoms(exp)
    if len(waves) != 1:
        return ()
    wave = waves.pop()
    k = expand(-wave.args[0] / Q)
    c = equation.coeff(wave)
    rest = expand(equation - c * wave)
    a, b = rest.coeff(Q, 0), rest.coeff(Q, 1)
    if k.has(Q) or c.has(Q) or k == 0 or b == 0 or expand(rest - a - b * Q) != 0:
        return ()
    z = -c * k / b * exp(k * a / b)
    # the equation at q = y/k - a/b, divided by b/k exp(-y), is y exp(y) - z
    here = equation.xreplace({wave: exp(-Y) * exp(k * a / b)}).subs(Q, Y / k - a / b)
    if expand(expand(here * k / b * exp(Y), deep=True) - (Y * exp(Y) - z)) != 0:
        return ()
    return tuple(LambertW(z, branch) / k - a / b for branch in (0, -1))


__all__ = ["formulas"]
