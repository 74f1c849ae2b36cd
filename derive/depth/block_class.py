"""The universality class of a block of several layers, where its maps decide it."""

from __future__ import annotations

from collections.abc import Sized
from fractions import Fraction

from sympy import Expr, Integer

from derive.depth.conditions import NEVER_BELOW_ONE, above_one
from derive.depth.homogeneity import scales
from derive.depth.invariant import invariant_edge
from derive.depth.rates import Rate
from derive.depth.universality import ZERO, Universality
from derive.program.symbols import SIGMA_B, SIGMA_W, Q
from derive.records import EocError, Kind, Unsupported


def of_block(variance: Expr, gain: Expr, jumps: Sized, block: object) -> Universality:
    """ "scale-invariant" or "none" for maps that scale with the variance, "none" for streams that only grow.

    Raises EocError for open parameters, Unsupported for other maps.
    """
    if jumps:
        return Universality("none", ("an activation jumps: chi is infinite at every q",), kind=Kind.EXACT)
    if above_one(variance, gain):
        return Universality("none", (NEVER_BELOW_ONE,), kind=Kind.EXACT)
    if not scales(variance, gain):
        raise Unsupported(
            "the universality class of a block other than one activation behind one Dense",
            where=repr(block),
            why="its maps do not scale with the variance, and their expansions are built for one activation",
            instead=".edge_of_chaos(sigma_b=...) and .at(sigma_w, sigma_b)",
        )
    free = sorted(s.name for s in (variance.free_symbols | gain.free_symbols) - {Q, SIGMA_W, SIGMA_B})
    if free:
        raise EocError(f"the universality class needs a value for {', '.join(free)}", instead="give it in the block")
    edge = invariant_edge(variance, gain, {}, None, Fraction(0), None)
    if not edge.points:
        return Universality("none", ("V(t q) = t V(q) and chi(t q) = chi(q) for every t > 0", edge.reason))
    point, zero = edge.points[0], Integer(0)
    reasons = (
        "V(t q) = t V(q) and chi(t q) = chi(q) for every t > 0 at sigma_b = 0: its functions are lines on rays",
        f"V(q) = q chi: both conditions hold at sigma_w = {point.sigma_w} for every q",
    )
    rate = Rate("q", "none", why="every variance is a fixed point")
    return Universality("scale-invariant", reasons, None, point.sigma_w, ZERO, zero, zero, zero, rate=rate)


__all__ = ["of_block"]
