"""Powers of x**2 + a and of its square root, on the line or half of it: a recurrence from three integrals."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any

from sympy import Add, Expr, Heaviside, Integer, Mul, Poly, Pow, factor_list

from derive.gaussian.closed import Closed, constant, monomial
from derive.gaussian.node import GaussianE
from derive.gaussian.orthants import ratio
from derive.gaussian.rule import Rule
from derive.gaussian.scalars import Scalars
from derive.gaussian.special import NormalCdf, ScaledBesselK0, ScaledBesselK1
from derive.gaussian.summands import split_radicals, summands
from derive.gaussian.tidy import tidy
from derive.program.symbols import X

HIGHEST = 24
"""Higher powers of x or of the square root are left to enclosures."""


@dataclass(frozen=True)
class Term:
    """coefficient * x**degree * (x**2 + a)**(k/2), on the side of 0 that `side` names (0: on the line)."""

    coefficient: Expr
    degree: int
    k: int
    a: Expr | None
    side: int


def rewrite(node: GaussianE) -> Expr | None:
    """The closed form where every summand is such a term."""
    if node.cov.rows != 1 or not node.mean.is_zero_matrix or node.body.free_symbols & node.cov.free_symbols:
        return None
    q, found = node.cov[0, 0], []
    for summand in summands(node):
        term = _term(summand.xreplace({node.variables[0]: X}))
        if term is None:
            return None
        found.append(term)
    pieces = [(term, *split_radicals(part)) for term in found for part in Add.make_args(term.coefficient)]
    scalars = Scalars([q, *[c for term, rest, roots in pieces for c in (rest, *roots, term.a) if c is not None]])
    total = Closed(scalars, {})
    for term, rest, roots in pieces:
        value = _mean(term, scalars.lift(q), scalars)
        if value is None:
            return None
        factor = constant(scalars, scalars.lift(rest))
        for root in roots:
            factor = factor * monomial(scalars, *scalars.root(scalars.lift(root)))
        total = total + factor * value
    return tidy(total)


def _term(summand: Expr) -> Term | None:
    coefficient, rest = summand.as_independent(X, as_Add=False)
    degree, k, side, shift = 0, 0, 0, None
    for factor in Mul.make_args(rest):
        base, power = (factor.base, factor.exp) if isinstance(factor, Pow) else (factor, Integer(1))
        if isinstance(factor, Heaviside):
            side = 1 if factor.args[0] == X else -1 if factor.args[0] == -X else 0
            if not side:
                return None
        elif base == X and power.is_Integer and power.is_positive:
            degree += int(power)
        else:
            found = _radicand(base)
            if found is None or not (2 * power).is_Integer or (shift is not None and shift != found[1]):
                return None
            lead, shift, count = found
            coefficient, k = coefficient * lead**power, k + int(2 * power) * count
    if not all(abs(n) <= HIGHEST for n in (degree, k)):
        return None
    return Term(coefficient, degree, k, shift, side)


def _radicand(base: Expr) -> tuple[Expr, Expr, int] | None:
    """(b, a, n) with base = b (x**2 + a)**n and a, b > 0."""
    if not base.is_polynomial(X):
        return None
    lead, factors = factor_list(base, X)
    if len(factors) != 1:
        return None
    polynomial, count = Poly(factors[0][0], X), factors[0][1]
    if polynomial.degree() != 2 or polynomial.coeff_monomial(X) != 0:
        return None
    b = polynomial.LC()
    lead, a = lead * b**count, polynomial.coeff_monomial(1) / b
    return (lead, a, count) if lead.is_positive and a.is_positive else None


def _mean(term: Term, q: Any, scalars: Scalars) -> Closed | None:
    """E x**degree (x**2 + a)**(k/2) on the line or the half-line, x**2 being (x**2 + a) - a."""
    if term.side == 0 and term.degree % 2:
        return constant(scalars, scalars.zero)
    a = scalars.zero if term.a is None else scalars.lift(term.a)
    half, odd = divmod(term.degree, 2)
    total = Closed(scalars, {})
    for j in range(half + 1):
        value = (_on_half if odd else _on_line)(term.k + 2 * j, a, q, scalars)
        if value is None:
            return None
        total = total + constant(scalars, comb(half, j) * (-a) ** (half - j)) * value
    if odd:
        return total * constant(scalars, scalars.field(term.side))
    return total * constant(scalars, scalars.one / 2) if term.side else total


def _on_line(k: int, a, q, scalars: Scalars) -> Closed:
    """J_k = E (x**2 + a)**(k/2): J_{k+2} = (a + q (1 + k)) J_k - q k a J_{k-2}."""
    if k % 2:
        low, high, start = *_bessel(a, q, scalars), -1
    elif k >= 0:
        low, high, start = constant(scalars, scalars.one), constant(scalars, a + q), 0
    else:
        low, high, start = _mills(a, q, scalars), constant(scalars, scalars.one), -2
    while start + 2 < k:
        n = start + 2
        low, high = high, constant(scalars, a + q * (1 + n)) * high + constant(scalars, -q * n * a) * low
        start += 2
    while start > k:
        n = start
        before = constant(scalars, (a + q * (1 + n)) / (q * n * a)) * low
        low, high, start = before + constant(scalars, -scalars.one / (q * n * a)) * high, low, start - 2
    return low if start == k else high


def _on_half(k: int, a, q, scalars: Scalars) -> Closed | None:
    """H_k = E x (x**2 + a)**(k/2) 1{x > 0}: H_k = q k H_{k-2} + q a**(k/2) p(0)."""
    if k % 2 == 0 and k < 0:
        return None  # an exponential integral
    face = monomial(scalars, *scalars.root(q / (2 * scalars.pi)))
    if k % 2 == 0:
        value, start = face, 0
    else:
        value, start = _tail(a, q, scalars), -1
    while start < k:
        start += 2
        value = constant(scalars, q * start) * value + _power(start, a, scalars) * face
    while start > k:
        rest = value + constant(scalars, -scalars.one) * _power(start, a, scalars) * face
        value, start = constant(scalars, scalars.one / (q * start)) * rest, start - 2
    return value


def _power(k: int, a, scalars: Scalars) -> Closed:
    """a**(k/2)."""
    whole, odd = divmod(k, 2)
    power = constant(scalars, a**whole)
    return power * monomial(scalars, *scalars.root(a)) if odd else power


def _tail(a, q, scalars: Scalars) -> Closed:
    """exp(a/(2 q)) Phi(-sqrt(a/q)) = E x (x**2 + a)**(-1/2) 1{x > 0}."""
    return monomial(scalars, scalars.one, exponent=a / (2 * q), special=NormalCdf(-ratio(a, a * q, scalars)))


def _mills(a, q, scalars: Scalars) -> Closed:
    """E 1/(x**2 + a) = sqrt(2 pi/(a q)) exp(a/(2 q)) Phi(-sqrt(a/q))."""
    return monomial(scalars, *scalars.root(2 * scalars.pi / (a * q))) * _tail(a, q, scalars)


def _bessel(a, q, scalars: Scalars) -> tuple[Closed, Closed]:
    """E (x**2 + a)**(-1/2) and E (x**2 + a)**(1/2), by k_n = exp(t) K_n(t) at t = a/(4 q)."""
    root = monomial(scalars, *scalars.root(scalars.one / (2 * scalars.pi * q)))
    t = scalars.lower(a / (4 * q))
    zeroth, first = (monomial(scalars, scalars.one, special=head(t)) for head in (ScaledBesselK0, ScaledBesselK1))
    return root * zeroth, root * constant(scalars, a / 2) * (zeroth + first)


RULE = Rule(
    name="algebraic",
    order=-3,
    statement=r"J_k=\mathbb{E}(x^2+a)^{k/2}:\quad J_{k+2}=(a+q(1+k))J_k-qka\,J_{k-2},\quad J_0=1,\;"
    r"J_{-2}=\sqrt{\tfrac{2\pi}{aq}}\,e^{a/2q}\,\Phi(-\sqrt{a/q}),\;"
    r"J_{-1}=\frac{e^tK_0(t)}{\sqrt{2\pi q}},\;J_1=\frac{a\,e^t(K_0(t)+K_1(t))}{2\sqrt{2\pi q}},\;t=\frac{a}{4q}",
    source="integration by parts; DLMF 10.32.8 and 7.7.1 for the integrals it starts from",
    apply=lambda problem, scalars: None,  # for integrands that are no atoms: derive.gaussian.answer
    rewrite=rewrite,
    cancels=True,
)
