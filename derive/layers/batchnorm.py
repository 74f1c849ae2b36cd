"""Batch normalisation over the inputs of a large batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sympy import Integer

from derive.layers.finite import Finite
from derive.layers.layernorm import demand_spread
from derive.layers.stage import Stage
from derive.layers.unit import gaussian, moments_only
from derive.records.state import State


@dataclass(frozen=True, repr=False)
class BatchNorm(Stage):
    """y = (x - mean over the batch) / (standard deviation over the batch), training mode, no affine parameters.

    A large batch in which every two inputs have the second moments of the state (M, cross moment K):
    the common part of a coordinate is removed, M -> 1, mu -> 0, K -> 0, and gradients grow by 1/(M - K).
    A ReLU block then explodes by pi/(pi - 1) a layer, whatever sigma_w.
    Source: Yang et al. 2019 (arXiv 1902.08129), the limit of large batches.
    """

    keeps_width: ClassVar[bool] = True

    def forward(self, state: State) -> State:
        """The state after normalisation; Gaussian signals stay Gaussian."""
        demand_spread(state.second1 - state.mean1**2, self)
        spread = state.second1 - state.cross
        zero, one = Integer(0), Integer(1)
        gain, tangent = state.gain / spread, state.tangent / spread
        if state.gaussian:
            return gaussian(one, one, zero, gain, tangent)
        means = {"mean1": zero, "mean2": zero}
        return moments_only(state, **means, second1=one, second2=one, cross=zero, gain=gain, tangent=tangent)

    def apply(self, x: Any, finite: Finite) -> Any:
        """Centred and scaled over the inputs."""
        centred = x - finite.xp.mean(x, 0)[None, :]
        return centred / finite.xp.mean(centred**2, 0)[None, :] ** 0.5

    def __repr__(self) -> str:
        return "batchnorm"


LAYER = BatchNorm
