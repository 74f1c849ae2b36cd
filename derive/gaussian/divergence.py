"""Integrands that outgrow a Gaussian density: which expectations are infinite, and with which sign."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from sympy import Add, Expr, Heaviside, Integer, Mul, Poly, Pow, Rational, cosh, erf, erfc, exp, expand, pi, sinh, sqrt

from derive.gaussian.decompose import as_polynomial
from derive.gaussian.factors import pair_factors
from derive.gaussian.node import GaussianE
from derive.gaussian.special import NormalCdf
from derive.program.symbols import X
from derive.records import Unsupported

Growth = tuple[tuple[Expr, ...], int, Expr]
"""(e, n, a): a y**n exp(e[0] y + e[1] y**2 + ...) as y -> oo."""


def outgrows(node: GaussianE) -> Expr | None:
    """The factor exp(p) of polynomial * exp(p) with p -> +oo faster than x**2 on one side, or None.

    Only this shape is decided, for one variable and a law that is not constant.
    """
    if node.cov.rows != 1 or not node.cov[0, 0].is_positive:
        return None
    z = node.variables[0]
    factors = Mul.make_args(node.body)
    exponentials = [factor for factor in factors if isinstance(factor, exp) and factor.has(z)]
    others = [factor for factor in factors if factor not in exponentials]
    if len(exponentials) != 1 or any(as_polynomial(factor, (z,)) is None for factor in others):
        return None
    exponent = as_polynomial(exponentials[0].args[0], (z,))
    if exponent is None:
        return None
    polynomial = Poly.from_dict(exponent, z)
    degree, lead = polynomial.degree(), polynomial.LC()
    grows = lead.is_nonzero if degree % 2 else lead.is_positive
    return exponentials[0] if degree > 2 and grows else None


def infinite(node: GaussianE, values: Mapping[str, Any]) -> int | None:
    """1 or -1 where a centred expectation at these exact numbers is certainly +oo or -oo, else None.

    One variable: by the leading growth of the integrand at both ends, for sums of products of polynomials,
    exponentials of polynomials and normal distribution functions, with kinks. It is no number where both ends
    diverge with different signs. Two variables: f(u) g(v) with f and g of one sign; it is finite if and only if
    Sigma**-1/2 minus the growth rates is positive on each quadrant, so that exp(b x**2) needs 2 b q_i < 1 and
    (1 - 2 b q1)(1 - 2 b q2) > 4 b**2 K**2.
    """
    given = {name: _rational(value) for name, value in values.items() if isinstance(value, (int, Fraction))}
    if any(given.get(name) == 0 for name in ("q", "q1", "q2")):
        return None  # the limit of vanishing variance sees the integrand at 0 only
    if not node.mean.is_zero_matrix or any(s.name not in given for s in node.body.free_symbols - set(node.variables)):
        return None
    try:
        if node.cov.rows == 1 and "q" in given:
            return _single(_numeric(node.body.xreplace({node.variables[0]: X}), given), given["q"])
        if node.cov.rows == 2 and {"q1", "q2", "c"} <= given.keys():
            f, g = (_numeric(h, given) for h in pair_factors(node))
            return _pair(f, g, given["q1"], given["q2"], given["c"])
    except Unsupported:
        return None
    return None


def _rational(value: int | Fraction) -> Expr:
    return Rational(Fraction(value).numerator, Fraction(value).denominator)


def _numeric(body: Expr, given: Mapping[str, Expr]) -> Expr:
    return body.xreplace({s: given[s.name] for s in body.free_symbols if s.name in given and s != X})


def _single(body: Expr, q: Expr) -> int | None:
    ends = set()
    for side in (1, -1):
        growth = _growth(body, side)
        if growth is None:
            return None
        exponent, power, coefficient = growth
        total = _plus(exponent, (Integer(0), -1 / (2 * q)))
        lead = _lead(total)
        if coefficient != 0 and (lead > 0 or (lead == 0 and power >= -1)):
            ends.add(1 if coefficient > 0 else -1)
    return ends.pop() if len(ends) == 1 else None


def _pair(f: Expr, g: Expr, q1: Expr, q2: Expr, c: Expr) -> int | None:
    if abs(c) == 1:
        return _single(f.subs(X, sqrt(q1) * X) * g.subs(X, c * sqrt(q2) * X), Integer(1))
    first_sign, second_sign = _sign(f), _sign(g)
    if first_sign is None or second_sign is None:
        return None
    sign = first_sign * second_sign
    rest = 2 * (1 - c**2)
    cross = -c / (rest * sqrt(q1 * q2))
    for s1 in (1, -1):
        for s2 in (1, -1):
            first, second = _growth(f, s1), _growth(g, s2)
            if first is None or second is None:
                return None
            if first[2] == 0 or second[2] == 0:
                continue
            if any(len(growth[0]) > 2 and _lead(growth[0]) > 0 for growth in (first, second)):
                return sign
            a, b = (1 / (rest * q) - _square(growth) for q, growth in ((q1, first), (q2, second)))
            if a < 0 or b < 0 or (s1 * s2 * cross < 0 and cross**2 > a * b):
                return sign
    return None


def _square(growth: Growth) -> Expr:
    exponent = growth[0]
    return exponent[1] if len(exponent) > 1 else Integer(0)


def _sign(f: Expr) -> int | None:
    """1 or -1 where a factorwise look shows that f has one sign."""
    sign = 1
    for factor in Mul.make_args(f):
        if factor.is_nonnegative or isinstance(factor, Heaviside):
            continue
        if not factor.is_nonpositive:
            return None
        sign = -sign
    return sign


def _growth(f: Expr, side: int) -> Growth | None:
    """The leading growth of f(side*y) as y -> oo; None where it is not decided, a = 0 where f vanishes there."""
    from derive.activation.normal_form import normal_form

    total: dict[tuple[tuple[Expr, ...], int], Expr] = {}
    for piece in normal_form(f).terms:
        if piece.threshold is not None and piece.side != side:
            continue
        value = piece.value.rewrite([sinh, cosh], exp).xreplace({X: side * X})
        for term in Add.make_args(expand(value, power_exp=False, log=False)):
            growth = _term(term)
            if growth is None:
                return None
            key = (growth[0], growth[1])
            total[key] = total.get(key, Integer(0)) + growth[2]
    if not total:
        return (), 0, Integer(0)
    size = max(len(exponent) for exponent, _ in total)
    # a sum that cancels at its leading order is left undecided
    highest = max(total, key=lambda key: (*reversed(_plus(key[0], (Integer(0),) * size)), key[1]))
    if total[highest] == 0:
        return ((), 0, Integer(0)) if len(total) == 1 and not f.has(NormalCdf, erf, erfc) else None
    return (*highest, total[highest])


def _term(term: Expr) -> Growth | None:
    exponent: tuple[Expr, ...] = ()
    power, coefficient = 0, Integer(1)
    for factor in Mul.make_args(term):
        base, count = (factor.base, factor.exp) if isinstance(factor, Pow) else (factor, Integer(1))
        if isinstance(factor, exp):
            base, count = factor, Integer(1)
        if not (count.is_Integer and count > 0):
            base, count = factor, Integer(1)
        part = _factor(base)
        if part is None:
            return None
        exponent = _plus(exponent, tuple(int(count) * e for e in part[0]))
        power, coefficient = power + int(count) * part[1], coefficient * part[2] ** count
    while exponent and exponent[-1] == 0:
        exponent = exponent[:-1]
    return exponent, power, coefficient


def _factor(factor: Expr) -> Growth | None:
    if not factor.has(X):
        return (), 0, factor
    if isinstance(factor, exp):
        found = as_polynomial(factor.args[0], (X,))
        if found is None:
            return None
        degree = max(key[0] for key in found)
        rest = tuple(found.get((n,), Integer(0)) for n in range(1, degree + 1))
        return rest, 0, exp(found.get((0,), Integer(0)))
    if isinstance(factor, erfc):
        part = _cdf(-sqrt(2) * factor.args[0])
        return None if part is None else (part[0], part[1], 2 * part[2])
    if isinstance(factor, erf):
        part = _cdf(sqrt(2) * factor.args[0])
        return None if part is None else ((), 0, Integer(1) if part[0] == () else Integer(-1))
    if isinstance(factor, NormalCdf):
        return _cdf(factor.args[0])
    polynomial = as_polynomial(factor, (X,))
    if polynomial is None:
        return None
    degree = max(key[0] for key in polynomial)
    return (), degree, polynomial[(degree,)]


def _cdf(argument: Expr) -> Growth | None:
    """Phi(a y + c): 1 for a > 0; for a < 0 exp(-w**2/2)/(w sqrt(2 pi)) with w = -a y - c."""
    found = as_polynomial(argument, (X,))
    if found is None or max(key[0] for key in found) != 1:
        return None
    a, c = found[(1,)], found.get((0,), Integer(0))
    if a > 0:
        return (), 0, Integer(1)
    return (-a * c, -(a**2) / 2), -1, exp(-(c**2) / 2) / (-a * sqrt(2 * pi))


def _plus(first: tuple[Expr, ...], second: tuple[Expr, ...]) -> tuple[Expr, ...]:
    size = max(len(first), len(second))
    padded = [tuple(e) + (Integer(0),) * (size - len(e)) for e in (first, second)]
    return tuple(x + y for x, y in zip(*padded, strict=True))


def _lead(exponent: tuple[Expr, ...]) -> Expr:
    """The highest coefficient that is not zero."""
    return next((e for e in reversed(exponent) if e != 0), Integer(0))


__all__ = ["infinite", "outgrows"]
