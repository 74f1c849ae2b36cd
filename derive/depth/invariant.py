"""The edge of chaos of blocks whose maps scale with the variance: one condition may exclude the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import flint
from flint import arb
from sympy import Expr, Integer, expand

from derive.depth.conditions import Affine, affine
from derive.depth.edge import closed_forms
from derive.depth.edges import EdgeOfChaos
from derive.depth.enclosures import to_ball
from derive.depth.reasons import short
from derive.depth.roots import refine
from derive.gaussian.node import GaussianE
from derive.gaussian.numbers import ball, evaluate, to_enclosure
from derive.program.symbols import SIGMA_B, SIGMA_W, Q
from derive.records import EdgePoint, Unsupported

EVERY_Q = "every q is a fixed point"
NO_BIAS = "the function is scale-invariant: chi(q) = 1 forces V(q) = q + sigma_b^2 > q"
Values = Mapping[str, Any]


def critical_pair(variance: Expr, gain: Expr, values: Values, q: Fraction) -> tuple[EdgePoint | None, EdgePoint | None]:
    """The point with chi = 1 and the one with V(q) = q at sigma_b = 0; None where every sigma_w is above it.

    V = q v(sigma_w) and chi are free of q and rise with sigma_w (sums of positive multiples of its powers), so that
    each has one such point at most.
    """
    here = {**values, "q": q, "sigma_b": Fraction(0)}
    found: list[EdgePoint | None] = []
    for of_gradient in (True, False):

        def excess(w: Any, digits: int, of_gradient: bool = of_gradient) -> arb:
            given = {**here, "sigma_w": w}
            return (
                evaluate(gain, given, digits)[0] - 1 if of_gradient else evaluate(variance, given, digits)[0] - ball(q)
            )

        w = _root(variance, gain, here, excess, of_gradient)
        if w is None:
            found.append(None)
            continue
        with flint.ctx.workprec(120):
            given = {**here, "sigma_w": w}
            chi = arb(1) if of_gradient else evaluate(gain, given, 20)[0]
            slope = evaluate(variance, given, 20)[0] / ball(q) if of_gradient else arb(1)
        found.append(_point(w, ball(q), chi, slope))
    return found[0], found[1]


def _root(variance: Expr, gain: Expr, here: Values, excess: Callable[[Any, int], arb], of_gradient: bool) -> arb | None:
    parts = affine(variance, gain)
    if parts is not None:
        weight = parts.weight if of_gradient else (Q - parts.kept) / parts.second
        with flint.ctx.workprec(120):
            square = evaluate(weight, here, 20)[0]
        return square.sqrt() if square > 0 else None
    for k in range(1, 12):
        low, high = Fraction(1, 4**k), Fraction(4**k)
        with flint.ctx.workprec(100):
            if not excess(low, 14) < 0:
                continue
            if excess(high, 14) > 0:
                return refine(excess, low, high, -1)
    return None


def _point(w: arb, q: arb, chi: arb, slope: arb) -> EdgePoint:
    zero = to_enclosure(arb(0))
    stable = True if abs(slope) < 1 else False if abs(slope) > 1 else None
    return EdgePoint(
        to_enclosure(w), zero, zero, to_enclosure(q), to_enclosure(chi), to_enclosure(slope), False, stable
    )


def agree(variance: Expr, gain: Expr) -> bool:
    """Whether V(q) = q chi(q) without biases, by closed forms all the way in: both conditions then hold at once."""
    without = [_closed(expr.xreplace({SIGMA_B: Integer(0)})) for expr in (variance, gain)]
    if without[0] is None or without[1] is None:
        return False
    return expand(expand(without[0]) - expand(Q * without[1])) == 0


def _closed(expr: Expr) -> Expr | None:
    """The expression with nested expectations closed too."""
    while expr.has(GaussianE):
        inner = {n for n in expr.atoms(GaussianE) if not n.cov.has(GaussianE)}
        closed = closed_forms(*inner)
        if closed is None:
            return None
        expr = expr.xreplace(dict(zip(inner, closed, strict=True)))
    return expr


def invariant_edge(
    variance: Expr, gain: Expr, values: Values, q: Fraction | None, sigma_b: Fraction | None, sigma_w: Fraction | None
) -> EdgeOfChaos:
    """The edge of a block with V(t q) = t V(q) and chi(t q) = chi(q) at sigma_b = 0.

    Where V = q chi the whole half-line is critical at one sigma_w. Else chi = 1 forces V(q) = r q with r not 1: for
    r > 1 there is no joint solution, for r < 1 there is one with biases, q = sigma_b^2 share/(1 - r).
    """
    if not gain.has(SIGMA_W) and not variance.has(SIGMA_W):
        return EdgeOfChaos((), f"no weight is left: V(q) = {variance} and chi = {gain} at every sigma_w")
    gradient, variance_point = critical_pair(variance, gain, values, q or Fraction(1))
    if gradient is None:
        return EdgeOfChaos((), "chi > 1 at every sigma_w > 0", None, variance_point)
    if agree(variance, gain):
        return _half_line(gradient, sigma_b, sigma_w)
    with flint.ctx.workprec(120):
        r = to_ball(gradient.chi_parallel)
        if not (r > 1 or r < 1):
            raise Unsupported(
                "whether V(q) = q and chi = 1 hold together is open", where=f"at chi = 1, V(q)/q = {r.str(5)}"
            )
    reason = f"chi = 1 at sigma_w^2 = {_square(gradient)}, where V(q) = {short(gradient.chi_parallel)} q without biases"
    if variance_point is not None:
        reason += f"; V(q) = q without biases needs sigma_w^2 = {_square(variance_point)}"
    parts = affine(variance, gain)
    if parts is None or (r > 1 and q is None) or (r < 1 and sigma_b == 0):
        return EdgeOfChaos((), reason, gradient, variance_point)
    points = _with_bias(parts, gradient, r, values, q, sigma_b, sigma_w)
    joint = any(point.valid for point in points)
    return EdgeOfChaos(points, "" if joint else reason, gradient, variance_point)


def _half_line(point: EdgePoint, sigma_b: Fraction | None, sigma_w: Fraction | None) -> EdgeOfChaos:
    if sigma_b:
        return EdgeOfChaos((), NO_BIAS)
    if sigma_w is not None:
        with flint.ctx.workprec(120):
            if not (to_ball(point.sigma_w) - ball(sigma_w)).contains(0):
                return EdgeOfChaos((), f"the function is scale-invariant: its only point has sigma_w = {point.sigma_w}")
    one = to_enclosure(arb(1))
    return EdgeOfChaos((replace(point, chi_parallel=one, valid=True, stable=None),), EVERY_Q)


def _with_bias(
    parts: Affine, gradient: EdgePoint, r: arb, values: Values, q: Fraction | None, sigma_b: Any, sigma_w: Any
) -> tuple[EdgePoint, ...]:
    """The points with chi = 1 and a bias: sigma_b^2 share = (1 - r) q."""
    with flint.ctx.workprec(120):
        share = evaluate(parts.share, values, 20)[0]
        if sigma_w is not None or not share > 0:
            return ()
        at = ball(q) if q is not None else ball(sigma_b) ** 2 * share / (1 - r)
        bias = (1 - r) * at / share
        root = None if bias < 0 else to_enclosure(bias.sqrt())
    valid = bool(bias > 0)
    return (replace(gradient, q=to_enclosure(at), sigma_b2=to_enclosure(bias), sigma_b=root, valid=valid),)


def _square(point: EdgePoint) -> str:
    with flint.ctx.workprec(120):
        return short(to_enclosure(to_ball(point.sigma_w) ** 2))


__all__ = ["agree", "critical_pair", "invariant_edge"]
