"""The weight-free sampler against networks with sampled weights, at a width where both are cheap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mpmath import mpf

from derive.records import Enclosure
from verify.checking import Check, Claim, Point, Sampled
from verify.depth import LARGEST, operating_values
from verify.layers import drawn
from verify.sampling import Draw
from verify.subject import Subject

WIDTH, NETWORKS, DEPTH = 24, 64, 4


def claims(subject: Subject) -> Iterator[Claim]:
    """Mean variances at layers 2 to 4 of both kinds of network differ by nothing, finite width and all."""
    values = operating_values(subject, "sampler")
    q = drawn(subject.choices("sampler q"), 0.6, 1.8) + values["sigma_b"] ** 2
    sigma_w, sigma_b = float(values["sigma_w"]), float(values["sigma_b"])
    points, current = [], float(q)
    for layer in range(2, DEPTH + 1):
        current = float(subject.number(subject.theory.variance_map, q=current, **values).mid)
        if not current < LARGEST:
            break
        where = (("layer", layer), ("q1", q), ("width", WIDTH), *values.items())
        points.append(Point(where, Enclosure(mpf(0), mpf(0)), max(current, 1e-300)))

    if not points:
        return
    depth = len(points) + 1

    def draw(streams: Sequence[Any]) -> Draw:
        import torch

        from verify import conditional
        from verify.networks import dense

        rows = []
        for stream in streams:
            gram = torch.tensor([[float(q)]], dtype=subject.dtype, device=stream.device)
            options = {"width": WIDTH, "depth": depth, "networks": NETWORKS, "sigma_w": sigma_w, "sigma_b": sigma_b}
            free, weights = (
                kind.kernels(subject.phi, gram, generator=stream, **options)[:, 1:, 0, 0].mean(0)
                for kind in (conditional, dense)
            )
            rows.append((free - weights).to(torch.float64))
        return Draw(torch.stack(rows), 2 * NETWORKS)

    title = "weight-free networks minus networks with sampled weights"
    yield Claim(
        "variance_map", title, r"\mathbb{E}\,q^l_{\text{free}} - \mathbb{E}\,q^l_{\text{weights}}", "EXACT",
        tuple(points), (Sampled("networks", draw, costly=True),), abscissa="layer",
    )  # fmt: skip


CHECK = Check("sampler", (), claims, order=130)
