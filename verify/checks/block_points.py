"""Edge of chaos and fixed points of a block: the conditions they solve, at the returned numbers."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import mpmath

from derive.records import Enclosure
from verify.blocks.sampling import Observe, layers
from verify.blocks.subject import BlockSubject
from verify.checking import Check, Claim, Point
from verify.checks.block_maps import correlation
from verify.depth import operating_values
from verify.layers import drawn


def claims(subject: BlockSubject) -> Iterator[Claim]:
    """V(q*) = q* and chi(q*) = 1 on the edge of chaos; V(q*) = q* and C(c*) = c* at the fixed points."""
    subject.demand_arrays()
    if not subject.jumps:
        yield from _edge(subject)
    yield from _fixed(subject)


def _edge(subject: BlockSubject) -> Iterator[Claim]:
    asked = (Fraction(1), drawn(subject.choices("block edge"), 0.3, 3.0))
    found = [p for q in asked for p in subject.theory.edge_of_chaos(q=q, **subject.parameters).points]
    if not found:
        return
    values = [{"q": float(p.q), "sigma_w": float(p.sigma_w), "sigma_b": 0.0} for p in found]
    where = [(*v.items(), ("sigma_b2", float(p.sigma_b2))) for v, p in zip(values, found, strict=True)]
    balance = tuple(Point(w[:2] + w[3:], p.sigma_b2, float(p.q)) for w, p in zip(where, found, strict=True))
    yield _claim(
        subject, "edge_of_chaos", "edge of chaos: V(q) = q", r"q^* - \sigma_w^2 M(q^*) = \sigma_b^2", balance, values,
        lambda seen, v: v["q"] - seen[0].variances[0],
    )  # fmt: skip
    one = Enclosure(mpmath.mpf(1), mpmath.mpf(0))
    gains = tuple(Point(point.values, one, 1.0) for point in balance)
    yield _claim(
        subject, "edge_of_chaos", "edge of chaos: gain 1", r"\chi(q^*) = 1", gains, values,
        lambda seen, v: seen[0].gain, gradients=True,
    )  # fmt: skip


def _fixed(subject: BlockSubject) -> Iterator[Claim]:
    sigmas = operating_values(subject, "block fixed points")
    state = subject.theory.at(**sigmas, **subject.parameters)
    found = [p for p in state.fixed_points if 0 < float(p.q) < float("inf")]
    if not found:
        return
    values = [{"q": float(p.q), **sigmas} for p in found]
    balance = tuple(Point(tuple(v.items()), p.q, float(p.q)) for v, p in zip(values, found, strict=True))
    yield _claim(
        subject, "at", "fixed point of the variance map", r"V(q^*) = q^*", balance, values,
        lambda seen, v: seen[0].variances[0],
    )  # fmt: skip
    if not subject.jumps:
        slopes = tuple(
            Point(p.values, f.chi_parallel, max(abs(float(f.chi_parallel)), 0.05))
            for p, f in zip(balance, found, strict=True)
        )
        yield _claim(
            subject,
            "at",
            "slope of the fixed point",
            r"V'(q^*)",
            slopes,
            values,
            lambda seen, v: seen[0].slope,
            gradients=True,
        )
    paired = [p for p in found if p.c is not None]
    pairs = [{"q1": float(p.q), "q2": float(p.q), "c": _clipped(p.c), **sigmas} for p in paired]
    if pairs:
        points = tuple(Point(tuple(v.items()), p.c, 1.0) for v, p in zip(pairs, paired, strict=True))
        yield _claim(
            subject, "at", "fixed point of the correlation map", r"C(q^*, q^*, c^*) = c^*", points, pairs,
            lambda seen, v: correlation(seen[0]), linear=False,
        )  # fmt: skip


def _claim(
    subject: BlockSubject,
    attribute: str,
    title: str,
    latex: str,
    points: Any,
    values: Any,
    observe: Observe,
    **how: Any,
) -> Claim:
    kind = str(subject.theory.variance_map.kind)
    return Claim(attribute, title, latex, kind, points, (layers(subject, values, observe, **how),))


def _clipped(c: Any) -> float:
    return max(-1.0, min(1.0, float(c)))


CHECK = Check("block_points", ("edge_of_chaos", "at"), claims, order=90, of=("block",))
