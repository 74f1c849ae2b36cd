"""The mean over all positions of a channel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from derive.layers.avgpool import AvgPool
from derive.layers.finite import Finite
from derive.records.state import State


@dataclass(frozen=True, repr=False)
class GlobalAvgPool(AvgPool):
    """x = mean over the k positions of a channel: `AvgPool` over positions with one correlation `rho` between them.

    k    number of positions, a number or a symbol's name
    rho  correlation between pre-activations at two positions (a number, a symbol's name or a matrix); 0 where
         positions see unrelated inputs

    E x^2 = (M + (k - 1) P)/k, P = E f(z_a) f(z_b): for many positions what they share is what is left. Gradients at
    a position shrink: their squared norm over all positions by k.
    """

    k: Any = "k"
    over: str = "positions"
    rho: Any = 0

    def forward(self, state: State) -> State:
        """The state of the mean over positions."""
        return super().forward(state)

    def apply(self, x: Any, finite: Finite) -> Any:
        """The mean of every k neighbouring positions."""
        return super().apply(x, finite)


LAYER = GlobalAvgPool
