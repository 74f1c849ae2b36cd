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
STRATA_LINE, STRATA_PLANE = 1024, 88
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


def strata(count: int, shift: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Lower and upper probabilities of the strata of the half-line z < 0: shape (batches, count + 1).

    The strata are fine at 0 and coarse far out. The shifts in (0, 1), one a batch, move their edges: a kink or jump
    then lies anywhere in its stratum, and the batches show the variance that it causes. 0 always is an edge.
    """
    import torch

    inner = (torch.arange(count, dtype=torch.float64, device=shift.device) + shift[:, None]) / count
    t = torch.nn.functional.pad(inner, (1, 1))
    edges = 0.5 * torch.erfc(REACH * (0.25 * t + 0.75 * t**3) / 2**0.5)  # ndtr has no tail
    edges[:, 0], edges[:, -1] = 0.5, 0.0
    return edges[:, 1:], edges[:, :-1]


@dataclass(frozen=True)
class Strata:
    """Strata of the whole line, one row a batch: lower probabilities, widths and signs."""

    low: torch.Tensor
    width: torch.Tensor
    sign: torch.Tensor

    @classmethod
    def at(cls, count: int, shift: torch.Tensor) -> Strata:
        """`count` shifted strata (even) and two more at the centre."""
        import torch

        low, high = strata(count // 2, shift)
        sign = torch.ones_like(low)
        return cls(torch.cat((low, low), 1), torch.cat((high - low, high - low), 1), torch.cat((sign, -sign), 1))

    def normals(self, uniform: torch.Tensor, dim: int) -> torch.Tensor:
        """Normal variables from uniform ones (batches, ...) whose axis `dim` counts the strata."""
        import torch

        shape = [len(self.low), *(1 for _ in range(uniform.dim() - 1))]
        shape[dim] = self.low.shape[1]
        low, width, sign = (x.reshape(shape) for x in (self.low, self.width, self.sign))
        return torch.special.ndtri((low + uniform * width).clamp(1e-300, 0.5)) * sign


def stratified_line(uniform: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """One normal variable from uniforms (batches, n + 1), the last of them the shift.

    Returns points (batches, 2, n), a point and its mirror image inside the stratum in axis 1, and weights (batches, n).
    """
    import torch

    cells = Strata.at(uniform.shape[1] - 3, uniform[:, -1])
    inside = uniform[:, :-1]
    return cells.normals(torch.stack((inside, 1 - inside), 1), 2), cells.width


def stratified_plane(uniform: torch.Tensor, shift: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Two normal variables from uniforms (batches, 2, m + 2, m + 2) and shifts (batches, 2).

    Returns both, of shape (batches, 2, m + 2, m + 2) with mirror images in axis 1, and weights (batches, m + 2, m + 2).
    """
    import torch

    side = uniform.shape[-1] - 2
    rows, columns = Strata.at(side, shift[:, 0]), Strata.at(side, shift[:, 1])
    pairs = torch.stack((uniform, 1 - uniform), 1)
    weight = rows.width[:, :, None] * columns.width[:, None, :]
    return rows.normals(pairs[:, :, 0], 2), columns.normals(pairs[:, :, 1], 3), weight


def uniforms(streams: Sequence[torch.Generator], *shape: int) -> torch.Tensor:
    """Uniform numbers in float64, one batch a stream."""
    import torch

    drawn = [torch.rand(shape, generator=s, dtype=torch.float64, device=s.device) for s in streams]
    return torch.stack(drawn)


def line_means(
    functions: Sequence[Callable[[torch.Tensor], torch.Tensor]],
    variances: Sequence[float],
    streams: Sequence[torch.Generator],
    dtype: torch.dtype,
) -> Draw:
    """Batch means of E f(sqrt(q) Z) for each (f, q)."""
    import torch

    columns, warning = [], ""
    z, weight = stratified_line(uniforms(streams, STRATA_LINE + 3))
    weight = weight[:, None]
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

    side = STRATA_PLANE + 2
    shift = uniforms(streams, 2)
    first, second, weight = stratified_plane(uniforms(streams, 2, side, side), shift)
    weight = weight[:, None]
    columns, warning = [], ""
    for function, (q1, q2, c) in zip(functions, laws, strict=True):
        u, v = q1**0.5 * first, q2**0.5 * (c * first + ((1 - c) * (1 + c)) ** 0.5 * second)
        values = function(u.to(dtype), v.to(dtype)).to(torch.float64)
        warning = warning or _tail_warning(values, torch.maximum(first.abs(), second.abs()), weight)
        columns.append((values * weight).sum((1, 2, 3)) / 2)
    return Draw(torch.stack(columns, 1), 2 * side * side, warning)


def network_warning(phi: Callable[[torch.Tensor], torch.Tensor], variance: float) -> str:
    """Why plain averages over a network's neurons say nothing: the variance of phi^2 lives beyond 4.5 deviations."""
    import torch

    middle = torch.full((1, STRATA_LINE + 3), 0.5, dtype=torch.float64)
    z, weight = (x[0] for x in stratified_line(middle))
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
