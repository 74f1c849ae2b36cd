"""Gradient gain and slope of the variance map of a block, by gradients that are sent through it."""

from __future__ import annotations

from collections.abc import Iterator

from verify.blocks.claims import single, stated
from verify.blocks.subject import BlockSubject
from verify.checking import Check, Claim, Uncheckable


def claims(subject: BlockSubject) -> Iterator[Claim]:
    """chi at three points from gradients sent back through the layers and their weights; dV/dq along the input."""
    subject.demand_arrays()
    if subject.jumps:
        raise Uncheckable(
            "the gain is infinite, since an activation jumps",
            why="gradients of arrays miss the jumps, and no other evidence is built for blocks",
        )
    values = single(subject, "block_gain")
    yield stated(
        subject, "chi", "gradient gain", values, lambda seen, v: seen[0].gain, natural=lambda v: 0.0, gradients=True
    )

    def natural(v) -> float:
        return float(subject.number(subject.theory.variance_map, **v).mid) / float(v["q"])

    yield stated(
        subject,
        "chi_parallel",
        "slope of the variance map",
        values,
        lambda seen, v: seen[0].slope,
        natural=natural,
        gradients=True,
    )


CHECK = Check("block_gain", ("chi", "chi_parallel"), claims, order=40, of=("block",))
