"""Weights between two bounds."""

from __future__ import annotations

from typing import Any

from derive.layers import weights
from verify.weights import Law, Shape


def _draw(generator: Any, shape: Shape, dtype: Any) -> Any:
    import torch

    return 2 * torch.rand(shape, generator=generator, dtype=dtype, device=generator.device) - 1


LAW = Law("uniform", lambda n: weights.uniform(1), _draw)
