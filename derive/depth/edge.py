"""The edge of chaos: V(q) = q and chi(q) = 1 at once."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import flint
from sympy import Expr, Rational, Symbol, expand

from derive.depth.chart import Family, Model, moment
from derive.depth.edges import EdgeOfChaos
from derive.depth.isolate import zeros
from derive.depth.pooled_limit import common_limit, pooled
from derive.depth.roots import closed_in, sign_changes
from derive.gaussian.enclosure import enclose
from derive.gaussian.node import GaussianE
from derive.gaussian.numbers import (
    ball,
    canonical,
    closed_form,
    differentiate,
    evaluate,
    outermost,
    plain_ball,
    to_enclosure,
)
from derive.gaussian.scan import scan
from derive.program.symbols import SIGMA_B, SIGMA_W, Q, X
from derive.records import EdgePoint, Unsupported

MOST_DIGITS = 400
CONSTANT = "the activation is constant: its gradient gain is 0 at every sigma_w"


def split(variance: Expr, gain: Expr) -> tuple[Expr, Expr]:
    """The second moment m2 and mean squared slope d1 of V = sigma_w^2 m2 + sigma_b^2, chi = sigma_w^2 d1.

    Raises Unsupported where the maps are not of this form (several Dense layers, given sigmas).
    """
    # not inside the expectations: an expanded integrand cancels
    second = (variance - SIGMA_B**2).expand(deep=False).coeff(SIGMA_W, 2)
    slope = gain.expand(deep=False).coeff(SIGMA_W, 2)
    linear = (variance - SIGMA_B**2 - SIGMA_W**2 * second).expand() == 0 and (gain - SIGMA_W**2 * slope).expand() == 0
    if not linear or second.has(SIGMA_W) or slope.has(SIGMA_W):
        raise Unsupported(
            "the edge of chaos of a block with several or fixed Dense layers",
            why="its two conditions are not linear in sigma_w^2 and sigma_b^2",
            instead="a block with one Dense whose sigma_w and sigma_b are free",
        )
    return second, slope


def flat(slope: Expr) -> bool:
    """Whether the mean squared slope is zero: a constant function has gain 0 at every sigma_w."""
    closed = closed_forms(slope)
    return closed is not None and closed[0] == 0


def at_q(variance: Expr, gain: Expr, values: Mapping[str, Any], digits: int = 16) -> EdgePoint:
    """The point with q* given: sigma_w^2 = 1/d1(q), sigma_b^2 = q - m2(q)/d1(q), both as enclosures.

    chi_parallel = m2'(q)/d1(q). Source: Poole et al. 2016 (arXiv 1606.05340); Hayou et al. 2019
    (arXiv 1902.06853), who parametrise the curve by q.
    """
    second, slope = split(variance, gain)
    invariant = zero_everywhere(second, slope)
    goal = digits + 4
    while True:
        with flint.ctx.workprec(int(3.4 * goal) + 40):
            q = ball(values["q"])
            m2, d1, dm2 = (evaluate(e, values, goal)[0] for e in (second, slope, differentiate(second, Q)))
            w2 = 1 / d1
            b2 = flint.arb(0) if invariant else q - m2 * w2
            # a saturating function at small q has sigma_b^2 as small as its Gaussian tail: ask for more digits
            if not b2.contains(0) or invariant or goal >= (MOST_DIGITS if closed_forms(second, slope) else 60):
                return edge_point(w2, b2, q, dm2 * w2)
        goal *= 2


def homogeneous(variance: Expr, gain: Expr) -> bool:
    """Whether the block's function is scale-invariant by its closed forms: m2(q) = q d1 with d1 free of q."""
    try:
        return zero_everywhere(*split(variance, gain))
    except Unsupported:
        return False


def zero_everywhere(second: Expr, slope: Expr) -> bool:
    """Whether sigma_b^2 = q - m2(q)/d1(q) vanishes identically, by the closed forms (scale-invariant functions)."""
    closed = closed_forms(second, slope)
    if closed is None or not all(form.is_polynomial(Q) for form in closed):
        return False
    return expand(Q * closed[1] - closed[0]) == 0


