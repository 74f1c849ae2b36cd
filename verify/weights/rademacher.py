"""Weights of one size and either sign."""

from __future__ import annotations

from typing import Any

from derive.layers import weights
from verify.weights import Law, Shape


def _draw(generator: Any, shape: Shape, dtype: Any) -> Any:
    import torch

    uniform = torch.rand(shape, generator=generator, dtype=dtype, device=generator.device)
    return torch.where(uniform < 0.5, -1.0, 1.0).to(dtype)


LAW = Law("Rademacher", lambda n: weights.rademacher(1), _draw)
