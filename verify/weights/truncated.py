"""Normal weights kept within two standard deviations."""

from __future__ import annotations

from math import erf
from typing import Any

from derive.layers import weights
from verify.weights import Law, Shape

BOUND = 2


def _draw(generator: Any, shape: Shape, dtype: Any) -> Any:
    """sqrt(2) erfinv(u), u uniform within +-erf(2/sqrt(2)): the inverse of the distribution function."""
    import torch

    kept = erf(BOUND / 2**0.5)
    uniform = torch.rand(shape, generator=generator, dtype=torch.float64, device=generator.device)
    return (2**0.5 * torch.erfinv(kept * (2 * uniform - 1))).to(dtype)


LAW = Law("truncated normal", lambda n: weights.truncated(1, -BOUND, BOUND), _draw)
