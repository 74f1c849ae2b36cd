"""Root-mean-square normalisation over the channels of one input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sympy import sqrt

from derive.layers.finite import Finite
from derive.layers.layernorm import demand_spread, normalised
from derive.layers.stage import Stage
from derive.records.state import State


@dataclass(frozen=True, repr=False)
class RMSNorm(Stage):
    """y = x / (root mean square over channels), without affine parameters.

    Wide limit: M -> 1, mu -> mu/sqrt(M), E y1 y2 = E x1 x2/sqrt(M1 M2), gradients grow by 1/M.
    Source: Zhang & Sennrich 2019 (arXiv 1910.07467), eq. 4.
    """

    keeps_width: ClassVar[bool] = True

    def forward(self, state: State) -> State:
        """The state after normalisation; Gaussian signals stay Gaussian."""
        s = state
        demand_spread(s.second1, self)
        means = s.mean1 / sqrt(s.second1), s.mean2 / sqrt(s.second2)
        return normalised(s, s.second1, s.second2, s.cross / sqrt(s.second1 * s.second2), means)

    def apply(self, x: Any, finite: Finite) -> Any:
        """Scaled over the channels."""
        return x / finite.xp.mean(x**2, -1)[:, None] ** 0.5

    def __repr__(self) -> str:
        return "rmsnorm"


LAYER = RMSNorm
