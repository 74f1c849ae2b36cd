"""Class fractions of many random networks on Gaussian data of infinite dimension: orthogonal inputs of one norm."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from verify.stream import normals

if TYPE_CHECKING:
    import torch


def outputs(
    phi: Callable[[torch.Tensor], torch.Tensor],
    *,
    inputs: int,
    width: int,
    hidden: int,
    classes: int,
    networks: int,
    sigma_w: float,
    sigma_b: float,
    generator: torch.Generator,
    pool: int = 1,
) -> torch.Tensor:
    """Outputs (networks, inputs, classes) of networks of `hidden` hidden layers on orthogonal inputs of one norm.

    On an orthogonal frame the first pre-activations are independent of each other, and are drawn without weights;
    further layers have theirs. `pool` units at a time are replaced by their largest.
    """
    import torch

    found = []
    for _ in range(networks):
        # x x^T/d = 1 for the data: pre-activations of layer 1 are sigma_w N(0, 1) + sigma_b bias
        z = sigma_w * normals((inputs, width), generator, torch.float32)
        z = z + sigma_b * normals((1, width), generator, torch.float32)
        for layer in range(hidden):
            x = phi(z)
            if pool > 1:
                x = x.reshape(inputs, -1, pool).amax(-1)
            last = layer == hidden - 1
            wide = classes if last else width
            weight = normals((x.shape[1], wide), generator, torch.float32)
            z = (sigma_w / x.shape[1] ** 0.5) * (x @ weight)
            z = z + sigma_b * normals((1, wide), generator, torch.float32)
        found.append(z)
    return torch.stack(found)


def smooth_fractions(found: torch.Tensor) -> torch.Tensor:
    """P(class 1) of each network by its own mean and spread of Y_1 - Y_2 over the inputs: Phi(mean/spread).

    The spread is over inputs, which are a finite sample: the mean's share 1/n of it is not removed.
    """
    import torch

    difference = found[..., 0] - found[..., 1]
    return torch.special.ndtr((difference.mean(1) / difference.std(1)).double())


__all__ = ["outputs", "smooth_fractions"]
