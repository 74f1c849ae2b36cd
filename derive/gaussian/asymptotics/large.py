"""Expectations for large variance: powers at both ends of the line and finite parts of moments."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

from sympy import Add, Expr, Integer, Poly, Rational, digamma, exp, expand, factorial, gamma, log, oo, pi, sqrt

from derive.activation.cells import Cell, compare
from derive.gaussian.asymptotics.decaying import decaying
from derive.gaussian.asymptotics.expansion import Expansion, made
from derive.gaussian.asymptotics.infinity import tail_powers
from derive.gaussian.asymptotics.laurent import Laurent
from derive.gaussian.asymptotics.line_integral import line_integral
from derive.gaussian.asymptotics.small import demand_centred, sides
from derive.gaussian.asymptotics.turned import is_algebraic, turned
from derive.gaussian.node import GaussianE
from derive.program.symbols import Q, X
from derive.records import Unsupported

MOST_TERMS = 12


@lru_cache(maxsize=256)
def expand_large(node: GaussianE, terms: int = 2) -> Expansion:
    """E f(x), x ~ N(0, q), for q -> oo: `terms` successive powers of sqrt(q) from the leading one on.

    With f(x) ~ sum_m b_m |x|^-m on each side, sqrt(2 pi q) E f = int f exp(-x^2/(2q)) dx is the sum over both sides of
    b_m Gamma((1 - m)/2)/2 (2q)^((1 - m)/2) for m not in {1, 3, ...} and (-1/(2q))^k/k! times
    [FP int x^(2k) f + b_(2k+1) (log(2q) + psi(k + 1))/2]; FP is the finite part of the integral, in which what does not
    converge at infinity is left out, powers and log x alike (Mellin transforms: DLMF, section 2.5). Kind: SERIES.

    Raises Unsupported where f grows exponentially or oscillates at infinity.
    """
    demand_centred(node)
    if not 1 <= terms <= MOST_TERMS:
        raise Unsupported(f"{terms} terms", why=f"1 to {MOST_TERMS} stand")
    left, right = sides(node)
    halves = [[_mirrored(cell) for cell in left], right]
    first = max(_degree(half[-1].value) for half in halves)
    lead = Rational(max(first, -1), 2)
    rest = lead - Rational(terms, 2)
    tails = [tail_powers(half[-1].value, int(-2 * rest) + 1) for half in halves]
    found: dict[Rational, Expr] = {}
    for n in range(terms):
        power = lead - Rational(n, 2)
        found[power] = _coefficient(int(-2 * power), halves, tails)
    exact = all(len(half) == 1 and half[0].value.is_polynomial(X) for half in halves)
    m = int(-2 * rest)
    logs = m > 0 and m % 2 == 1 and any(tail.at(m) != 0 for tail in tails)
    whole = exact and all(tail.is_zero or tail.start + len(tail.coefficients) <= m for tail in tails)
    return made(found, oo, None if whole else rest, logs)


def _mirrored(cell: Cell) -> Cell:
    return Cell(-cell.upper, -cell.lower, cell.value.xreplace({X: -X}))


def _degree(value: Expr) -> int:
    """The degree of growth: f ~ x^degree; -1 at least."""
    for end in (2, 8):
        series = tail_powers(value, end)
        if not series.is_zero:
            return -series.start
    return -1


def _coefficient(m: int, halves: list[list[Cell]], tails: list[Laurent]) -> Expr:
    """The coefficient of q^(-m/2)."""
    weight = tails[0].at(m) + tails[1].at(m)
    if m <= 0 or m % 2 == 0:
        return weight * gamma(Rational(1 - m, 2)) * Integer(2) ** Rational(-m, 2) / (2 * sqrt(pi))
    k = (m - 1) // 2
    moment = sum((_finite_part(half, tail, k) for half, tail in zip(halves, tails, strict=True)), Integer(0))
    moment += weight * (log(2 * Q) + digamma(Integer(k + 1))) / 2
    return Rational((-1) ** k, int(factorial(k)) * 2**k) * moment / sqrt(2 * pi)


def _finite_part(half: list[Cell], tail: Laurent, k: int) -> Expr:
    """The finite part of int_0^oo x^(2k) f(x) dx: powers x^n, n >= 0, and 1/x beyond 1 are taken off."""
    powers = sum((tail.at(m) * X ** (2 * k - m) for m in range(tail.start, 2 * k + 1)), Integer(0))
    harmonic = tail.at(2 * k + 1) / X
    total: Expr = Integer(0)
    for cell in _cut_at_one(half) if harmonic != 0 else half:
        beyond = harmonic != 0 and compare(cell.lower, Integer(1)) in (0, 1)
        value = decaying(cell.value) if cell.upper == oo else cell.value
        total += integral(expand(X ** (2 * k) * value) - powers - (harmonic if beyond else 0), cell.lower, cell.upper)
    return total


def _cut_at_one(half: list[Cell]) -> list[Cell]:
    cells = []
    for cell in half:
        low, high = (compare(end, Integer(1)) for end in (cell.lower, cell.upper))
        if low is None or high is None:
            raise Unsupported("whether a breakpoint is beyond 1 is open", where=str(cell.lower))
        ends = [cell.lower, Integer(1), cell.upper] if low < 0 < high else [cell.lower, cell.upper]
        cells += [Cell(a, b, cell.value) for a, b in pairwise(ends)]
    return cells


def integral(integrand: Expr, lower: Expr, upper: Expr) -> Expr:
    """The integral over an interval, exact for polynomials and, from 0 to oo, with exp(-a x); else left as it is."""
    integrand = expand(integrand)
    if integrand == 0:
        return Integer(0)
    if upper != oo and integrand.is_polynomial(X):
        whole = Poly(integrand, X).integrate().as_expr()
        return expand(whole.subs(X, upper) - whole.subs(X, lower))
    total: Expr = Integer(0)
    rest: Expr = Integer(0)
    for term in Add.make_args(integrand):
        value = _exponential_moment(term) if upper == oo and lower == 0 else None
        if value is None:
            rest += term
        else:
            total += value
    return total + _inert(rest, lower, upper)


def _inert(integrand: Expr, lower: Expr, upper: Expr) -> Expr:
    """The integral as it is; where the integrand decays like a power, beyond 1 in the variable 1/x."""
    if integrand == 0 or lower == upper:
        return Integer(0)
    if upper != oo or not is_algebraic(integrand):
        return line_integral(integrand, lower, upper)
    if lower == 0:
        return _inert(integrand, lower, Integer(1)) + _inert(integrand, Integer(1), upper)
    return line_integral(turned(integrand), Integer(0), 1 / lower)


def _exponential_moment(term: Expr) -> Expr | None:
    """int_0^oo c x^n exp(-a x) dx = c n!/a^(n + 1), a > 0."""
    constant, part = term.as_independent(X)
    powers = part.as_powers_dict() if not isinstance(part, exp) else {}
    n = powers.get(X, Integer(0))
    rest = part / X**n
    if not isinstance(rest, exp) or not n.is_Integer or n < 0 or not rest.args[0].is_polynomial(X):
        return None
    exponent = Poly(rest.args[0], X)
    if exponent.degree() != 1:
        return None
    rate, offset = -exponent.coeff_monomial(X), exponent.coeff_monomial(1)
    return constant * exp(offset) * factorial(n) / rate ** (n + 1) if rate.is_positive else None


__all__ = ["expand_large", "integral"]
