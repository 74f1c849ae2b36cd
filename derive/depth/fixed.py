"""Fixed points of the variance and correlation maps at given sigma_w, sigma_b."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import flint
import numpy as np
from sympy import Expr

from derive.depth import rising
from derive.depth.approach import at_fixed_point, to_zero
from derive.depth.correlations import Limit, attracting
from derive.depth.fixed_set import at_the_ends, fixed_zeros
from derive.depth.homogeneity import scales
from derive.depth.roots import Function, Guess, closed_in, grid, sign_changes
from derive.depth.scaling import in_words, scaling_point
from derive.depth.unbounded import growth
from derive.gaussian.numbers import ball, differentiate, evaluate, to_enclosure
from derive.gaussian.scan import scan
from derive.program.symbols import SIGMA_B, SIGMA_W, C, Q
from derive.records import FixedPoint, OperatingPoint, Unsupported

Values = Mapping[str, Any]


def operating_point(
    variance: Expr,
    correlation: Expr,
    gain: Expr,
    values: Values,
    q0: Fraction,
    phi: Expr | None = None,
    noisy: bool = False,
) -> OperatingPoint:
    """Fixed points q = V(q) with stability and basins, and the one that attracts q0.

    The set is complete on the interval of q that `certificate` names, with the argument: models in log q behind one
    Dense, a V that is shown to rise or interval arithmetic for other blocks. Where neither decides, the roots are sign
    changes of V(q) - q on a logarithmic grid of q from 1e-8 to 1e8, each certified in balls, and the certificate says
    that two roots closer than the grid could be missed. c* is the attracting fixed point of C(c) at q1 = q2 = q*:
    c = 1 where chi <= 1, else the one root below 1, certified by a sign change.
    Depth scales xi = -1/ln|slope|: Schoenholz et al. 2017 (arXiv 1611.01232), eqs. 7 and 9.
    """

    def excess(q: Any, digits: int) -> flint.arb:
        return evaluate(variance, {**values, "q": q}, digits)[0] - ball(q)

    def after(points: list[float]) -> np.ndarray:
        return scan(variance, values, "q", points)

    def described(here: dict[str, Any]) -> tuple[FixedPoint, Limit]:
        with flint.ctx.workprec(100):
            return _fixed_point(variance, correlation, gain, here, noisy)

    if scales(variance, gain):
        return scaling_point(variance, correlation, gain, values, q0, phi, described, noisy)
    roots, certificate, ends = _all_roots(variance, values, excess, after)
    made = [described({**values, "q": root}) for root in roots]
    points = tuple(point for point, _ in made)
    increasing = bool((np.diff(after([float(q) for q in grid()])) >= 0).all())
    points = _with_basins(points, roots) if increasing else points
    attractor, tendency = _attractor(excess, roots, q0) if increasing else _followed(after, roots, q0)
    proved: dict[str, Any] = {"certificate": certificate, "ends": ends}
    if attractor is None:
        gradient, rates = None, to_zero(phi, values) if phi is not None and tendency == "falls to 0" else ()
        if tendency == "grows without bound":
            gradient, rates = growth(variance, gain, values)
        return OperatingPoint(points, None, gradient, None, tendency, rates=rates, **proved)
    point, limit = points[attractor], made[attractor][1]
    rates = at_fixed_point(point, phi, values)
    return OperatingPoint(points, attractor, _gradient_phase(point), in_words(limit), tendency, rates=rates, **proved)


def _all_roots(
    variance: Expr, values: Values, excess: Function, after: Guess
) -> tuple[list[flint.arb], str, tuple[str, str]]:
    """The roots of V(q) - q with what is proved about them, and what the ends of the line are."""
    second = (variance - SIGMA_B**2).expand(deep=False).coeff(SIGMA_W, 2)
    try:
        if second.has(SIGMA_W) or (variance - SIGMA_B**2 - SIGMA_W**2 * second).expand() != 0:
            raise Unsupported("a variance map of several Dense layers")
        found = fixed_zeros(second, values)
        if not found.reason:
            roots = [closed_in(excess, low, high, guard=2) for low, high in found.brackets]
            return roots, found.how, at_the_ends(second, values)
        why = found.reason
    except Unsupported as error:
        why = error.what
    try:
        found, how = rising.of_block(variance, values)
        roots = [closed_in(excess, low, high, guard=2) for low, high in found.brackets]
        return roots, how, rising.at_the_ends(variance, values)
    except Unsupported as error:
        why = f"{why}; {error.what}"
    roots = sign_changes(excess, lambda points: after(points) - np.array(points))
    return roots, f"sign changes on a grid, pairs closer than it could be missed ({why})", ("", "")


def _fixed_point(
    variance: Expr, correlation: Expr, gain: Expr, values: dict[str, Any], noisy: bool
) -> tuple[FixedPoint, Limit]:
    parallel = evaluate(differentiate(variance, Q), values, 20)[0]
    if gain.has(C):  # the gain of a batch normalisation depends on the correlation of the batch's inputs
        limit = attracting(correlation, None, values, True)
        chi = flint.arb("nan") if limit.c is None else evaluate(gain, {**values, "c": limit.c}, 20)[0]
    else:
        chi = evaluate(gain, values, 20)[0]
        limit = attracting(correlation, chi, values, noisy)
    stable = True if abs(parallel) < 1 else False if abs(parallel) > 1 else None
    point = FixedPoint(
        q=to_enclosure(values["q"]),
        stable=stable,
        basin=None,
        chi=to_enclosure(chi),
        chi_parallel=to_enclosure(parallel),
        c=None if limit.c is None else to_enclosure(limit.c),
        xi_q=to_enclosure(_depth_scale(parallel)),
        xi_c=None if limit.slope is None else to_enclosure(_depth_scale(limit.slope)),
    )
    return point, limit


def _depth_scale(slope: flint.arb) -> flint.arb:
    size = abs(slope)
    if size.is_zero():
        return flint.arb(0)
    if size.contains(0):
        return flint.arb(0, -1 / size.upper().log()) if size.upper() < 1 else flint.arb("nan")
    if size.contains(1):
        return flint.arb("inf")
    return -1 / size.log()


def _with_basins(points: tuple[FixedPoint, ...], roots: list[flint.arb]) -> tuple[FixedPoint, ...]:
    """A stable point attracts up to its neighbouring roots (V is increasing between them)."""
    edges = [0, *(to_enclosure(r) for r in roots), float("inf")]
    return tuple(
        replace(point, basin=(edges[i], edges[i + 2])) if point.stable else point for i, point in enumerate(points)
    )


def _attractor(excess: Function, roots: list[flint.arb], q0: Fraction) -> tuple[int | None, str]:
    """The next root in the direction in which the variance moves from q0."""
    with flint.ctx.workprec(80):
        move = excess(q0, 12)
        start = ball(q0)
    here = [i for i, r in enumerate(roots) if r.overlaps(start)]
    if here:
        return here[0], "converges"
    if move > 0:
        above = [i for i, r in enumerate(roots) if r > start]
        return (above[0], "converges") if above else (None, "grows without bound")
    if move < 0:
        below = [i for i, r in enumerate(roots) if r < start]
        return (below[-1], "converges") if below else (None, "falls to 0")
    return None, "does not move: every variance near q0 is a fixed point"


def _followed(after: Guess, roots: list[flint.arb], q0: Fraction) -> tuple[int | None, str]:
    """Where iteration from q0 leads; V is not increasing, so that neither order nor signs decide it."""
    q = float(q0)
    for _ in range(500):
        q = float(after([q])[0])
        if not q < 1e12:
            return None, "grows without bound"
        if q < 1e-12:
            return None, "falls to 0"
        near = [i for i, root in enumerate(roots) if abs(q - float(root.mid())) < 1e-7 * q]
        if near and abs(float(after([q])[0]) - q) < 1e-7 * q:
            return near[0], "converges"
    return None, "does not settle within 500 layers"


def _gradient_phase(point: FixedPoint) -> str:
    if point.chi.upper < 1:
        return "vanishing"
    if point.chi.lower > 1:
        return "exploding"
    return "critical"
