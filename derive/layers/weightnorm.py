"""The fully connected layer with normalised rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from derive.layers.dense import Fresh
from derive.layers.finite import Finite


@dataclass(frozen=True, repr=False)
class WeightNorm(Fresh):
    """z_i = sigma_w v_i.x/|v_i| + b_i, v_i ~ N(0, 1): every row of W has the norm sigma_w, torch's weight_norm.

    The map is that of a Dense: |v_i|^2 is its fan-in in the wide limit; at finite width rows do not fluctuate in
    size. Squared gradients grow by sigma_w^2. Source: Salimans & Kingma 2016 (arXiv 1602.07868), eq. 2.
    """

    def apply(self, x: Any, finite: Finite) -> Any:
        """W x + b with rows of one length."""
        w, b = (finite.number(s) for s in self.symbols)
        rows = finite.normal((x.shape[1], finite.width)) * 1.0
        return w * (x @ (rows / finite.xp.sum(rows**2, 0)[None, :] ** 0.5)) + b * finite.normal((1, finite.width))


LAYER = WeightNorm
