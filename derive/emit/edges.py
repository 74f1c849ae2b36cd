"""Pair formulas up to the edge c = +-1: quotients by Delta without cancellation."""

from __future__ import annotations

from sympy import Abs, Expr, Piecewise, Poly, PolynomialError, Symbol, erf, erfc, exp, expand, sign, sqrt

from derive.program.operations.normal_cdf import NormalCdf

PAIR = ("q1", "q2", "K", "Delta")


def edges(expr: Expr) -> Expr:
    """The expression with the quotients in exp and Phi that become 0/0 at Delta = 0 written stably.

    Both rest on sqrt(q1*q2) - |K| = Delta/(sqrt(q1*q2) + |K|). With s the sign of K,

    (A K + B q1 + C q2)/Delta, where A**2 = 4 B C: -(v sqrt(q2) - s t u sqrt(q1))**2/(2 Delta) - s A/(sqrt(q1 q2) + |K|)
    with u = sqrt(-2 B), v = sqrt(-2 C), t the sign of A (a Gaussian exponent at two thresholds), and

    (A K + B q1)/sqrt(q1 Delta) = (s A sqrt(q2) + B sqrt(q1))/sqrt(Delta)
    - s A sqrt(Delta)/(sqrt(q1) (sqrt(q1 q2) + |K|)).
    """
    symbols = {symbol.name: symbol for symbol in expr.free_symbols}
    if not {"K", "Delta"} <= symbols.keys():
        return expr
    pair = [symbols.get(name, Symbol(name, positive=True)) for name in PAIR]
    replaced = {}
    for node in expr.atoms(exp):
        stable = _quadratic(node.args[0], *pair)
        if stable is not None:
            replaced[node] = exp(stable)
    for node in expr.atoms(NormalCdf, erf, erfc):
        stable = _linear(node.args[0], *pair)
        if stable is not None:
            replaced[node] = type(node)(stable)
    return expr.xreplace(replaced)


def _coefficients(polynomial: Expr, *variables: Expr) -> dict[tuple[int, ...], Expr] | None:
    """Coefficients of a polynomial in the pair's symbols, None if it is none."""
    try:
        found = Poly(expand(polynomial), *variables)
    except PolynomialError:
        return None
    if any(coefficient.has(*variables) for coefficient in found.coeffs()):
        return None
    return dict(found.terms())


def _quadratic(argument: Expr, q1: Expr, q2: Expr, k: Expr, delta: Expr) -> Expr | None:
    terms = _coefficients(argument * delta, k, q1, q2)
    if terms is None or argument.has(sqrt(delta)) or set(terms) != {(1, 0, 0), (0, 1, 0), (0, 0, 1)}:
        return None
    a, b, c = terms[(1, 0, 0)], terms[(0, 1, 0)], terms[(0, 0, 1)]
    if any(value.has(delta) for value in (a, b, c)) or expand(a**2 - 4 * b * c) != 0:
        return None
    s = _sign(k)
    gap = sqrt(-2 * c) * sqrt(q2) - s * sign(a) * sqrt(-2 * b) * sqrt(q1)
    return -(gap**2) / (2 * delta) - s * a / (sqrt(q1) * sqrt(q2) + Abs(k))


def _linear(argument: Expr, q1: Expr, q2: Expr, k: Expr, delta: Expr) -> Expr | None:
    for near, far in ((q1, q2), (q2, q1)):
        terms = _coefficients(argument * sqrt(delta) * sqrt(near), k, near)
        if terms is None or set(terms) != {(1, 0), (0, 1)}:
            continue
        a, b = terms[(1, 0)], terms[(0, 1)]
        if a.has(delta, far) or b.has(delta, far):
            continue
        s = _sign(k)
        first = (s * a * sqrt(far) + b * sqrt(near)) / sqrt(delta)
        return first - s * a * sqrt(delta) / (sqrt(near) * (sqrt(q1) * sqrt(q2) + Abs(k)))
    return None


def _sign(k: Expr) -> Expr:
    """The sign of K, 1 at 0."""
    return Piecewise((-1, k < 0), (1, True))
