"""Variance, covariance and correlation maps of a block."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from verify.blocks.claims import single, size, stated
from verify.blocks.sampling import Seen
from verify.blocks.subject import BlockSubject
from verify.checking import Check, Claim
from verify.layers import drawn, sigmas

ALONG = (-10, -4, 3, 8, 10)
"""Correlations in tenths; the ends belong to the domain."""


def claims(subject: BlockSubject) -> Iterator[Claim]:
    """V at four points, the covariance map at two variances and C at equal and at different ones."""
    natural, rng = size(subject), subject.choices("block_maps")
    yield stated(
        subject, "variance_map", "variance map", single(subject, "block_maps variance", 4),
        lambda seen, v: seen[0].variances[0], natural=lambda v: 0.0,
    )  # fmt: skip
    fixed = {"q1": drawn(rng, 0.4, 2.0), "q2": drawn(rng, 0.4, 2.0), **sigmas(rng)}
    pairs = [{**fixed, "c": Fraction(c, 10)} for c in ALONG]
    yield stated(subject, "covariance_map", "covariance map", pairs, lambda seen, v: seen[0].cross, natural=natural)
    q, other = drawn(rng, 0.4, 2.0), {"q1": drawn(rng, 0.4, 2.0), "q2": drawn(rng, 0.4, 2.0), **sigmas(rng)}
    curve = [{"q1": q, "q2": q, "c": Fraction(c, 10), **sigmas(rng)} for c in ALONG]
    curve.append({**other, "c": Fraction(round(100 * rng.uniform(-0.9, 0.9)), 100)})
    yield stated(
        subject, "correlation_map", "correlation map", curve, lambda seen, v: correlation(seen[0]),
        natural=lambda v: 1.0, linear=False,
    )  # fmt: skip


def correlation(seen: Seen) -> Any:
    """K/sqrt(V1 V2) of what enters the next turn."""
    first, second = seen.variances
    return seen.covariance / (first * second).sqrt()


CHECK = Check("block_maps", ("variance_map", "covariance_map", "correlation_map"), claims, order=20, of=("block",))
