"""Fixed points of the variance and correlation maps at given sigma_w, sigma_b."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import flint
import mpmath
import numpy as np
from sympy import Expr

from derive.depth.approach import at_fixed_point, scale_invariant_correlation, to_zero
from derive.depth.edge import homogeneous
from derive.depth.fixed_set import at_the_ends, fixed_zeros
from derive.depth.roots import Function, Guess, closed_in, grid, refine, sign_changes
from derive.gaussian.numbers import ball, differentiate, evaluate, to_enclosure
from derive.gaussian.scan import scan
from derive.program.symbols import SIGMA_B, SIGMA_W, C, Q
from derive.records import FixedPoint, OperatingPoint, Unsupported

Values = Mapping[str, Any]


def operating_point(
    variance: Expr, correlation: Expr, gain: Expr, values: Values, q0: Fraction, phi: Expr | None = None
) -> OperatingPoint:
    """Fixed points q = V(q) with stability and basins, and the one that attracts q0.

    For an activation behind a Dense the set is complete on the interval that `certificate` names; for other blocks
    its roots are the sign changes of V(q) - q on a logarithmic grid of q from 1e-8 to 1e8, each certified in balls
    (two roots closer than the grid could be missed). c* is the attracting fixed point of C(c) at q1 = q2 = q*:
    c = 1 where chi <= 1, else the one root below 1, certified by a sign change.
    Depth scales xi = -1/ln|slope|: Schoenholz et al. 2017 (arXiv 1611.01232), eqs. 7 and 9.
    """

    def excess(q: Any, digits: int) -> flint.arb:
        return evaluate(variance, {**values, "q": q}, digits)[0] - ball(q)

    def after(points: list[float]) -> np.ndarray:
        return scan(variance, values, "q", points)

    if homogeneous(variance, gain):
        return _scale_invariant(variance, correlation, gain, values, q0, phi)
    roots, certificate, ends = _all_roots(variance, values, excess, after)
    with flint.ctx.workprec(100):
        points = tuple(_fixed_point(variance, correlation, gain, {**values, "q": root}) for root in roots)
    increasing = bool((np.diff(after([float(q) for q in grid()])) >= 0).all())
    points = _with_basins(points, roots) if increasing else points
    attractor, tendency = _attractor(excess, roots, q0) if increasing else _followed(after, roots, q0)
    proved: dict[str, Any] = {"certificate": certificate, "ends": ends}
    if attractor is None:
        rates = to_zero(phi, values) if phi is not None and tendency == "falls to 0" else ()
        return OperatingPoint(points, None, None, None, tendency, rates=rates, **proved)
    point = points[attractor]
    rates = at_fixed_point(point, phi, values)
    return OperatingPoint(points, attractor, _gradient_phase(point), _geometry(point), tendency, rates=rates, **proved)


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
    roots = sign_changes(excess, lambda points: after(points) - np.array(points))
    return roots, f"sign changes on a grid, pairs closer than it could be missed ({why})", ("", "")


def _scale_invariant(
    variance: Expr, correlation: Expr, gain: Expr, values: Values, q0: Fraction, phi: Expr | None
) -> OperatingPoint:
    """V(q) = chi q + sigma_b^2 with chi independent of q: the phases do not rest on a fixed point.

    For chi > 1, and for sigma_b = 0, the correlation approaches 1 as a power law (C'(1) = 1); it stays where phi is
    linear. Source: Hayou et al. 2019 (arXiv 1902.06853), propositions on ReLU-like functions.
    """
    here = {**values, "q": q0}
    with flint.ctx.workprec(120):
        chi = evaluate(gain, here, 20)[0]
        bias = values["sigma_b"] ** 2
        middle = evaluate(correlation, {**here, "q1": q0, "q2": q0, "c": Fraction(1, 2), "sigma_b": Fraction(0)}, 20)[0]
        same = evaluate(correlation, {**here, "q1": q0, "q2": q0, "c": Fraction(1), "sigma_b": Fraction(0)}, 20)[0]
        root = ball(bias) / (1 - chi)
        fixed = None
        if chi < 1 and bias > 0:
            fixed = _fixed_point(variance, correlation, gain, {**values, "q": root})
        elif not (chi > 1 or chi < 1) and bias == 0:
            fixed = _fixed_point(variance, correlation, gain, {**values, "q": ball(q0)})
    gradient = "exploding" if chi > 1 else "vanishing" if chi < 1 else "critical"
    stays = middle.contains(flint.arb("0.5"))
    # noise of each input's own (dropout) takes copies apart
    power = "c -> c* < 1, exponentially" if same < 1 else "c -> 1, as a power law"
    geometry = "c stays" if stays and bias == 0 else power
    proved: dict[str, Any] = {"certificate": "V is affine in q", "ends": ("", "")}
    rates: tuple[Any, ...] = ()
    if phi is not None and not (chi < 1 and bias > 0):
        rates = (scale_invariant_correlation(phi, growing=bias > 0 and not chi > 1),)
    if fixed is not None:
        if bias > 0:
            rates = at_fixed_point(fixed, phi, values)
            points = (replace(fixed, basin=(0, mpmath.inf)),)
            return OperatingPoint(points, 0, gradient, _geometry(fixed), "converges", rates=rates, **proved)
        tendency = "does not move: every variance is a fixed point"
        return OperatingPoint((fixed,), 0, gradient, geometry, tendency, rates=rates, **proved)
    tendency = "falls to 0" if chi < 1 else "grows without bound"
    return OperatingPoint((), None, gradient, geometry, tendency, rates=rates, **proved)


def _fixed_point(variance: Expr, correlation: Expr, gain: Expr, values: dict[str, Any]) -> FixedPoint:
    parallel = evaluate(differentiate(variance, Q), values, 20)[0]
    chi = evaluate(gain, values, 20)[0]
    stable = True if abs(parallel) < 1 else False if abs(parallel) > 1 else None
    try:
        c, slope = _correlation(correlation, chi, values)
    except Unsupported:
        c, slope = None, None  # the pair has no enclosure near c*: the geometry stays undecided
    return FixedPoint(
        q=to_enclosure(values["q"]),
        stable=stable,
        basin=None,
        chi=to_enclosure(chi),
        chi_parallel=to_enclosure(parallel),
        c=None if c is None else to_enclosure(c),
        xi_q=to_enclosure(_depth_scale(parallel)),
        xi_c=None if slope is None else to_enclosure(_depth_scale(slope)),
    )


def _depth_scale(slope: flint.arb) -> flint.arb:
    size = abs(slope)
    if size.contains(0):
        return flint.arb(0, -1 / size.upper().log()) if size.upper() < 1 else flint.arb("nan")
    if size.contains(1):
        return flint.arb("inf")
    return -1 / size.log()


def _correlation(correlation: Expr, chi: flint.arb, values: dict[str, Any]) -> tuple[Any, Any]:
    """(c*, C'(c*)): c* = 1 with slope chi where chi <= 1, else the root of C(c) = c below 1.

    Where noise parts two copies of one input (dropout), C(1) < 1 and c* is below 1 whatever chi.
    """
    one, here = flint.arb(1), {**values, "q1": values["q"], "q2": values["q"]}

    def excess(c: Any, digits: int) -> flint.arb:
        return evaluate(correlation, {**here, "c": c}, digits)[0] - ball(c)

    if excess(Fraction(1), 12) < 0:
        c = refine(excess, Fraction(0), Fraction(1), 1, digits=13) if excess(Fraction(0), 12) > 0 else None
    elif chi < 1:
        return one, chi
    elif not chi > 1:
        return (one, chi) if chi.is_finite() else (None, None)
    else:
        c = _interior_root(excess)
    if c is None:
        return None, None
    slope = evaluate(differentiate(correlation, C), {**here, "c": c}, 12)[0]
    return c, slope


def _interior_root(excess: Function) -> flint.arb | None:
    """The root of C(c) - c in [0, 1), where chi > 1.

    C is a power series with non-negative coefficients (Hermite expansion of phi), hence convex on [0, 1], with
    C(0) >= 0 and C(1) = 1: with C'(1) > 1 there is exactly one root below 1, and it attracts.
    """
    with flint.ctx.workprec(80):
        at_zero = excess(Fraction(0), 14)
    if not at_zero > 0:
        return flint.arb(0) if at_zero.contains(0) else None
    for k in range(1, 40):
        upper = 1 - Fraction(1, 2**k)
        with flint.ctx.workprec(80):
            value = excess(upper, 12)
        if value < 0:
            return refine(excess, Fraction(0), upper, 1, digits=13)
    return None


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


def _geometry(point: FixedPoint) -> str:
    if point.c is None:
        return "undecided"
    if point.chi.upper < 1:
        return "c -> 1, exponentially"
    if point.chi.lower > 1:
        return "c -> c* < 1, exponentially"
    return "c -> 1, as a power law"
