"""Closed forms that are sums of exponentials of the law, such as those of waves, in a form that keeps its digits.

Of one variable they are polynomials in E = exp(l q), and the factors E - 1 are taken out, which expm1 gives. Of a pair,
E f(u) g(v) = E f(u) E g(v) + the rest, in which every exponential of the covariance meets its value at covariance 0:
exp(s + k) + exp(s - k) - 2 exp(s) = (exp((s + k)/2) - exp((s - k)/2))**2, and differences of two exponentials are an
operation of their own.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache

from sympy import Add, Expr, Integer, Mul, Poly, Symbol, cancel, exp, gcd

from derive.gaussian import numbers
from derive.gaussian.factors import pair_factors
from derive.gaussian.node import GaussianE, single
from derive.program.symbols import DELTA, Q1, Q2, K, Q

Groups = dict[Expr, dict[Expr, Expr]]


@lru_cache(maxsize=128)
def steady(node: GaussianE, closed: Expr) -> Expr | None:
    """An expression equal to the closed form of a canonical node; None where that is no sum of exponentials."""
    found = _single(closed) if node.cov.rows == 1 else _pair(node, closed)
    return found if found is not None and _equal(found, closed) else None


def _terms(expr: Expr, law: tuple[Symbol, ...]) -> list[tuple[Expr, Expr]] | None:
    """Coefficients and exponents of a sum of polynomials times exponentials of polynomials in the law, else None."""
    found = []
    for term in Add.make_args(expr.expand()):
        parts = Mul.make_args(term)
        powers = [part.args[0] for part in parts if isinstance(part, exp)]
        rest = Mul(*(part for part in parts if not isinstance(part, exp)))
        exponent = Add(*powers).expand()
        if not all(e.is_polynomial(*law) for e in (rest, exponent)) or rest.has(exp):
            return None
        found.append((rest, exponent))
    return found if any(exponent != 0 for _, exponent in found) else None


def _single(closed: Expr) -> Expr | None:
    terms = _terms(closed, (Q,))
    if terms is None:
        return None
    rates = [(exponent / Q).expand() for _, exponent in terms]
    unit = Integer(0)
    for rate in rates:
        unit = gcd(unit, rate)
    if unit == 0 or unit.has(Q) or any(not (rate / unit).cancel().is_Integer for rate in rates):
        return None
    steps = [int((rate / unit).cancel()) for rate in rates]
    if max(steps) > 0 and min(steps) < 0:
        return None
    sign = 1 if max(steps) > 0 else -1
    e = Symbol("_e", positive=True)
    by_power: dict[Expr, Expr] = defaultdict(lambda: Integer(0))
    for (coefficient, _), step in zip(terms, steps, strict=True):
        for (power,), number in Poly(coefficient, Q).terms():
            by_power[Q**power] += number * e ** abs(step)
    return Add(*(power * _less_one(poly, e, exp(sign * unit * Q)) for power, poly in by_power.items()))


def _less_one(polynomial: Expr, e: Symbol, value: Expr) -> Expr:
    """A polynomial in e as (e - 1)**m times the rest, at e = value; the rest by Horner's rule in e - 1."""
    y = Symbol("_y")
    around = Poly(polynomial.subs(e, 1 + y).expand(), y)
    low = min((power for (power,), _ in around.terms()), default=0)
    total = Integer(0)
    for power in range(around.degree(), low - 1, -1):
        total = total * y + around.coeff_monomial(y**power)
    return cancel(total).subs(y, value - 1) * (value - 1) ** low if around != 0 else Integer(0)


def _pair(node: GaussianE, closed: Expr) -> Expr | None:
    if closed.has(DELTA):
        return None
    terms = _terms(closed, (Q1, Q2, K))
    found = [numbers.closed_form(single(f, q)) for f, q in zip(pair_factors(node), (Q1, Q2), strict=True)]
    means = [mean for mean in found if mean is not None]
    if terms is None or len(means) < 2:
        return None
    steadied = [_single(mean.subs(q, Q)) for mean, q in zip(means, (Q1, Q2), strict=True)]
    ready = [(s or m).subs(Q, q) for s, m, q in zip(steadied, means, (Q1, Q2), strict=True)]
    at_zero = _terms(means[0] * means[1], (Q1, Q2, K)) or [(means[0] * means[1], Integer(0))]
    groups: Groups = defaultdict(lambda: defaultdict(lambda: Integer(0)))
    for coefficient, exponent in terms:
        without = exponent.subs(K, 0)
        groups[without][(exponent - without).expand()] += coefficient
    total = ready[0] * ready[1]
    for coefficient, exponent in at_zero:
        groups[exponent][Integer(0)] -= coefficient
    for without, members in groups.items():
        total += _group(without, dict(members))
    return total


def _group(without: Expr, members: dict[Expr, Expr]) -> Expr:
    """The sum of c exp(without + k) over k -> c, with 1 taken from each exponential of k."""
    total, todo = Add(*members.values()).expand() * exp(without), {k: c for k, c in members.items() if k != 0}
    while todo:
        k, c = todo.popitem()
        other = todo.pop(-k, Integer(0))
        up, down = exp((without + k) / 2), exp((without - k) / 2)
        even, odd = ((c + other) / 2).expand(), ((c - other) / 2).expand()
        total += even * (up - down) ** 2 + odd * (exp(without + k) - exp(without - k))
    return total


def _equal(one: Expr, two: Expr) -> bool:
    """Whether the difference is 0 as a polynomial in its exponentials."""
    difference = (one - two).expand(power_exp=False)
    difference = difference.replace(lambda e: isinstance(e, exp), lambda e: exp(e.args[0].expand())).expand()
    return difference == 0


__all__ = ["steady"]
