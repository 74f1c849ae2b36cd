"""Expectations over one or two Gaussian variables by stratified sampling of the user's own function.

The line is cut into strata that reach 12 standard deviations; each stratum gets one uniform point and its mirror
image, weighted by the stratum's probability, so every batch is an unbiased estimate and batches are independent
(McKay, Beckman, Conover 1979, Technometrics 21, for stratification; Hammersley and Morton 1956 for antithetics).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

REACH = 12.0
STRATA_LINE, STRATA_PLANE = 1024, 80
TAIL_SHARE, TAIL_SQUARE = 1e-9, 1e-3
NEURON_REACH, NEURON_SHARE = 4.5, 0.05


@dataclass(frozen=True)
class Draw:
    """Batch means (batches, points) and draws per batch.

    warning      why the mean cannot be trusted: the law's tail was out of reach
    correction   first-order finite-width corrections in the same shape, where an extrapolation removed them
    """

    values: torch.Tensor
    draws: int
    warning: str = ""
    correction: torch.Tensor | None = None


def strata(count: int, device: torch.device | str) -> tuple[torch.Tensor, torch.Tensor]:
    """Lower and upper probabilities of `count` strata of the half-line z < 0, fine at 0 and coarse far out."""
    import torch

    t = torch.linspace(0, 1, count + 1, dtype=torch.float64, device=device)
    edges = 0.5 * torch.erfc(REACH * (0.25 * t + 0.75 * t**3) / 2**0.5)  # ndtr has no tail
    edges[-1] = 0.0
    return edges[1:], edges[:-1]


def stratified_normals(streams: Sequence[torch.Generator], count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Points and weights of one Gaussian variable: shapes (batches, 2, count) and (count,).

    Axis 1 holds a point and its mirror image inside the stratum; the `count` strata (even) cover the whole line.
    """
    import torch

    device = streams[0].device
    low, high = strata(count // 2, device)
    uniform = torch.stack([torch.rand(count, generator=s, dtype=torch.float64, device=device) for s in streams])
    uniform = torch.stack((uniform, 1 - uniform), 1).clamp(1e-300, 1)
    width = torch.cat((high - low, high - low))
    z = torch.special.ndtri((torch.cat((low, low)) + uniform * width).clamp_min(1e-300))
    sign = torch.ones(count, dtype=torch.float64, device=device)
    sign[count // 2 :] = -1
    return z * sign, width


def line_means(
    functions: Sequence[Callable[[torch.Tensor], torch.Tensor]],
    variances: Sequence[float],
    streams: Sequence[torch.Generator],
    dtype: torch.dtype,
) -> Draw:
    """Batch means of E f(sqrt(q) Z) for each (f, q)."""
    import torch

    columns, warning = [], ""
    z, weight = stratified_normals(streams, STRATA_LINE)
    for function, variance in zip(functions, variances, strict=True):
        values = function((z * variance**0.5).to(dtype)).to(torch.float64)
        warning = warning or _tail_warning(values, z.abs() * torch.ones_like(values), weight)
        columns.append((values * weight).sum((1, 2)) / 2)
    return Draw(torch.stack(columns, 1), 2 * STRATA_LINE, warning)


def plane_means(
    functions: Sequence[Callable[[torch.Tensor, torch.Tensor], torch.Tensor]],
    laws: Sequence[tuple[float, float, float]],
    streams: Sequence[torch.Generator],
    dtype: torch.dtype,
) -> Draw:
    """Batch means of E f(u, v) for each f and law (q1, q2, c); c = 1 and -1 included."""
    import torch

    m, device = STRATA_PLANE, streams[0].device
    low, high = strata(m // 2, device)
    low, width = torch.cat((low, low)), torch.cat((high - low, high - low))
    sign = torch.cat((torch.ones(m // 2), -torch.ones(m // 2))).to(low)
    uniform = torch.stack([torch.rand(2, m, m, generator=s, dtype=torch.float64, device=device) for s in streams])
    uniform = torch.stack((uniform, 1 - uniform), 1)  # (batches, mirror, axis, m, m)
    first = torch.special.ndtri((low[:, None] + uniform[:, :, 0] * width[:, None]).clamp_min(1e-300)) * sign[:, None]
    second = torch.special.ndtri((low + uniform[:, :, 1] * width).clamp_min(1e-300)) * sign
    weight = width[:, None] * width
    columns, warning = [], ""
    for function, (q1, q2, c) in zip(functions, laws, strict=True):
        u, v = q1**0.5 * first, q2**0.5 * (c * first + ((1 - c) * (1 + c)) ** 0.5 * second)
        values = function(u.to(dtype), v.to(dtype)).to(torch.float64)
        warning = warning or _tail_warning(values, torch.maximum(first.abs(), second.abs()), weight)
        columns.append((values * weight).sum((1, 2, 3)) / 2)
    return Draw(torch.stack(columns, 1), 2 * m * m, warning)


def network_warning(phi: Callable[[torch.Tensor], torch.Tensor], variance: float) -> str:
    """Why plain averages over a network's neurons say nothing: the variance of phi^2 lives beyond 4.5 deviations."""
    import torch

    low, high = strata(STRATA_LINE // 2, "cpu")
    z = torch.special.ndtri(((low + high) / 2).clamp_min(1e-300))
    z, weight = torch.cat((z, -z)), torch.cat((high - low, high - low))
    fourth = phi(z * variance**0.5) ** 4 * weight
    if not torch.isfinite(fourth).all():
        return "the function overflows or is undefined at a sampled point"
    share = float(fourth[z.abs() > NEURON_REACH].sum() / fourth.sum().clamp_min(1e-300))
    return "heavy tail: averages over neurons do not reach the function's variance" if share > NEURON_SHARE else ""


def _tail_warning(values: torch.Tensor, distance: torch.Tensor, weight: torch.Tensor) -> str:
    """Why a sample mean says nothing: values that are not finite, or a mean or variance that lives in the tail."""
    import torch

    if not torch.isfinite(values).all():
        return "the function overflows or is undefined at a sampled point"
    size, far = values.abs(), distance > REACH - 1.5
    mean, square = (size * weight).sum(), (size * size * weight).sum()
    if mean > 0 and ((size * weight)[far].sum() / mean > TAIL_SHARE or _heavy(size, far, weight, square)):
        return f"heavy tail: the mean or variance has a part beyond {REACH - 1.5:g} standard deviations"
    return ""


def _heavy(size, far, weight, square) -> bool:
    return bool((size * size * weight)[far].sum() / square > TAIL_SQUARE)