def closed_forms(*expressions: Expr) -> tuple[Expr, ...] | None:
    """The expressions with their nodes closed, or None where one has no closed form."""
    closed = []
    for expr in expressions:
        forms = {node: closed_form(node) for node in outermost(expr)}
        if any(form is None for form in forms.values()):
            return None
        closed.append(expr.xreplace(forms))
    return tuple(closed)


def edge_point(w2: flint.arb, b2: flint.arb, q: flint.arb, par: flint.arb) -> EdgePoint:
    valid = True if b2 >= 0 else False if b2 < 0 else None
    sigma_b = None if valid is False else to_enclosure(b2.nonnegative_part().sqrt())
    stable = True if abs(par) < 1 else False if abs(par) > 1 else None
    return EdgePoint(
        sigma_w=to_enclosure(w2.sqrt()),
        sigma_b=sigma_b,
        sigma_b2=to_enclosure(b2),
        q=to_enclosure(q),
        chi=to_enclosure(flint.arb(1)),
        chi_parallel=to_enclosure(par),
        valid=valid,
        stable=stable,
    )


def at_sigma_b(variance: Expr, gain: Expr, values: Mapping[str, Any], sigma_b: Fraction) -> EdgeOfChaos:
    """All points of the curve with the given sigma_b: roots of q - m2(q)/d1(q) = sigma_b^2.

    Every sign change on a logarithmic grid of q from 1e-8 to 1e8 is bisected in balls: each returned root is
    certified; a pair of roots closer than the grid could be missed. A scale-invariant function has the whole
    half-line for sigma_b = 0 and nothing otherwise.
    """
    second, slope = split(variance, gain)
    target = Fraction(sigma_b) ** 2
    if flat(slope):
        return EdgeOfChaos((), CONSTANT)
    if zero_everywhere(second, slope):
        if target == 0:
            return EdgeOfChaos((at_q(variance, gain, {**values, "q": Fraction(1)}),), "every q is a fixed point")
        return EdgeOfChaos((), "the function is scale-invariant: chi(q) = 1 forces V(q) = q + sigma_b^2 > q")

    def excess(q: Any, digits: int) -> flint.arb:
        here = {**values, "q": q}
        m2, d1 = (evaluate(e, here, digits)[0] for e in (second, slope))
        return ball(q) - m2 / d1 - ball(target)

    formula = Q - second / slope - Rational(target.numerator, target.denominator)
    roots = sign_changes(excess, lambda points: scan(formula, values, "q", points))
    points = tuple(_at_root(second, slope, {**values, "q": root}, target) for root in roots)
    if target == 0:
        points = (*_limit_point(second, slope, values), *points)
    return EdgeOfChaos(points, "" if points else f"no q between 1e-8 and 1e8 has sigma_b = {sigma_b} on the curve")


def at_sigma_w(variance: Expr, gain: Expr, values: Mapping[str, Any], sigma_w: Fraction) -> EdgeOfChaos:
    """All points of the curve with the given sigma_w: zeros of E phi'^2 - 1/sigma_w^2, with sigma_b^2 = q - m2/d1 >= 0.

    None is missed on the interval of q that the reason names. Points with sigma_b^2 < 0 are left out.
    """
    second, slope = split(variance, gain)
    if sigma_w == 0:
        return EdgeOfChaos((), "sigma_w = 0: the gradient gain is 0")
    if flat(slope):
        return EdgeOfChaos((), CONSTANT)
    target = 1 / ball(sigma_w) ** 2
    if zero_everywhere(second, slope):
        point = at_q(variance, gain, {**values, "q": Fraction(1)})
        gap = evaluate(slope, {**values, "q": Fraction(1)}, 20)[0] - target
        if gap.contains(0):
            return EdgeOfChaos((point,), "every q is a fixed point")
        return EdgeOfChaos((), f"the function is scale-invariant: its only point has sigma_w = {point.sigma_w}")
    found = zeros(level(slope, values, -target))

    def excess(q: Any, digits: int) -> flint.arb:
        return evaluate(slope, {**values, "q": q}, digits)[0] - 1 / ball(sigma_w) ** 2

    points = []
    for low, high in found.brackets:
        root = closed_in(excess, low, high)
        with flint.ctx.workprec(120):
            here = {**values, "q": root}
            m2, d1, dm2 = (evaluate(e, here, 20)[0] for e in (second, slope, differentiate(second, Q)))
            points.append(edge_point(1 / d1, root - m2 / d1, root, dm2 / d1))
    valid = tuple(point for point in points if point.valid is not False)
    return EdgeOfChaos(valid, f"{'no valid point' if not valid else 'all points'}: {found.how}")


