"""Blocks with batch normalisation: each unit's centre is removed and its spread scaled to 1 in every layer, so that the
drift ratio behind a block does not depend on what went in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np
from sympy import Expr

from derive.gaussian.numbers import evaluate
from derive.program.symbols import Q1, Q2, SIGMA_W, K, Q
from derive.records import Unsupported

Array = Any


@dataclass(frozen=True)
class Pinned:
    """q' = v sigma_w^2 + sigma_b^2, q_ab' = k sigma_w^2 + sigma_b^2 whatever q and c, in the limit of large batches.

    moments  (v, k): E y^2 and E y_a y_b of the block's output
    gain     gradient gain of a layer from the second on, E phi'^2/(v - k) for batchnorm >> phi; NaN where the
             normalisation is not the first layer of the block, or the activation jumps

    Source: Yang et al. 2019 (arXiv 1902.08129).
    """

    moments: tuple[float, float]
    gain: float

    def step(self, log_q: Array, log_e: Array, sigma_w: Array, sigma_b: Array) -> tuple[Array, Array]:
        """The next layer, the same for every state."""
        shape = np.broadcast_shapes(*map(np.shape, (log_q, log_e, sigma_w, sigma_b)))
        v, k = self.moments
        q = np.broadcast_to(v * np.square(sigma_w) + np.square(sigma_b), shape)
        return np.log(q), np.log(np.broadcast_to((v - k) * np.square(sigma_w), shape) / q)

    def gains(self, log_q: Array, sigma_w: Array, sigma_b: Array) -> tuple[Array, Array]:
        """chi, and dV/dq = 0."""
        shape = np.broadcast_shapes(np.shape(log_q), np.shape(sigma_w))
        return np.full(shape, self.gain), np.zeros(shape)


def pinned_maps(theory: Any, values: Mapping[str, Any]) -> Pinned:
    """The maps of a block with batch normalisation of all its signal.

    Raises Unsupported where a part of the signal passes beside the normalisation.
    """
    cycle = theory.maps.cycle
    second, cross = cycle.second1, cycle.cross
    if {Q1, Q2, Q, K} & (second.free_symbols | cross.free_symbols):
        raise Unsupported(
            "guessing bias of a block whose stream passes beside a batch normalisation",
            why="its state depends on what the branch added before",
        )
    v, k = (_moment(e, values) for e in (second, cross))
    gain = float("nan")
    # behind Dense >> BatchNorm gradients are divided by the spread sigma_w^2 (v - k) of the layer
    share = cycle.gain * (Q1 - K) / SIGMA_W**2
    if not theory.maps.jumps and not {Q1, Q2, Q, K} & share.free_symbols:
        gain = _moment(share, values) / (v - k)
    return Pinned((v, k), gain)


def _moment(expr: Expr, values: Mapping[str, Any]) -> float:
    """A moment at sigma_w = 1, sigma_b = 0."""
    with flint.ctx.workprec(120):
        known = {**values, "sigma_w": Fraction(1), "sigma_b": Fraction(0)}
        return float(evaluate(expr, known, 20)[0].mid())


__all__ = ["Pinned", "pinned_maps"]
