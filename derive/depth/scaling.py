"""Operating points of blocks whose maps scale with the variance: V(q) = r q + bias, chi free of q."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import flint
import mpmath
from flint import arb
from sympy import Expr

from derive.depth.approach import scale_invariant_correlation
from derive.depth.correlations import Limit, attracting
from derive.depth.rates import Rate
from derive.gaussian.numbers import ball, evaluate, to_enclosure
from derive.records import FixedPoint, OperatingPoint

Values = Mapping[str, Any]


def scaling_point(
    variance: Expr,
    correlation: Expr,
    gain: Expr,
    values: Values,
    q0: Fraction,
    phi: Expr | None,
    fixed_point: Any,
    noisy: bool,
) -> OperatingPoint:
    """V(q) = r q + b with r and chi independent of q: the phases do not rest on a fixed point.

    Without biases C'(1) = chi/r: c -> 1 as a power law where chi = r (phi(t x) = t phi(x) behind one Dense),
    exponentially where pooling makes chi < r. Source: Hayou et al. 2019 (arXiv 1902.06853), propositions on ReLU-like
    functions; elementary for the rest.
    """
    bare = {**values, "q": q0, "sigma_b": Fraction(0)}
    with flint.ctx.workprec(120):
        chi = evaluate(gain, bare, 20)[0]
        r = evaluate(variance, bare, 20)[0] / ball(q0)
        bias = evaluate(variance, {**values, "q": q0}, 20)[0] - r * ball(q0) if values["sigma_b"] > 0 else arb(0)
        root = bias / (1 - r) if r < 1 and bias > 0 else None
    gradient = "exploding" if chi > 1 else "vanishing" if chi < 1 else "critical"
    proved: dict[str, Any] = {"certificate": "V is affine in q", "ends": ("", "")}
    if root is not None:
        point, limit = fixed_point({**values, "q": root})
        points = (replace(point, basin=(0, mpmath.inf)),)
        rates = _exponential(point, limit)
        return OperatingPoint(points, 0, gradient, in_words(limit), "converges", rates=rates, **proved)
    with flint.ctx.workprec(100):
        limit = attracting(correlation, chi / r, bare, noisy)
        stays = evaluate(correlation, {**bare, "q1": q0, "q2": q0, "c": Fraction(1, 2)}, 20)[0].contains(arb("0.5"))
    geometry = "c stays" if stays and not bias > 0 else in_words(limit)
    rates = _approach(limit, phi, bool(bias > 0 and not r > 1))
    if r > 1 or r < 1 or bias > 0:
        tendency = "grows without bound" if r > 1 or bias > 0 else "falls to 0"
        return OperatingPoint((), None, gradient, geometry, tendency, rates=(*rates, *_growth(r, chi)), **proved)
    point, _ = fixed_point({**values, "q": ball(q0)})
    tendency = "does not move: every variance is a fixed point"
    return OperatingPoint((point,), 0, gradient, geometry, tendency, rates=rates, **proved)


def in_words(limit: Limit) -> str:
    """Where the correlation goes, and how."""
    if limit.c is None or limit.slope is None:
        return f"c -> c* < 1, of which no number is known: {limit.why}" if limit.below else f"undecided: {limit.why}"
    if limit.c < 1:
        return "c -> c* < 1, exponentially"
    return "c -> 1, exponentially" if limit.slope < 1 else "c -> 1, as a power law"


def _exponential(point: FixedPoint, limit: Limit) -> tuple[Rate, ...]:
    found = [Rate("|q - q*|", "exponential", xi=point.xi_q, why="|V'(q*)| < 1")]
    if limit.c is not None and limit.c < 1:
        found.append(Rate("|c - c*|", "exponential", xi=point.xi_c, why="C'(c*) < 1"))
    elif limit.slope is not None and limit.slope < 1:
        found.append(Rate("1 - c", "exponential", xi=point.xi_c, why="C'(1) = chi < 1"))
    return tuple(found)


def _approach(limit: Limit, phi: Expr | None, growing: bool) -> tuple[Rate, ...]:
    if limit.c is None or limit.slope is None:
        return ()
    if limit.c < 1 or limit.slope < 1:
        place = to_enclosure(limit.c)
        of, why = ("|c - c*|", f"C'(c*) < 1 at c* = {place}") if limit.c < 1 else ("1 - c", "C'(1) = chi q/V(q) < 1")
        return (Rate(of, "exponential", xi=to_enclosure(-1 / limit.slope.log()), why=why),)
    return () if phi is None else (scale_invariant_correlation(phi, growing=growing),)


def _growth(r: arb, chi: arb) -> tuple[Rate, ...]:
    """Factors a block."""
    found = []
    if r > 1 or r < 1:
        found.append(Rate("q", "geometric", prefactor=to_enclosure(r), why="V(q) = r q without biases"))
    if chi > 1 or chi < 1:
        found.append(Rate("squared gradient", "geometric", prefactor=to_enclosure(chi), why="chi does not depend on q"))
    return tuple(found)


__all__ = ["in_words", "scaling_point"]
