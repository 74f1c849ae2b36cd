"""The minimum over independent units, or over positions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from derive.layers.finite import Finite, grouped
from derive.layers.maxpool import MaxPool
from derive.layers.stage import demand_unit, size
from derive.layers.unit import mirrored, negative
from derive.records.state import State


@dataclass(frozen=True, repr=False)
class MinPool(MaxPool):
    """x = min(x_1, ..., x_k) over k units of the layer below, or over positions; see `MaxPool`.

    min f(z_i) = -max g(z_i'), z_i' = -z_i, which has the same law, and g(z) = -f(-z): the moments are those of the
    maximum behind the mirrored function. Kinds are those of the maximum.
    """

    def forward(self, state: State) -> State:
        """The state of the minimum. Raises EocError where only moments of the signal are known."""
        unit = mirrored(demand_unit(self, state))
        turned = negative(replace(state, unit=unit))
        return negative(super().forward(turned))

    def apply(self, x: Any, finite: Finite) -> Any:
        """The smallest of every k neighbouring units."""
        return finite.xp.amin(grouped(x, size(self.k, "k")), -1)


LAYER = MinPool
