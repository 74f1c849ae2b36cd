"""What a stack does whose variance grows without bound: growth of variance and gradient, by the maps at large q."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import flint
from flint import arb
from sympy import Add, Expr, Integer, Mul, Rational, log

from derive.depth.enclosures import to_ball
from derive.depth.rates import Rate
from derive.gaussian.asymptotics import expand_large
from derive.gaussian.asymptotics.moments import certified
from derive.gaussian.node import GaussianE, single
from derive.gaussian.numbers import to_enclosure
from derive.program.symbols import Q, X
from derive.records import Unsupported

TERMS = 4
Leads = list[tuple[Rational, arb]]


def growth(variance: Expr, gain: Expr, values: Mapping[str, Any]) -> tuple[str | None, tuple[Rate, ...]]:
    """(label of the gradient, rates) where q -> oo; no label where the expansions at large q are not known.

    V ~ g q: q grows by g a block and the squared gradient by the limit of chi. V - q ~ h q^s, s < 1: q grows as a
    power of the depth, and with chi - 1 ~ k q^(-r) the logarithm of the squared gradient is a sum of k q_l^(-r).
    Source: residual networks, Yang & Schoenholz 2017 (arXiv 1712.08969), sections 4 and 5.
    """
    known = {k: v for k, v in values.items() if k != "q"}
    with flint.ctx.workprec(100):
        try:
            forward, backward = _leads(variance - Q, known), _leads(gain - 1, known)
        except Unsupported as error:
            return None, (Rate("q", "unknown", why=f"its maps at large q: {error.what}"),)
        return _judged(forward, backward)


def _judged(forward: Leads, backward: Leads) -> tuple[str | None, tuple[Rate, ...]]:
    if not forward:
        return None, ()
    power, size = forward[0]
    lead = backward[0] if backward else (Integer(0), arb(0))
    limit = None if lead[0] > 0 else 1 + (lead[1] if lead[0] == 0 else arb(0))
    gradient = "exploding" if limit is None or limit > 1 else "vanishing" if limit < 1 else None
    if power > 1:
        return gradient, (Rate("q", "faster", why=f"V(q) ~ {to_enclosure(size)} q^({power})"),)
    if power == 1:
        # chi - 1 falls with q, which grows geometrically: the product of gains converges
        rates = [Rate("q", "geometric", prefactor=to_enclosure(1 + size), why="V(q)/q -> g > 1")]
        gradient = gradient or "critical"
    else:
        law = 1 / (1 - power)
        scale = (_ball(1 - power) * size) ** _ball(law)
        rates = [Rate("q", "power", exponent=-law, prefactor=to_enclosure(scale), why=f"V(q) - q ~ h q^({power})")]
        if gradient is None and lead[1] != 0:
            return _slow(lead, law, scale, rates)
        gradient = gradient or "critical"
    if limit is not None and not limit.contains(1):
        rates.append(Rate("squared gradient", "geometric", prefactor=to_enclosure(limit), why="chi(q) for q -> oo"))
    return gradient, tuple(rates)


def _slow(lead: tuple[Rational, arb], law: Rational, scale: arb, rates: list[Rate]) -> tuple[str, tuple[Rate, ...]]:
    """chi -> 1: the logarithm of the squared gradient grows like the sum of k (scale l^law)^(-r)."""
    r, k = -lead[0], lead[1]
    of, left = "log of the squared gradient", 1 - r * law
    word = "exploding" if k > 0 else "vanishing"
    if left < 0:
        return "critical", (*rates, Rate(of, "none", why="the gains approach 1 fast enough: their product converges"))
    why = f"chi(q) - 1 ~ k q^(-{r})"
    if left == 0:
        return word, (*rates, Rate(of, "log", prefactor=to_enclosure(k * scale ** _ball(-r)), why=why))
    prefactor = to_enclosure(k * scale ** _ball(-r) / _ball(left))
    return word, (*rates, Rate(of, "power", exponent=-left, prefactor=prefactor, why=why))


def _ball(value: Rational) -> arb:
    return arb(int(value.p)) / int(value.q)


def _leads(expr: Expr, values: Mapping[str, Any]) -> Leads:
    """(power, coefficient) from the largest power on, coefficients that vanish exactly left out."""
    found: dict[Rational, Expr] = {}
    rest: list[Rational] = []
    for term in Add.make_args(expr.expand(deep=False)):
        terms, remainder = _term(term)
        rest += [] if remainder is None else [remainder]
        for power, coefficient in terms:
            found[power] = found.get(power, Integer(0)) + coefficient
    exact = {k: Rational(v.numerator, v.denominator) for k, v in values.items() if hasattr(v, "numerator")}
    out: Leads = []
    for power in sorted(found, reverse=True):
        if rest and power <= max(rest):
            break
        coefficient = found[power]
        coefficient = coefficient.subs({s: exact[s.name] for s in coefficient.free_symbols if s.name in exact}).expand()
        if coefficient.has(log(Q)):
            raise Unsupported("logarithms of q")
        if coefficient == 0:
            continue
        value = to_ball(certified(coefficient, values, 20))
        if value.contains(0):
            raise Unsupported("a leading coefficient whose sign is not decided")
        out.append((power, value))
    return out


Terms = list[tuple[Rational, Expr]]


def _term(term: Expr) -> tuple[Terms, Rational | None]:
    """The expansion of a product of constants, powers of q and expectations under N(0, q)."""
    factors = Mul.make_args(term)
    plain = Mul(*(f for f in factors if not f.has(GaussianE)))
    factor, own = plain.as_independent(Q, as_Add=False)
    power = own.as_powers_dict().get(Q, Integer(0)) if own != 1 else Integer(0)
    if own not in (1, Q**power):
        raise Unsupported("no sum of products of expectations")
    terms, rest = [(power, factor)], None
    for node in (f for f in factors if f.has(GaussianE)):
        if not isinstance(node, GaussianE) or node.cov.rows != 1 or node.cov[0, 0] != Q:
            raise Unsupported("an expectation of several units or of nested layers")
        series = expand_large(single(node.body.xreplace({node.variables[0]: X})), TERMS)
        terms, rest = _times(terms, rest, list(series.terms), series.remainder)
    return terms, rest


def _times(a: Terms, rest_a: Rational | None, b: Terms, rest_b: Rational | None) -> tuple[Terms, Rational | None]:
    found: dict[Rational, Expr] = {}
    for p, x in a:
        for r, y in b:
            found[p + r] = found.get(p + r, Integer(0)) + x * y
    lead_a, lead_b = (max((p for p, _ in t), default=Integer(0)) for t in (a, b))
    rests = [r + lead for r, lead in ((rest_a, lead_b), (rest_b, lead_a)) if r is not None]
    return list(found.items()), max(rests) if rests else None


__all__ = ["growth"]
