"""Exact sampling of wide random networks without their weights.

Given the activations x of layer l on B inputs, the pre-activations of layer l + 1 are i.i.d. over neurons with law
N(0, sigma_b^2 + sigma_w^2 G), G = x x^T / n (Lee et al. 2018, arXiv:1711.00165, section 2, at finite n; Hanin 2022,
arXiv:2204.01058, section 2). A network of width n costs O(n B^2) a layer instead of O(n^2 B).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from verify.stream import normals

if TYPE_CHECKING:
    import torch

BLOCK = 1 << 16
"""Numbers held at once per array: blocks of networks stay in the processor's cache and bound the memory."""


def kernels(
    phi: Callable[[torch.Tensor], torch.Tensor],
    gram: torch.Tensor,
    *,
    width: int,
    depth: int,
    networks: int,
    sigma_w: float,
    sigma_b: float,
    generator: torch.Generator,
    slope: Callable[[torch.Tensor], torch.Tensor] | None = None,
    block: int = BLOCK,
) -> torch.Tensor:
    """Conditional covariances of the pre-activations of `networks` independent networks, layers 1 to `depth`.

    gram    (B, B) covariance of the pre-activations of layer 1; its dtype and device are used throughout
    slope   phi'; if given, the last input is a tangent: a direction in which the first input is differentiated
    returns (networks, depth, B, B); entry l is K^{l+1} = sigma_b^2 + sigma_w^2 x x^T / n given the layer below, so
            entry 0 is `gram` itself; a tangent's diagonal entry is the squared gain of the Jacobian
    """
    import torch

    per_block = max(1, block // (width * gram.shape[0]))
    blocks = []
    for start in range(0, networks, per_block):
        size = min(per_block, networks - start)
        blocks.append(_block(phi, slope, gram, width, depth, size, sigma_w, sigma_b, generator))
    return torch.cat(blocks)


def _block(phi, slope, gram, width, depth, networks, sigma_w, sigma_b, generator):
    import torch

    inputs = gram.shape[0]
    bias = torch.full_like(gram, sigma_b**2)
    if slope is not None:
        bias[-1, :] = bias[:, -1] = 0.0
    covariance = gram.expand(networks, inputs, inputs)
    layers = [covariance]
    for _ in range(depth - 1):
        noise = normals((networks, inputs, width), generator, gram.dtype)
        z = noise * covariance.sqrt() if inputs == 1 else cholesky(covariance) @ noise
        if slope is None:
            x = phi(z)
        else:
            x = torch.cat((phi(z[:, :-1]), slope(z[:, :1]) * z[:, -1:]), 1)
        covariance = bias + (sigma_w**2 / width) * (x @ x.mT)
        layers.append(covariance)
    return torch.stack(layers, 1)


def cholesky(covariance: torch.Tensor) -> torch.Tensor:
    """Lower Cholesky factors of a batch of small positive semi-definite matrices, singular ones included."""
    import torch

    n = covariance.shape[-1]
    factor = torch.zeros_like(covariance)
    for j in range(n):
        pivot = (covariance[..., j, j] - (factor[..., j, :j] ** 2).sum(-1)).clamp_min(0.0)
        factor[..., j, j] = root = pivot.sqrt()
        inverse = torch.where(root > 0, 1 / root, torch.zeros_like(root))
        for i in range(j + 1, n):
            rest = covariance[..., i, j] - (factor[..., i, :j] * factor[..., j, :j]).sum(-1)
            factor[..., i, j] = rest * inverse
    return factor
