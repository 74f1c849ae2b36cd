"""The edge of chaos of any block: the question goes to what is known about the form of its two conditions."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import flint
from flint import arb
from sympy import Expr, Rational

from derive.depth import edge, joint
from derive.depth.conditions import NEVER_BELOW_ONE, Affine, above_one, affine
from derive.depth.edges import EdgeOfChaos
from derive.depth.homogeneity import scales
from derive.depth.invariant import invariant_edge
from derive.depth.roots import sign_changes
from derive.gaussian.numbers import ball, evaluate
from derive.gaussian.scan import scan
from derive.program.symbols import SIGMA_B
from derive.records import EdgePoint, Unsupported

Values = Mapping[str, Any]
GRID = "q between 1e-8 and 1e8, sign changes on a grid, pairs closer than it could be missed"


def critical(
    variance: Expr,
    gain: Expr,
    values: Values,
    *,
    q: Fraction | None = None,
    sigma_b: Fraction | None = None,
    sigma_w: Fraction | None = None,
    digits: int = 16,
) -> EdgeOfChaos:
    """The points with V(q) = q and chi(q) = 1 where one of q, sigma_b, sigma_w is given.

    Maps that scale with q are decided from their coefficients; maps affine in sigma_w^2 and sigma_b^2 leave one
    equation in q; other maps two equations in two unknowns, each solution certified by Krawczyk's test.
    """
    parts = affine(variance, gain)
    if parts is not None and edge.flat(parts.slope) and parts.through == 0:
        return EdgeOfChaos((), edge.CONSTANT)
    if sigma_w == 0:
        return EdgeOfChaos((), "sigma_w = 0: the gradient gain is 0")
    if above_one(variance, gain):
        return EdgeOfChaos((), never(variance))
    if scales(variance, gain):
        return invariant_edge(variance, gain, values, q, sigma_b, sigma_w)
    if parts is None:
        return joint.solve(variance, gain, values, {"q": q, "sigma_b": sigma_b, "sigma_w": sigma_w})
    if not parts.plain:
        return _of_affine(parts, values, q, sigma_b, sigma_w)
    if sigma_w is not None:
        try:
            return edge.at_sigma_w(variance, gain, values, sigma_w)
        except Unsupported:
            return _of_affine(parts, values, q, sigma_b, sigma_w)
    if sigma_b is not None:
        return edge.at_sigma_b(variance, gain, values, sigma_b)
    point = edge.at_q(variance, gain, {**values, "q": q}, digits)
    return EdgeOfChaos((point,), "" if point.valid else "sigma_b^2 would be negative")


def never(variance: Expr) -> str:
    bias = ", for sigma_b = 0," if variance.has(SIGMA_B) else ""
    return f"{NEVER_BELOW_ONE}: both conditions hold{bias} only in the limit sigma_w -> 0 (or of a vanishing scale)"


def _of_affine(
    parts: Affine, values: Values, q: Fraction | None, sigma_b: Fraction | None, sigma_w: Fraction | None
) -> EdgeOfChaos:
    """sigma_w^2 = (1 - through)/slope, sigma_b^2 = (q - kept - sigma_w^2 second)/share, each a function of q alone."""
    if parts.share == 0 or parts.slope == 0:
        return _too_few(parts)
    if q is not None:
        point = _affine_point(parts, {**values, "q": q}, None)
        if point is None:
            return EdgeOfChaos((), "chi > 1 at every sigma_w > 0 at this q")
        return EdgeOfChaos((point,), "" if point.valid else "sigma_b^2 would be negative")
    given, name = (sigma_b, "sigma_b") if sigma_b is not None else (sigma_w, "sigma_w")
    assert given is not None
    target = Fraction(given) ** 2
    side = parts.bias if name == "sigma_b" else parts.weight
    roots = _zeros(side - Rational(target.numerator, target.denominator), values)
    exact = target if name == "sigma_b" else None
    found = [_affine_point(parts, {**values, "q": root}, exact) for root in roots]
    points = tuple(point for point in found if point is not None and point.valid is not False)
    return EdgeOfChaos(points, f"{'none' if not points else 'all found'} with {name} = {given}: {GRID}")


def _too_few(parts: Affine) -> EdgeOfChaos:
    """A block without a bias or a weight of its own is refused."""
    free = "q" if parts.slope == 0 and parts.share == 0 else "q and one sigma"
    raise Unsupported(
        "the edge of chaos of a block whose sigmas are given",
        why=f"V(q) = q and chi(q) = 1 are two equations, and only {free} would be open",
        instead="leave sigma_w and sigma_b of a Dense open, or ask .at(sigma_w, sigma_b)",
    )


def _zeros(formula: Expr, values: Values) -> list[arb]:
    def excess(q: Any, digits: int) -> arb:
        return evaluate(formula, {**values, "q": q}, digits)[0]

    return sign_changes(excess, lambda points: scan(formula, values, "q", points))


def _affine_point(parts: Affine, values: Values, bias: Fraction | None) -> EdgePoint | None:
    with flint.ctx.workprec(120):
        weight, parallel = (evaluate(e, values, 20)[0] for e in (parts.weight, parts.parallel))
        if not weight > 0:
            return None
        b2 = ball(bias) if bias is not None else evaluate(parts.bias, values, 20)[0]
        return edge.edge_point(weight, b2, ball(values["q"]), parallel)


__all__ = ["critical", "never"]
