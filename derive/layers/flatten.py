"""Flattening: the coordinates stay what they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sympy import Expr, Integer

from derive.layers.finite import Finite
from derive.layers.stage import Stage
from derive.records.state import State


@dataclass(frozen=True, repr=False)
class Flatten(Stage):
    """All channels and positions in one vector: every coordinate keeps its law, the next Dense has a larger fan-in."""

    keeps_width: ClassVar[bool] = True

    @property
    def passed(self) -> Expr:
        """The signal itself is in what leaves the layer, once."""
        return Integer(1)

    def forward(self, state: State) -> State:
        """The same state."""
        return state

    def apply(self, x: Any, finite: Finite) -> Any:
        """The same array."""
        return x

    def __repr__(self) -> str:
        return "flatten"


LAYER = Flatten
