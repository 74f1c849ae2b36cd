"""Pair formulas up to the edge c = +-1: quotients by Delta without cancellation."""

from __future__ import annotations

from sympy import (
    Abs,
    Add,
    Expr,
    Integer,
    Piecewise,
    Poly,
    PolynomialError,
    Symbol,
    asin,
    atan2,
    erf,
    erfc,
    exp,
    expand,
    fraction,
    sqrt,
)

from derive.program.operations.normal_cdf import NormalCdf

PAIR = ("q1", "q2", "K", "Delta")


def edges(expr: Expr) -> Expr:
    """The expression with the quotients in exp and Phi that become 0/0 at Delta = 0 written stably.

    Both rest on sqrt(q1*q2) - |K| = Delta/(sqrt(q1*q2) + |K|). With s the sign of K,

    (A K + B q1 + C q2)/Delta, where A**2 = 4 B C: -(v sqrt(q2) - s t u sqrt(q1))**2/(2 Delta) - s A/(sqrt(q1 q2) + |K|)
    with u = sqrt(-2 B), v = sqrt(-2 C), t the sign of A (a Gaussian exponent at two thresholds), and

    (A K + B q1)/sqrt(q1 Delta) = (s A sqrt(q2) + B sqrt(q1))/sqrt(Delta)
    - s A sqrt(Delta)/(sqrt(q1) (sqrt(q1 q2) + |K|)).

    And asin(n/d) is atan2(n, sqrt(d**2 - n**2)) where that is a sum of positive terms once K**2 = q1 q2 - Delta.
    """
    symbols = {symbol.name: symbol for symbol in expr.free_symbols}
    if "K" not in symbols:
        return expr
    pair = [symbols.get(name, Symbol(name, positive=True)) for name in PAIR]
    expr = _with_delta(expr, *pair)
    replaced: dict[Expr, Expr] = {}
    for node in expr.atoms(asin):
        stable = _angle(node.args[0], *pair)
        if stable is not None:
            replaced[node] = stable
    for node in expr.atoms(exp):
        stable = _quadratic(node.args[0], *pair)
        if stable is None:
            stable = _square(node.args[0], *pair)
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


def _angle(argument: Expr, q1: Expr, q2: Expr, k: Expr, delta: Expr) -> Expr | None:
    """asin of the argument as atan2: (1 + q1)(1 + q2) - K**2 = 1 + q1 + q2 + Delta does not cancel at c = +-1."""
    numerator, denominator = fraction(argument)
    inside = expand(expand(denominator**2 - numerator**2).subs(k**2, q1 * q2 - delta))
    if inside == 0 or inside.has(k) or not all(term.is_positive for term in Add.make_args(inside)):
        return None
    return atan2(numerator, sqrt(inside))


def _quadratic(argument: Expr, q1: Expr, q2: Expr, k: Expr, delta: Expr) -> Expr | None:
    terms = _coefficients(argument * delta, k, q1, q2)
    if terms is None or argument.has(sqrt(delta)) or set(terms) != {(1, 0, 0), (0, 1, 0), (0, 0, 1)}:
        return None
    a, b, c = terms[(1, 0, 0)], terms[(0, 1, 0)], terms[(0, 0, 1)]
    if any(value.has(delta) for value in (a, b, c)) or expand(a**2 - 4 * b * c) != 0:
        return None
    s = _sign(k)
    gap = sqrt(-2 * c) * sqrt(q2) - s * _sign(a) * sqrt(-2 * b) * sqrt(q1)
    return -(gap**2) / (2 * delta) - s * a / (sqrt(q1) * sqrt(q2) + Abs(k))


def _square(argument: Expr, q1: Expr, q2: Expr, k: Expr, delta: Expr) -> Expr | None:
    """-(A K + B q1)**2/(2 q1 Delta) as half the square of the stable linear quotient."""
    for near, far in ((q1, q2), (q2, q1)):
        terms = _coefficients(argument * delta * near, k, near)
        if terms is None or not set(terms) <= {(2, 0), (1, 1), (0, 2)} or (2, 0) not in terms or argument.has(far):
            continue
        first, mixed, last = (terms.get(powers, Integer(0)) for powers in ((2, 0), (1, 1), (0, 2)))
        if not first.has(delta, far) and expand(mixed**2 - 4 * first * last) == 0 and first.is_negative:
            a = sqrt(-2 * first)
            return -(_ratio(a, -mixed / a, near, far, q1, q2, k, delta) ** 2) / 2
    return None


def _with_delta(expr: Expr, q1: Expr, q2: Expr, k: Expr, delta: Expr) -> Expr:
    """The expression with 1 - K**2/(q1 q2), as derivatives of Phi_2 bring it, written Delta/(q1 q2)."""
    replaced = {}
    for node in expr.atoms(Add):
        if len(node.args) == 2 and node.has(k):
            number, rest = node.as_coeff_Add()
            if number != 0 and rest == -number * k**2 / (q1 * q2):
                replaced[node] = number * delta / (q1 * q2)
    return expr.xreplace(replaced)


def _linear(argument: Expr, q1: Expr, q2: Expr, k: Expr, delta: Expr) -> Expr | None:
    for near, far in ((q1, q2), (q2, q1)):
        terms = _coefficients(argument * sqrt(delta) * sqrt(near), k, near)
        if terms is None or set(terms) != {(1, 0), (0, 1)}:
            continue
        a, b = terms[(1, 0)], terms[(0, 1)]
        if a.has(delta, far) or b.has(delta, far):
            continue
        return _ratio(a, b, near, far, q1, q2, k, delta)
    return None


def _ratio(a: Expr, b: Expr, near: Expr, far: Expr, q1: Expr, q2: Expr, k: Expr, delta: Expr) -> Expr:
    """(a K + b near)/sqrt(near Delta)."""
    s = _sign(k)
    first = (s * a * sqrt(far) + b * sqrt(near)) / sqrt(delta)
    return first - s * a * sqrt(delta) / (sqrt(near) * (sqrt(q1) * sqrt(q2) + Abs(k)))


def _sign(k: Expr) -> Expr:
    """The sign of K, 1 at 0."""
    return Piecewise((-1, k < 0), (1, True))
