"""Variances, correlations and gradients over several turns of a block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import mpmath

from derive.records import Enclosure
from verify.blocks.sampling import Observe, layers, networks
from verify.blocks.subject import BlockSubject
from verify.checking import Check, Claim, Point
from verify.checks.block_maps import correlation
from verify.depth import LARGEST, operating_values
from verify.layers import drawn, scale_of

TURNS = 4


def claims(subject: BlockSubject) -> Iterator[Claim]:
    """Four turns from two drawn inputs: the recursions of the theory's maps against the layers, turn after turn."""
    subject.demand_arrays()
    theory, values = subject.theory, operating_values(subject, "block_depth")
    rng = subject.choices("block_depth inputs")
    start = {
        "q1": drawn(rng, 0.4, 2.0),
        "q2": drawn(rng, 0.4, 2.0),
        "c": Fraction(round(100 * rng.uniform(-0.6, 0.8)), 100),
    }
    run = {**start, **values}
    where = tuple(run.items())
    first, second, c = start["q1"], start["q2"], start["c"]
    variances: list[Point] = []
    correlations: list[Point] = []
    gains: list[Point] = []
    growth = mpmath.mpf(1)
    for turn in range(1, TURNS + 1):
        v1, v2 = (subject.number(theory.variance_map, q=q, **values) for q in (first, second))
        if not max(float(v1), float(v2)) < LARGEST:
            break
        after = (("layer", turn + 1), *where)
        variances.append(Point(after, v1, scale_of(float(v1), float(v1))))
        k = subject.number(theory.correlation_map, q1=first, q2=second, c=c, **values)
        correlations.append(Point(after, k, 1.0))
        if not subject.jumps:
            growth *= subject.number(theory.chi, q=first, **values).mid
            gains.append(Point(after, _wide(growth, turn), scale_of(float(growth), float(growth))))
        first, second, c = Fraction(float(v1)), Fraction(float(v2)), Fraction(max(-1.0, min(1.0, float(k))))
    yield from _claims(subject, run, (variances, correlations, gains))


def _wide(value: Any, turn: int) -> Enclosure:
    return Enclosure(value, abs(value) * turn * mpmath.mpf("1e-14"))


def _claims(subject: BlockSubject, run: Any, points: Sequence[list[Point]]) -> Iterator[Claim]:
    stated: tuple[tuple[str, str, str, Observe], ...] = (
        ("variance_map", "variance along depth", "q^{l+1} = V(q^l)", lambda seen, v: [s.variances[0] for s in seen]),
        ("correlation_map", "correlation along depth", "c^{l+1} = C(q_1^l, q_2^l, c^l)",
         lambda seen, v: [correlation(s) for s in seen]),
        ("chi", "gradient growth along depth", r"\|J^l v\|^2 = \prod_{k<l} \chi(q^k)\, \|v\|^2",
         lambda seen, v: [s.gain for s in seen]),
    )  # fmt: skip
    for (attribute, title, latex, observe), along in zip(stated, points, strict=True):
        if along:
            how: Any = {"count": len(along), "gradients": attribute == "chi"}
            witnesses = (layers(subject, [run], observe, **how), networks(subject, [run], observe, **how))
            kind = str(getattr(subject.theory, attribute).kind)
            yield Claim(attribute, title, latex, kind, tuple(along), witnesses, abscissa="layer")


CHECK = Check("block_depth", (), claims, order=100, rests_on=("variance_map", "correlation_map", "chi"), of=("block",))
