"""What width does to the kernel: its four-point vertex and its mean correction, at order 1/n."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import mpmath
import numpy as np

from derive.records import Enclosure, Unsupported
from verify.checking import Check, Claim, Point, Sampled
from verify.depth import LARGEST, operating_values
from verify.layers import drawn
from verify.sampling import Draw
from verify.subject import Subject

if TYPE_CHECKING:
    import torch

WIDTHS, DEPTH, NETWORKS = (64, 128, 256), 4, 128
QUADRATURE = 1e-12
"""Relative error of the witness's conditional means, which the correction multiplies by the width."""
STATED = (("vertex", "V at layer", 1e-2), ("correction", "K1 at layer", 1.0))
"""Attribute of a FiniteDepth, its name at a point, and the share of K below which an error is relative to K."""
LATEX = r"V^l = \lim_n n \operatorname{Var} G^l, \qquad K_1^l = \lim_n n \left(\mathbb{E}\, G^l - K^l\right)"


def claims(subject: Subject) -> Iterator[Claim]:
    """V and K1 at layers 2 to 4 against networks of three widths, extrapolated in 1/n."""
    values = operating_values(subject, "finite_width")
    q = drawn(subject.choices("finite_width q"), 0.5, 2.0)
    try:
        found = subject.theory.finite_width.depth(
            q, DEPTH, WIDTHS[0], values["sigma_w"], values["sigma_b"], **subject.parameters
        )
    except Unsupported:  # nothing is stated
        return
    size = np.array([float(v) for v in found.kernel])
    if not size.max() < LARGEST:
        return
    points = []
    for name, label, share in STATED:
        want = [float(v) for v in getattr(found, name)]
        for layer in range(2, DEPTH + 1):
            k, w = float(size[layer - 1]), want[layer - 1]
            radius = QUADRATURE * WIDTHS[-1] * k + 1e-11 * abs(w)
            where = ((label, layer), ("q1", q), *values.items())
            points.append(Point(where, Enclosure(mpmath.mpf(w), mpmath.mpf(radius)), max(abs(w), share * k)))
    witness = Sampled("networks of three widths", _networks(subject, float(q), values), costly=True)
    title = "vertex and mean correction along depth"
    yield Claim("finite_width", title, LATEX, "INTEGRAL", tuple(points), (witness,))


def _networks(subject: Subject, q: float, values: Any) -> Callable[[Sequence[Any]], Draw]:
    """Batches of both at layers 2 to 4; with three widths the first two orders of what is left are removed."""
    sigma_w, sigma_b = float(values["sigma_w"]), float(values["sigma_b"])
    kept: dict[str, Any] = {}

    def draw(streams: Sequence[torch.Generator]) -> Draw:
        import torch

        from verify.finite_width import breakpoints
        from verify.finite_width.chains import chains
        from verify.finite_width.estimates import estimate, richardson
        from verify.finite_width.tables import OneLayer

        if not kept:
            kept["layer"] = OneLayer(subject.phi, None, breakpoints(subject.theory, dict(subject.parameters)))
        rows = []
        for generator in map(_on_cpu, streams):
            total = np.zeros((len(STATED), DEPTH))
            for width, share in zip(WIDTHS, richardson(WIDTHS), strict=True):
                below = [width] * (DEPTH - 1)
                sample = chains(subject.phi, q, below, sigma_w, sigma_b, NETWORKS, generator)
                found = estimate(kept["layer"], sample, below, sigma_w, sigma_b)
                total += share * np.array([getattr(found, name) for name, *_ in STATED])
            rows.append(torch.from_numpy(total[:, 1:].ravel()))
        return Draw(torch.stack(rows), NETWORKS * len(WIDTHS))

    return draw


def _on_cpu(stream: torch.Generator) -> torch.Generator:
    """The stream, or one of the processor's that it seeds: the conditional means are tables on the processor."""
    import torch

    if stream.device.type == "cpu":
        return stream
    seed = torch.randint(1 << 62, (1,), generator=stream, device=stream.device)
    return torch.Generator().manual_seed(int(seed))


CHECK = Check("finite_width", (), claims, order=130, rests_on=("finite_width",))