def level(slope: Expr, values: Mapping[str, Any], offset: flint.arb) -> Family:
    """E phi'^2 + offset as a function of log q with models."""
    body, factor = factored(slope, values)
    kept = moment(body, tuple(sorted(values.items())))

    def family(start: float, end: float) -> Model:
        model = kept.model(start, end).scaled(factor)
        return Model(model.poly + offset, model.errors, model.scale.max(abs(offset)))

    return family


def factored(expr: Expr, values: Mapping[str, Any]) -> tuple[Expr, flint.arb]:
    """The integrand and the factor of an expression that is a number times one expectation under N(0, q)."""
    nodes = outermost(expr)
    if len(nodes) == 1 and isinstance(nodes[0], GaussianE) and nodes[0].cov.rows == 1 and nodes[0].cov[0, 0] == Q:
        factor = expr / nodes[0]
        if not factor.has(Q, GaussianE) and nodes[0].mean.is_zero_matrix:
            with flint.ctx.workprec(120):
                return nodes[0].body.subs(nodes[0].variables[0], X), plain_ball(factor, values)
    raise Unsupported("the zeros of the gains of a block that is no activation behind a Dense", where=str(expr)[:80])


def _limit_point(second: Expr, slope: Expr, values: Mapping[str, Any]) -> tuple[EdgePoint, ...]:
    """The end of the curve at q -> 0 with sigma_b = 0, where phi(0) = 0 and phi'(0) is not: sigma_w = 1/|phi'(0)|.

    With slopes a and b on the two sides of a kink at 0, phi'(0)^2 is (a^2 + b^2)/2; chi_parallel tends to chi = 1.
    """
    with flint.ctx.workprec(120):
        if pooled(second, slope):
            steep = common_limit(second, slope)
            d1 = flint.arb(0) if steep is None else plain_ball(steep, values)
            return (edge_point(1 / d1, flint.arb(0), flint.arb(0), flint.arb(1)),) if d1 > 0 else ()
        here = {**values, "q": Fraction(0)}
        nodes = {e: {n: enclose(canonical(n), here, 20) for n in outermost(e)} for e in (second, slope)}
        m2, d1 = (plain_ball(e.xreplace(_names(found)), here, _balls(found)) for e, found in nodes.items())
        if not m2.contains(0) or m2.rad() > flint.arb("1e-20") or not d1 > 0:
            return ()
        return (edge_point(1 / d1, flint.arb(0), flint.arb(0), flint.arb(1)),)


def _names(found: Mapping[Expr, flint.arb]) -> dict[Expr, Symbol]:
    return {node: Symbol(f"_limit{i}", real=True) for i, node in enumerate(found)}


def _balls(found: Mapping[Expr, flint.arb]) -> dict[Symbol, flint.arb]:
    return {Symbol(f"_limit{i}", real=True): value for i, value in enumerate(found.values())}


def _at_root(second: Expr, slope: Expr, values: Mapping[str, Any], sigma_b2: Fraction) -> EdgePoint:
    with flint.ctx.workprec(120):
        d1 = evaluate(slope, values, 20)[0]
        dm2 = evaluate(differentiate(second, Q), values, 20)[0]
        return edge_point(1 / d1, ball(sigma_b2), values["q"], dm2 / d1)
