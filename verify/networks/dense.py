"""Fully connected networks with sampled weights: z = W x + b, W ~ N(0, sigma_w^2 / fan-in), b ~ N(0, sigma_b^2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from verify.conditional import cholesky
from verify.stream import normals

if TYPE_CHECKING:
    import torch

BLOCK = 1 << 22
"""Weights held at once; bounds the memory of one layer of a block of networks to 32 MiB in float64."""


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
    """Covariances of the pre-activations given the layer below, with the interface of `verify.conditional.kernels`.

    The inputs are x with sigma_b^2 + sigma_w^2 x x^T / B = gram for B inputs (the tangent without the bias), so that
    layer 1 has the covariance `gram`; that needs gram - sigma_b^2 to be positive semi-definite.
    """
    import torch

    per_block = max(1, block // max(width * width, 1))
    blocks = []
    for start in range(0, networks, per_block):
        size = min(per_block, networks - start)
        blocks.append(_block(phi, slope, gram, width, depth, size, sigma_w, sigma_b, generator))
    return torch.cat(blocks)


def pre_activations(
    gram: torch.Tensor, width: int, networks: int, sigma_w: float, sigma_b: float, generator: torch.Generator
) -> torch.Tensor:
    """Outputs of one dense layer with sampled weights on inputs that give the covariance `gram`: (networks, B, n)."""
    import torch

    inputs = gram.shape[0]
    x = (inputs**0.5 / sigma_w) * cholesky(gram - sigma_b**2)
    return _dense(x.expand(networks, inputs, inputs), width, sigma_w, sigma_b, torch.ones(inputs), generator)


def _dense(x, width, sigma_w, sigma_b, biased, generator):
    """x W^T + b with fresh weights; `biased` is 0 for a tangent, which no bias reaches."""
    networks, _, fan_in = x.shape
    weight = normals((networks, fan_in, width), generator, x.dtype)
    bias = normals((networks, 1, width), generator, x.dtype)
    return (sigma_w / fan_in**0.5) * (x @ weight) + sigma_b * bias * biased.to(x)[:, None]


def _block(phi, slope, gram, width, depth, networks, sigma_w, sigma_b, generator):
    import torch

    inputs = gram.shape[0]
    biased = torch.ones(inputs)
    bias = torch.full_like(gram, sigma_b**2)
    if slope is not None:
        biased[-1], bias[-1, :], bias[:, -1] = 0.0, 0.0, 0.0
    x = ((inputs**0.5 / sigma_w) * cholesky(gram - bias)).expand(networks, inputs, inputs)
    layers = [gram.expand(networks, inputs, inputs)]
    for _ in range(depth - 1):
        z = _dense(x, width, sigma_w, sigma_b, biased, generator)
        x = phi(z) if slope is None else torch.cat((phi(z[:, :-1]), slope(z[:, :1]) * z[:, -1:]), 1)
        layers.append(bias + (sigma_w**2 / width) * (x @ x.mT))
    return torch.stack(layers, 1)
