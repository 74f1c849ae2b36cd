"""Random streams: batch k of stream j of a report with a given seed is the same everywhere and in any order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch


def stream(seed: int, index: int, batch: int, device: str = "cpu") -> torch.Generator:
    """The generator of one batch, seeded by a hash of (seed, index, batch).

    Equal on every machine of one device class; the budget only decides how many batches are drawn.
    """
    import torch

    state = np.random.SeedSequence((seed, index, batch)).generate_state(2, np.uint32)
    generator = torch.Generator(device=device)
    generator.manual_seed((int(state[0]) << 31) ^ int(state[1]))
    return generator


def choices(seed: int, name: str) -> np.random.Generator:
    """A generator for the points at which the check of that name tests its claims."""
    return np.random.default_rng(np.random.SeedSequence((seed, *name.encode())))


def normals(shape: tuple[int, ...], generator: torch.Generator, dtype: torch.dtype) -> torch.Tensor:
    """Independent standard normals on the generator's device.

    On a CPU in float64 they come from NumPy's ziggurat, seeded by the generator: six times faster than torch's own
    and exact far into the tails.
    """
    import torch

    if generator.device.type != "cpu" or dtype != torch.float64:
        return torch.randn(shape, generator=generator, dtype=dtype, device=generator.device)
    seed = torch.randint(2**62, (2,), generator=generator).tolist()
    return torch.from_numpy(np.random.Generator(np.random.SFC64(seed)).standard_normal(shape))
