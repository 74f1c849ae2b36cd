"""Random numbers of the layers: independent, or spread evenly over the units of a layer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

from verify.blocks.weights import ImplicitWeights

BITS = 30
"""Bits of torch's Sobol' sequence; the rest is filled with independent ones."""
COORDINATES = 6
"""Of one sequence for a group of one unit: two inputs, a matrix of weights and a bias; later layers take another's."""
MOST_COORDINATES = 48
FEW = 4
"""A matrix with more rows than this is one of weights."""


@dataclass(frozen=True)
class Units:
    """Where layers get their random numbers from.

    One for each network.

    generator   of the batch
    group       units side by side that one unit further up may depend on
    halves      whether a layer pairs the first half of the units with the second (gated units)
    spread      whether groups of units are points of a scrambled Sobol' sequence (Owen 1995, Monte Carlo and
                Quasi-Monte Carlo Methods 106), successive layers taking successive coordinates: each group has exactly
                the law of independent units, so that means are unbiased, while averages over a layer fluctuate far less
    implicit    whether weights are drawn only where they are needed
    """

    generator: torch.Generator
    group: int = 1
    halves: bool = False
    spread: bool = True
    implicit: bool = True
    points: dict[int, list[torch.Tensor]] = field(default_factory=dict, compare=False, repr=False)

    def normal(self, shape: tuple[int, ...]) -> Any:
        """Independent N(0, 1) numbers."""
        if len(shape) == 2 and shape[0] > FEW and self.implicit:
            return ImplicitWeights((shape[0], shape[1]), lambda n, m: self._normal((n, m)), self.signs)
        return self._normal(shape)

    def _normal(self, shape: tuple[int, ...]) -> torch.Tensor:
        if len(shape) == 2 and shape[0] <= FEW and self.spread:
            return torch.special.ndtri(self.uniform(shape).clamp(1e-300, 1 - 2.0**-53))
        options: Any = {"generator": self.generator, "dtype": torch.float64, "device": self.generator.device}
        return torch.randn(shape, **options)

    def uniform(self, shape: tuple[int, ...]) -> torch.Tensor:
        """Independent U(0, 1) numbers."""
        if len(shape) == 2 and self.spread:
            found = self._spread(*shape)
            if found is not None:
                return found
        return self._rand(shape)

    def signs(self, rows: int, columns: int) -> torch.Tensor:
        """Independent signs."""
        return 1.0 - 2.0 * (self._rand((rows, columns)) < 0.5).to(torch.float64)

    def _rand(self, shape: tuple[int, ...]) -> torch.Tensor:
        options: Any = {"generator": self.generator, "dtype": torch.float64, "device": self.generator.device}
        return torch.rand(shape, **options)

    def _spread(self, rows: int, columns: int) -> torch.Tensor | None:
        """(rows, columns) numbers, a point of the sequence for every group of columns; None where it has too many."""
        parts = 2 if self.halves else 1
        slots = parts * self.group
        if COORDINATES * slots > MOST_COORDINATES or rows > COORDINATES or columns % slots:
            return None
        count, left = columns // slots, self.points.setdefault(columns, [])
        if len(left) < rows * slots:
            left[:] = self._sequence(count, COORDINATES * slots)
        taken = torch.stack([left.pop(0) for _ in range(rows * slots)])
        return taken.reshape(rows, parts, self.group, count).transpose(2, 3).reshape(rows, columns)

    def _sequence(self, count: int, coordinates: int) -> list[torch.Tensor]:
        """The coordinates of so many points, the finest bits drawn independently."""
        device = self.generator.device
        seed = int(torch.randint(2**31, (1,), generator=self.generator, device=device))
        points = torch.quasirandom.SobolEngine(coordinates, scramble=True, seed=seed).draw(count, dtype=torch.float64)
        points = points.to(device).add_(self._rand((count, coordinates)), alpha=2.0**-BITS)
        return list(points[torch.randperm(count, generator=self.generator, device=device)].T.contiguous())
