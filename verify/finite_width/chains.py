"""The random kernel of finite networks, layer by layer, without their weights; widths and gains may differ by layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from verify.finite_width.tables import Function
from verify.stream import normals

if TYPE_CHECKING:
    import torch

BLOCK = 1 << 14
"""Numbers held at once: blocks stay in the cache, and below the size from which torch splits work over threads."""


@dataclass(frozen=True)
class Chains:
    """Kernels of many independent networks on one input: arrays (layers, networks).

    kernel   G^l; the pre-activations of layer l are i.i.d. N(0, G^l) given the layer below
    overlap, norm   M^l and H^l of a tangent that starts orthogonal with norm 1; None without one
    """

    kernel: np.ndarray
    overlap: np.ndarray | None = None
    norm: np.ndarray | None = None


def chains(
    phi: Function,
    q0: float,
    widths: Sequence[int],
    sigma_w: float | Sequence[float],
    sigma_b: float,
    networks: int,
    generator: torch.Generator,
    slope: Function | None = None,
) -> Chains:
    """Layers 1 to len(widths) + 1 of `networks` networks, exact in law at every width.

    widths   of layers 1 to L - 1
    sigma_w  one number, or one for each layer 1 to L (that of layer 1 is not used)
    slope    phi'; with it a tangent is carried along
    """
    gains = [float(sigma_w)] * (len(widths) + 1) if np.ndim(sigma_w) == 0 else [float(w) for w in sigma_w]  # type: ignore[union-attr,arg-type]
    per_block = max(1, BLOCK // (max(widths, default=1) * (1 if slope is None else 2)))
    parts = [
        _block(phi, slope, q0, widths, gains, sigma_b, min(per_block, networks - start), generator)
        for start in range(0, networks, per_block)
    ]
    joined = [np.concatenate([part[i] for part in parts], -1) for i in range(len(parts[0]))]
    return Chains(*joined)


def _block(phi, slope, q0, widths, gains, sigma_b, networks, generator) -> list[np.ndarray]:
    import torch

    g = torch.full((networks, 1), float(q0), dtype=torch.float64)
    m, h = torch.zeros_like(g), torch.ones_like(g)
    rows: list[list[torch.Tensor]] = [[g]] if slope is None else [[g], [m], [h]]
    for width, gain in zip(widths, gains[1:], strict=True):
        z = normals((networks, width), generator, torch.float64) * g.sqrt()
        x = phi(z)
        scale = gain**2 / width
        if slope is not None:
            rest = (h - m**2 / g).clamp_min(0.0).sqrt()
            y = slope(z) * (m / g * z + rest * normals((networks, width), generator, torch.float64))
            m, h = scale * (x * y).sum(1, keepdim=True), scale * (y * y).sum(1, keepdim=True)
        g = sigma_b**2 + scale * (x * x).sum(1, keepdim=True)
        for kept, value in zip(rows, (g, m, h), strict=False):
            kept.append(value)
    return [torch.cat(kept, 1).T.contiguous().numpy() for kept in rows]


__all__ = ["Chains", "chains"]
