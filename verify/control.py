"""A control variate for networks along depth: it has mean zero at every width and takes most of the noise away.

Given layer l, the conditional covariance K^{l+1} of the next layer has mean M(K^l) exactly, at every width, where M
is the one-layer map. So sum_m <A_m, K^m - M(K^{m-1})> has mean zero for any constants A_m; with A_m the sensitivity
of the observable to K^m it cancels the fluctuations to first order. M is estimated without bias by stratified
sampling of the user's function, so that no derived formula enters and the claim is still tested independently.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verify.conditional import cholesky
from verify.sampling import stratified_line, stratified_plane

if TYPE_CHECKING:
    import torch

LINE, PLANE = 512, 24
STEP = 1e-3


@dataclass(frozen=True)
class Layer:
    """One layer's map of conditional covariances: phi, slope (None without a tangent), sigma_w, sigma_b."""

    phi: Callable[[torch.Tensor], torch.Tensor]
    slope: Callable[[torch.Tensor], torch.Tensor] | None
    sigma_w: float
    sigma_b: float

    def apply(self, covariance: torch.Tensor, noise: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """sigma_b^2 + sigma_w^2 E x x^T for z = cholesky(covariance) noise, the mean taken with the weights."""
        import torch

        z = cholesky(covariance) @ noise
        bias = torch.full_like(covariance, self.sigma_b**2)
        if self.slope is None:
            x = self.phi(z)
        else:
            x = torch.cat((self.phi(z[..., :-1, :]), self.slope(z[..., :1, :]) * z[..., -1:, :]), -2)
            bias[..., -1, :] = bias[..., :, -1] = 0.0
        return bias + self.sigma_w**2 * ((x * weight) @ x.mT)


def sensitivities(
    layer: Layer, gram: torch.Tensor, depth: int, observe: Callable[[torch.Tensor], torch.Tensor]
) -> torch.Tensor:
    """d observable_l / d K^m for l, m = 2 .. depth along the infinite-width trajectory: (l, m, B, B).

    By difference quotients of the map at the midpoints of the strata; accuracy only matters for efficiency.
    """
    import torch

    inputs = gram.shape[0]
    middle = torch.full((1, *_shape(inputs)), 0.5, dtype=gram.dtype, device=gram.device)
    noise, weight = (x[0] for x in _noise(middle, middle.flatten()[None, :2]))

    def observed(start: int, covariance: torch.Tensor) -> torch.Tensor:
        layers = [covariance]
        for _ in range(start, depth):
            layers.append(layer.apply(layers[-1], noise, weight))
        return observe(torch.stack(layers)[None])[0]

    found = torch.zeros((depth - 1, depth - 1, inputs, inputs), dtype=gram.dtype, device=gram.device)
    covariance = gram
    for m in range(2, depth + 1):
        covariance = layer.apply(covariance, noise, weight)
        size = float(covariance.diagonal().mean())
        for i in range(inputs):
            for j in range(i + 1):
                change = torch.zeros_like(covariance)
                change[i, j] = change[j, i] = STEP * size
                rise = observed(m, covariance + change) - observed(m, covariance - change)
                found[m - 2 :, m - 2, i, j] = rise / (2 * STEP * size)
    return found


def control(layer: Layer, kernels: torch.Tensor, sensitivity: torch.Tensor, generator: Any) -> torch.Tensor:
    """The control variate of each network and layer: (networks, depth - 1), mean zero.

    kernels   (networks, depth, B, B) conditional covariances
    """
    import torch

    networks, depth, inputs, _ = kernels.shape
    below = kernels[:, :-1].reshape(networks * (depth - 1), inputs, inputs)
    options = {"generator": generator, "dtype": kernels.dtype, "device": kernels.device}
    uniform = torch.rand((len(below), *_shape(inputs)), **options)
    noise, weight = _noise(uniform, torch.rand((len(below), 2), **options))
    mean = layer.apply(below, noise, weight).reshape(networks, depth - 1, inputs, inputs)
    return torch.einsum("lmij,nmij->nl", sensitivity, kernels[:, 1:] - mean)


def _shape(inputs: int) -> tuple[int, ...]:
    return (LINE + 3,) if inputs == 1 else (2, PLANE + 2, PLANE + 2)


def _noise(uniform: torch.Tensor, shift: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Standard normal noise (n, B, points) with weights (n, 1, points) from uniforms: one input, or two."""
    import torch

    if uniform.dim() == 2:
        z, weight = stratified_line(uniform)
        return z.flatten(1)[:, None], torch.cat((weight, weight), 1)[:, None] / 2
    first, second, weight = stratified_plane(uniform, shift)
    weight = weight.flatten(1)
    noise = torch.stack((first.flatten(1), second.flatten(1)), 1)
    return noise, torch.cat((weight, weight), 1)[:, None] / 2
