"""The fully connected layer with centred and normalised rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sympy import Expr

from derive.layers.dense import Fresh
from derive.layers.finite import Finite
from derive.layers.unit import gaussian
from derive.records.state import State


@dataclass(frozen=True, repr=False)
class WeightStandard(Fresh):
    """z_i = sigma_w w_i.x/|w_i| + b_i with w_i = v_i - mean(v_i): rows are centred and have the norm sigma_w.

    Centred rows do not see the mean of x: E z1 z2 = sigma_w^2 (E x1 x2 - mu1 mu2) + sigma_b^2, while squared gradients
    still grow by sigma_w^2. A ReLU keeps its variance at sigma_w^2 = 2/(1 - 1/pi), where gradients grow by
    pi/(pi - 1) a layer. Source: Qiao et al. 2019 (arXiv 1903.10520); Brock et al. 2021 (arXiv 2101.08692).
    """

    def forward(self, state: State) -> State:
        """The state of the pre-activation."""
        w, b = self.symbols

        def push(moment: Expr, means: Expr) -> Expr:
            return w**2 * (moment - means) + b**2

        q1, q2 = push(state.second1, state.mean1**2), push(state.second2, state.mean2**2)
        cross = push(state.cross, state.mean1 * state.mean2)
        return gaussian(q1, q2, cross, w**2 * state.gain, w**2 * state.tangent)

    def apply(self, x: Any, finite: Finite) -> Any:
        """W x + b with centred rows of one length."""
        w, b = (finite.number(s) for s in self.symbols)
        rows = finite.normal((x.shape[1], finite.width)) * 1.0
        rows = rows - finite.xp.mean(rows, 0)[None, :]
        return w * (x @ (rows / finite.xp.sum(rows**2, 0)[None, :] ** 0.5)) + b * finite.normal((1, finite.width))


LAYER = WeightStandard
