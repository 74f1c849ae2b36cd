"""All fixed points of V on the line of variances: none missed, 0 and infinity by the expansions, and bifurcations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import flint
from flint import arb
from sympy import Expr, Integer, Rational, log

from derive.depth.chart import Family, Model, in_log, moment, variance_model
from derive.depth.edge import factored, split
from derive.depth.isolate import Zeros, zeros
from derive.depth.joint import folds
from derive.depth.roots import closed_in
from derive.gaussian.asymptotics import expand_large, expand_small
from derive.gaussian.asymptotics.moments import certified
from derive.gaussian.node import single
from derive.gaussian.numbers import ball, differentiate, evaluate, to_enclosure
from derive.program.symbols import SIGMA_W, Q
from derive.records import Enclosure, Unsupported


@dataclass(frozen=True)
class Bifurcation:
    """A sigma_w at which the number of fixed points of V changes, sigma_b given.

    kind  "two meet" (V is tangent to the diagonal at q), "one enters at 0" or "one leaves to infinity"
    """

    sigma_w: Enclosure
    q: Any
    kind: str


def fixed_zeros(second: Expr, values: Mapping[str, Any]) -> Zeros:
    """The zeros of V(q) - q on an interval of q. Raises Unsupported for a V that is no square of one activation."""
    body, factor = factored(second, values)
    kept = moment(body, _parameters(values))
    with flint.ctx.workprec(120):
        weight, bias = ball(values["sigma_w"]) ** 2 * factor, ball(values["sigma_b"]) ** 2

    def family(start: float, end: float) -> Model:
        model = kept.model(start, end).scaled(weight) + variance_model(start, end).scaled(arb(-1))
        return Model(model.poly + bias, model.errors, model.scale)

    return zeros(family)


def _parameters(values: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted((k, v) for k, v in values.items() if k not in ("q", "sigma_w", "sigma_b")))


def at_the_ends(second: Expr, values: Mapping[str, Any]) -> tuple[str, str]:
    """What happens at q -> 0 and q -> oo, by the leading terms of the expansions of V(q) - q."""
    return _at_start(second, values), _far_out(second, values)


def _at_start(second: Expr, values: Mapping[str, Any]) -> str:
    body, factor = factored(second, values)
    if values["sigma_b"] > 0:
        return "is no fixed point: sigma_b > 0"
    try:
        terms = expand_small(single(body), Rational(3)).terms
    except Unsupported as error:
        return f"undecided: {error.what}"
    with flint.ctx.workprec(100):
        weight = ball(values["sigma_w"]) ** 2 * factor
        for power, coefficient in terms:
            value = weight * _number(coefficient, values) - (1 if power == 1 else 0)
            if power < 1 and value > 0:
                return "is no fixed point: phi(0) is not 0" if power == 0 else "repels: V(q)/q -> oo"
            if value > 0 or value < 0:
                law = f"V(q) - q ~ {to_enclosure(value)} q^({power})"
                return f"{'repels' if value > 0 else 'attracts'}: {law}"
    return "attracts: V(q) = O(q^3)" if not terms else "undecided: V(q) = q to the order of the expansion"


def _number(coefficient: Expr, values: Mapping[str, Any]) -> arb:
    from derive.depth.enclosures import to_ball

    return to_ball(certified(coefficient, values, 20))


def _far_out(second: Expr, values: Mapping[str, Any]) -> str:
    body, factor = factored(second, values)
    try:
        terms = expand_large(single(body), 3).terms
    except Unsupported as error:
        return f"undecided: {error.what}"
    with flint.ctx.workprec(100):
        weight = ball(values["sigma_w"]) ** 2 * factor
        leads: dict[Rational, arb] = {Rational(1): arb(-1)}
        for power, coefficient in terms:
            if coefficient.has(log(Q)):
                break
            leads[power] = leads.get(power, arb(0)) + weight * _number(coefficient, values)
        leads[Rational(0)] = leads.get(Rational(0), arb(0)) + ball(values["sigma_b"]) ** 2
        for power in sorted(leads, reverse=True):
            if leads[power] > 0 or leads[power] < 0:
                word = "attracts" if leads[power] > 0 else "repels"
                return f"{word}: V(q) - q ~ {to_enclosure(leads[power])} q^({power})"
    return "undecided: the leading terms cancel"


def bifurcations(variance: Expr, gain: Expr, values: Mapping[str, Any]) -> tuple[Bifurcation, ...]:
    """Every sigma_w at which the number of fixed points changes, for the sigma_b in `values`, sorted.

    On the fixed points sigma_w^2 = W(q) = (q - sigma_b^2)/E phi^2, q > sigma_b^2: their number changes at the
    stationary values of W, zeros of E phi^2 - (q - sigma_b^2) d/dq E phi^2 (none missed on the interval of q), and at
    the limits of W for q -> 0 and q -> oo. Raises Unsupported where a part of the interval is undecided.

    Where V is not linear in sigma_w^2 (several Dense layers, streams): only those where two points meet, V(q) = q and
    V'(q) = 1, from cells of a grid, each certified; two in one cell could be missed, and none is looked for at the
    ends q -> 0 and q -> oo. Needs sigma_b > 0.
    """
    try:
        second, _ = split(variance, gain)
    except Unsupported:
        if not variance.has(SIGMA_W) or not values["sigma_b"] > 0:
            raise
        return _folds(variance, values)
    body, factor = factored(second, values)
    kept = moment(body, _parameters(values))
    bias = ball(values["sigma_b"]) ** 2
    slope = differentiate(second, Q)

    def family(start: float, end: float) -> Model:
        model = kept.model(start, end)
        inverse = variance_model(-end, -start)
        mirrored = Model(inverse.poly(flint.arb_poly([0, -1])), inverse.errors, inverse.scale)
        steep = in_log(model, start, end)
        return model + steep.scaled(arb(-1)) + (steep * mirrored).scaled(bias)

    def excess(q: Any, digits: int) -> arb:
        here = {**values, "q": q}
        m2, dm2 = (evaluate(e, here, digits)[0] for e in (second, slope))
        return m2 - (ball(q) - ball(values["sigma_b"]) ** 2) * dm2

    found = zeros(family)
    if found.undecided or found.reason:
        raise Unsupported("the bifurcations are not all decided", why=found.how)
    out = []
    for low, high in found.brackets:
        if float(high) <= float(bias):
            continue
        q = closed_in(excess, low, high)
        with flint.ctx.workprec(120):
            m2 = evaluate(second, {**values, "q": q}, 20)[0]
            out.append(Bifurcation(to_enclosure(((q - bias) / m2).sqrt()), to_enclosure(q), "two meet"))
    out += _limits(body, factor, values)
    return tuple(sorted(out, key=lambda b: b.sigma_w.mid))


def _folds(variance: Expr, values: Mapping[str, Any]) -> tuple[Bifurcation, ...]:
    """The points at which two fixed points meet, sigma_w and q together."""
    others = {name: value for name, value in values.items() if name != "sigma_b"}
    places = folds(variance, others, values["sigma_b"])
    out = [Bifurcation(to_enclosure(w), to_enclosure(q), "two meet") for q, w in places]
    return tuple(sorted(out, key=lambda b: b.sigma_w.mid))


def _limits(body: Expr, factor: arb, values: Mapping[str, Any]) -> list[Bifurcation]:
    """The finite, positive limits of W at both ends, where E phi^2 is linear in q."""
    out = []
    for at, kind in ((0, "one enters at 0"), (1, "one leaves to infinity")):
        if at == 0 and values["sigma_b"] > 0:
            continue
        node = single(body)
        terms = expand_small(node, Rational(3, 2)).terms if at == 0 else expand_large(node, 2).terms
        if terms and terms[0][0] == 1:
            with flint.ctx.workprec(100):
                w = 1 / (factor * _number(terms[0][1], values)).sqrt()
            out.append(Bifurcation(to_enclosure(w), Integer(0) if at == 0 else float("inf"), kind))
    return out


__all__ = ["Bifurcation", "Family", "at_the_ends", "bifurcations", "fixed_zeros"]
