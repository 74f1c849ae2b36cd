"""Pair formulas in c, sin(theta) and roots of the variances, where quotients would divide by what may vanish.

K/sqrt(q1) is c*sqrt(q2), Delta/q1 is q2*sin(theta)**2: right at any variance and in single precision.
"""

from __future__ import annotations

from sympy import Add, Expr, Integer, Mul, Pow, Rational, acos, asin, atan2, sqrt

from derive.emit.function import SINE, SQRT_DELTA
from derive.program.symbols import DELTA, Q1, Q2, C, K

HALF = Rational(1, 2)
LONGEST = 3


def in_roots(expr: Expr) -> Expr:
    """The expression with

    K**a Delta**b q1**m q2**n, m or n < 0, as c**a sin(theta)**(2 b) q1**(m + a/2 + b) q2**(n + a/2 + b),
    asin and acos of c and atan2 of sqrt(Delta) beside K as angles of (c, sin(theta)),
    with f = 1 + B q1 and g = 1 + C q2, f g - B C K**2 as f g (1/f + 1/g - 1/(f g) + B C q1 q2 sin(theta)**2/(f g)),
    sqrt(Delta) as one symbol.
    """
    names = {s.name: s for s in expr.free_symbols}
    given = {names[s.name]: s for s in (C, K, DELTA, Q1, Q2) if s.name in names and names[s.name] != s}
    done: dict[Expr, Expr] = {}
    found = _half_powers(_walk(expr.xreplace(given), done))
    return found.replace(lambda e: isinstance(e, Pow) and e.base == SINE and e.exp == 2, lambda e: (1 - C) * (1 + C))


def _walk(expr: Expr, done: dict[Expr, Expr]) -> Expr:
    if not expr.args:
        return expr
    if expr not in done:
        args = [_walk(arg, done) for arg in expr.args]
        done[expr] = _node(expr if all(a is b for a, b in zip(args, expr.args, strict=True)) else expr.func(*args))
    return done[expr]


def _node(expr: Expr) -> Expr:
    if isinstance(expr, Mul):
        return _product(expr)
    if isinstance(expr, Add):
        return _radicand(expr)
    if isinstance(expr, asin) and expr.args[0] == C:
        return atan2(C, SINE)
    if isinstance(expr, acos) and expr.args[0] == C:
        return atan2(SINE, C)
    if isinstance(expr, atan2):
        return _angle(*expr.args)
    return expr


def _angle(y: Expr, x: Expr) -> Expr:
    """The angle of (x, y), both divided by sqrt(q1*q2) where one is a multiple of sqrt(Delta) and the other of K."""
    smaller = [(part / Q1**HALF / Q2**HALF).xreplace({K: C * sqrt(Q1) * sqrt(Q2)}) for part in (y, x)]
    smaller = [part.replace(lambda e: e.is_Pow and e.base == DELTA, _sine_power) for part in smaller]
    if {y.has(K), x.has(K)} == {True, False} and not any(part.has(Q1, Q2, K, DELTA) for part in smaller):
        return atan2(*smaller)
    return atan2(y, x)


def _sine_power(power: Expr) -> Expr:
    return SINE ** (2 * power.exp) * Q1**power.exp * Q2**power.exp


def _product(expr: Expr) -> Expr:
    powers = dict(expr.as_powers_dict())
    below = [base for base, exponent in powers.items() if exponent.is_negative and _one_variance(base)]
    if not below or not expr.has(K, DELTA):
        return expr
    spread = _spread(powers)
    if spread is not None:
        return spread
    a, b = powers.get(K, Integer(0)), powers.get(DELTA, Integer(0))
    if a + b == 0 or not (a.is_integer and a >= 0 and b.is_Rational and b >= 0):
        return expr
    for gone in (K, DELTA):
        powers.pop(gone, None)
    powers[C], powers[SINE] = powers.get(C, 0) + a, powers.get(SINE, 0) + 2 * b
    for q in (Q1, Q2):
        powers[q] = powers.get(q, 0) + a / 2 + b
    return Mul(*(base**exponent for base, exponent in powers.items()))


def _one_variance(base: Expr) -> bool:
    return len(base.free_symbols & {Q1, Q2}) == 1 and not base.has(K, DELTA, C, SINE)


def _spread(powers: dict[Expr, Expr]) -> Expr | None:
    """A short sum over a function of one variance as a sum of products, each without K and Delta."""
    sums = [base for base, exponent in powers.items() if isinstance(base, Add) and exponent == 1 and base.has(K, DELTA)]
    if len(sums) != 1 or len(sums[0].args) > LONGEST:
        return None
    rest = Mul(*(base**exponent for base, exponent in powers.items() if base != sums[0]))
    terms = [_product(term * rest) for term in sums[0].args]
    if any(term.as_powers_dict().get(q, 0) < 0 or term.has(K, DELTA) for term in terms for q in (Q1, Q2)):
        return None
    return Add(*terms)


def _radicand(expr: Expr) -> Expr:
    """A (1 + B q1 + C q2 + B C Delta) as a product of factors in which no product of variances stands alone."""
    if not expr.has(DELTA) or expr.has(K):
        return expr
    parts = expr.as_coefficients_dict()
    if set(parts) != {Integer(1), Q1, Q2, DELTA} or min(parts.values()) <= 0:
        return expr
    a = parts[Integer(1)]
    b, c = parts[Q1] / a, parts[Q2] / a
    if parts[DELTA] != a * b * c:
        return expr
    first, second = 1 + b * Q1, 1 + c * Q2
    beside = b * c * Q1 * Q2 * SINE**2 / (first * second)
    return a * first * second * (1 / first + 1 / second - 1 / (first * second) + beside)


def _half_powers(expr: Expr) -> Expr:
    def root(power: Pow) -> Expr:
        whole = power.exp - HALF
        return SQRT_DELTA * DELTA**whole if whole >= 0 else DELTA ** (whole + 1) / SQRT_DELTA

    return expr.replace(lambda e: isinstance(e, Pow) and e.base == DELTA and e.exp.is_Rational and e.exp.q == 2, root)
