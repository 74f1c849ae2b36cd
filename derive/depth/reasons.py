"""Plain sentences with the numbers that a universality class rests on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mpmath
from sympy import Expr, Integer, Rational, log, oo

from derive.depth.critical import CriticalPoint, Gap
from derive.depth.zero import AtZero, critical_sigma_w
from derive.gaussian.asymptotics import expand_large
from derive.gaussian.asymptotics.moments import certified
from derive.gaussian.node import single
from derive.gaussian.numbers import outermost
from derive.program.symbols import Q
from derive.records import Enclosure, Unsupported


def short(value: Enclosure) -> str:
    """Certified digits, 16 at most."""
    return str(mpmath.nstr(value.mid, min(16, value.digits()), strip_zeros=True)) if value.digits() > 16 else str(value)


def judged(zero: AtZero, values: Mapping[str, Any]) -> tuple[bool, str]:
    """Whether q = 0 is a critical point that attracts, with the sentence that says why or why not."""
    value = certified(zero.value, values)
    if zero.value != 0:
        return False, f"q = 0 is no fixed point: phi(0)^2 = {short(value)} > 0, so that V(0) > 0 for every sigma_w > 0"
    if zero.slope == 0:
        return False, "q = 0 is not critical: phi'(0) = 0, so that chi -> 0 for q -> 0 at every sigma_w"
    sigma_w = certified(critical_sigma_w(zero), values)
    if zero.power is None:
        edge = certified(zero.break_at, values)
        if zero.beyond is None:
            raise Unsupported("whether q = 0 attracts is open", where=f"breakpoints at distance {edge}")
        place = f"phi is linear on each side of 0 up to |x| = {short(edge)}: at sigma_w = {short(sigma_w)}, sigma_b = 0"
        size = (
            f"V(q) - q is {'negative' if zero.beyond < 0 else 'positive'} and of the order exp(-{short(edge)}^2/(2q))"
        )
        return zero.beyond < 0, f"{place} {size}"
    forward = certified(zero.forward, values)
    law = (
        f"at sigma_w = {short(sigma_w)}, sigma_b = 0 V(q) = q (1 + k q^({zero.power}) + ...) with k = {short(forward)}"
    )
    if forward.upper < 0:
        return True, f"{law} < 0: q = 0 is critical and attracts"
    if forward.lower > 0:
        return False, f"{law} > 0: the critical point at q = 0 repels"
    raise Unsupported("whether q = 0 attracts is open", where=law)


def one_sign(between: Gap) -> str:
    sign = between.sign or 0
    side = ">" if sign > 0 else "<"
    return f"chi_parallel - chi = sigma_w^2 E phi phi'' {side} 0 at every q > 0: {between.how}"


def at_root(point: CriticalPoint) -> str:
    p = point.point
    place = f"chi_parallel = chi at q = {p.q}, where sigma_w = {p.sigma_w}"
    if p.valid:
        side = "above" if point.curvature.upper < 0 else "below" if point.curvature.lower > 0 else "an undecided side"
        return (
            f"{place}, sigma_b^2 = {p.sigma_b2} >= 0 and d chi_parallel/dq = {point.curvature}: it attracts from {side}"
        )
    if p.valid is None:
        raise Unsupported("whether sigma_b^2 is negative at a critical point is open", where=place)
    return f"{place}, but sigma_b^2 = {p.sigma_b2} < 0"


def far_out(phi: Expr, slope: Expr, between: Gap, values: Mapping[str, Any]) -> str:
    """The sign of E phi phi'' for q -> oo by its expansion."""
    try:
        second = expand_large(single(phi**2), 4)
        node = outermost(slope)[0]
        first = expand_large(single(node.body.subs(node.variables[0], single(phi).variables[0])), 4)
    except Unsupported as error:
        return f"beyond that interval nothing is claimed: {error.what}"
    assert between.zeros is not None
    leads: dict[Rational, Expr] = {}
    for power, coefficient in second.terms:
        leads[power - 1] = leads.get(power - 1, Integer(0)) + power * coefficient
    for power, coefficient in first.terms:
        leads[power] = leads.get(power, Integer(0)) - coefficient
    rests = [e.remainder for e in (second.times(Integer(1), Rational(-1)), first) if e.remainder is not None]
    rest = max(rests) if rests else -oo
    for power in sorted(leads, reverse=True):
        coefficient = leads[power]
        if coefficient.has(log(Q)) or power <= rest:
            break
        try:
            size = certified(coefficient, values)
        except Unsupported:
            break
        if size.lower > 0 or size.upper < 0:
            sign = 1 if size.lower > 0 else -1
            agrees = "as" if between.zeros.signs[1] == sign else "unlike"
            word = "positive" if sign > 0 else "negative"
            return f"for q -> oo E phi phi'' ~ {short(size)} q^({power}): {word}, {agrees} at the end of that interval"
    return "beyond that interval nothing is claimed: the leading terms for q -> oo are not decided"


__all__ = ["at_root", "far_out", "judged", "one_sign", "short"]
