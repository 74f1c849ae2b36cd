"""Claims about many layers: builders shared by the checks of depth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from verify.checking import Sampled
from verify.control import Layer, control, sensitivities
from verify.layers import drawn
from verify.sampling import Draw, network_warning
from verify.subject import Subject
from verify.tested import Tested

if TYPE_CHECKING:
    import torch

WIDTH, NETWORKS, DEPTH = 512, 4, 6
LARGEST = 1e4
"""A curve that grows beyond this ends there: at finite width its mean says nothing."""


def operating_values(subject: Tested, name: str) -> dict[str, Fraction]:
    """sigma_b drawn, and sigma_w near the value with V(1) = 1, so that deep networks neither vanish nor explode."""
    rng = subject.choices(name)
    sigma_b = drawn(rng, 0.1, 0.5)
    if "sigma_w" in subject.theory.second_moment.arguments:  # several layers with weights share it
        return {"sigma_w": drawn(rng, 0.8, 1.2), "sigma_b": sigma_b}
    second = float(subject.number(subject.theory.second_moment, q=1))
    target = ((1 - float(sigma_b) ** 2) / second) ** 0.5 * rng.uniform(0.85, 1.15)
    return {"sigma_w": Fraction(f"{target:.3g}"), "sigma_b": sigma_b}


def richardson(
    subject: Subject,
    gram: Sequence[Sequence[float]],
    values: dict[str, Fraction],
    observe: Callable[[torch.Tensor], torch.Tensor],
    *,
    largest: float,
    depth: int,
    tangent: bool = False,
) -> Sampled:
    """Weight-free random networks, extrapolated to infinite width from widths n and 2n.

    A smooth function of the kernels has mean a + b/n + O(1/n^2); 2 E_{2n} - E_n removes b (n = 512). The engine
    decides nothing where the removed correction is so large that the next order could matter.
    A control variate of mean zero takes most of the noise away.
    observe   (networks, depth, B, B) kernels -> (networks, depth) numbers
    largest   the largest variance that the claim predicts on the way
    """
    sigma_w, sigma_b = float(values["sigma_w"]), float(values["sigma_b"])
    slope = subject.slope if tangent else None
    layer = Layer(subject.phi, slope, sigma_w, sigma_b)
    known: dict[str, torch.Tensor] = {}

    def draw(streams: Sequence[Any]) -> Draw:
        import torch

        from verify.conditional import kernels

        rows, corrections = [], []
        for stream in streams:
            start = torch.tensor(gram, dtype=subject.dtype, device=stream.device)
            if not known:
                known["sensitivity"] = sensitivities(layer, start, depth, observe)
            means = []
            for width in (WIDTH, 2 * WIDTH):
                sample = kernels(
                    subject.phi, start, width=width, depth=depth, networks=NETWORKS, sigma_w=sigma_w,
                    sigma_b=sigma_b, generator=stream, slope=slope,
                )  # fmt: skip
                quiet = observe(sample)[:, 1:] - control(layer, sample, known["sensitivity"], stream)
                means.append(quiet.mean(0).to(torch.float64))
            rows.append(2 * means[1] - means[0])
            corrections.append(means[1] - means[0])
        warning = network_warning(subject.phi, largest)
        return Draw(torch.stack(rows), 2 * NETWORKS, warning, torch.stack(corrections))

    return Sampled("weight-free networks", draw, costly=True)
