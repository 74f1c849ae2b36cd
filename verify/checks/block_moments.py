"""Mean and second moment of a block's output."""

from __future__ import annotations

from collections.abc import Iterator

from verify.blocks.claims import single, size, stated
from verify.blocks.subject import BlockSubject
from verify.checking import Check, Claim


def claims(subject: BlockSubject) -> Iterator[Claim]:
    """E y and E y^2 at three points each, against the layers themselves on wide arrays."""
    natural, values = size(subject), single(subject, "block_moments")
    yield stated(
        subject, "mean", "mean of the output", values, lambda seen, v: seen[0].mean, natural=lambda v: natural(v) ** 0.5
    )
    yield stated(
        subject, "second_moment", "second moment of the output", values, lambda seen, v: seen[0].first, natural=natural
    )


CHECK = Check("block_moments", ("mean", "second_moment"), claims, order=10, of=("block",))
