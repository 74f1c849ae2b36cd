"""Layers whose weights are drawn only where they are needed against the same layers with all their weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mpmath import mpf

from derive.records import Enclosure
from verify.blocks.sampling import turns
from verify.blocks.subject import BlockSubject
from verify.checking import Check, Claim, Point, Sampled
from verify.depth import operating_values
from verify.layers import drawn
from verify.sampling import Draw

WIDTH, NETWORKS, TURNS = 24, 12, 2
TITLE = "weights drawn where needed minus all weights drawn"
LATEX = r"\mathbb{E}\,q_{\text{implicit}} - \mathbb{E}\,q_{\text{weights}}"


def claims(subject: BlockSubject) -> Iterator[Claim]:
    """Variance and gradient gain after two turns of both kinds of network differ by nothing, finite width and all."""
    subject.demand_arrays()
    values = {"q": drawn(subject.choices("block_weights"), 0.6, 1.8), **operating_values(subject, "block_weights")}
    theory, zero = subject.theory, Enclosure(mpf(0), mpf(0))
    sizes = [float(subject.number(theory.variance_map, **values))]
    sizes += [] if subject.jumps else [max(float(subject.number(theory.chi, **values)), 1e-3)]
    points = tuple(Point(tuple(values.items()), zero, size) for size in sizes)

    def draw(streams: Sequence[Any]) -> Draw:
        import torch

        from verify.blocks.units import Units

        width, rows, warning = subject.width(WIDTH), [], ""
        for stream in streams:
            row = torch.zeros(len(points), dtype=torch.float64)
            for sign, implicit in ((1, True), (-1, False)):
                for _ in range(NETWORKS):
                    units = Units(stream, subject.group, subject.halves, spread=False, implicit=implicit)
                    seen, doubt = turns(subject, values, units, width, TURNS, gradients=True)
                    warning = warning or doubt
                    row += sign * torch.stack([seen[-1].variances[0], seen[-1].gain])[: len(points)].cpu() / NETWORKS
            rows.append(row)
        return Draw(torch.stack(rows), 2 * NETWORKS, warning)

    yield Claim(
        "variance_map", TITLE, LATEX, "EXACT", points,
        (Sampled("networks", draw, costly=True),),
    )  # fmt: skip


CHECK = Check("block_weights", (), claims, order=130, of=("block",))
