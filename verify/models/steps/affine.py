"""Scales and shifts by a tensor that does not depend on the input: one for each feature, at every position or each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from derive.records import EocError
from verify.models.state import DRAWS, State
from verify.models.step import Step


@dataclass(frozen=True, kw_only=True)
class Affine(Step):
    """scale x + shift, both independent of x: moments of places multiply and add.

    scale, shift  root mean squares over features where all places have the same; else `fixed` holds a number for every
                  (place, feature), a positional embedding for one, and its moments between places count
    """

    scale: float = 1.0
    shift: float = 0.0
    shift_mean: float = 0.0
    fixed: Any = field(default=None, compare=False, repr=False)
    multiplies: bool = False

    @property
    def _moments(self) -> tuple[Any, Any, Any]:
        """(second moments of the scale, of the shift, mean of the shift)."""
        if self.fixed is None:
            return self.scale**2, self.shift**2, self.shift_mean
        second = self.fixed @ self.fixed.T / self.fixed.shape[1]
        return (second, 0.0, 0.0) if self.multiplies else (self.scale**2, second, self.fixed.mean(1))

    def forward(self, states: Sequence[State]) -> State:
        """Scaled moments plus the shift's."""
        (x,) = states
        scaled, shifted, offset = self._moments
        if np.ndim(scaled) and len(scaled) != x.places:
            raise EocError("a scale for each position and a signal of another shape")
        mean = x.mean * (self.fixed.mean(1) if self.multiplies else self.scale)
        along = np.broadcast_to(offset, mean.shape)
        second = scaled * x.second + np.outer(mean, along) + np.outer(along, mean) + shifted
        gaussian = x.gaussian and not np.any(shifted) and not np.ndim(scaled)
        return State(x.shape, x.feature, second, mean + along, gaussian, x.how, lambda: self._drawn(x.draws))

    def _drawn(self, draws: Any) -> Any:
        if self.fixed is None:
            return self.scale * draws + self.shift_mean
        chosen = np.random.default_rng(len(self.fixed)).integers(0, self.fixed.shape[1], DRAWS)
        drawn = self.fixed[:, chosen].T
        return draws * drawn if self.multiplies else self.scale * draws + drawn

    def back(self, states: Sequence[State], gradient: Any) -> list[Any]:
        """Times scale^2."""
        scaled = self._moments[0]
        return [(np.diag(scaled) if np.ndim(scaled) else scaled) * gradient]


def affine(reader: Any, node: Any, name: str) -> Step:
    """x times or plus a tensor of parameters."""
    first, second = node.args[:2]
    stream, other = (first, second) if reader.stream(first) else (second, first)
    tensor = reader.values[other.name].detach().double()
    common = reader.common(node, stream, row=True)
    if name == "div":
        if stream is not first:
            raise EocError("it divides by the signal")
        tensor = 1 / tensor
    sign = -1.0 if name == "sub" and stream is not first else 1.0
    if name == "sub" and stream is first:
        tensor = -tensor
    if tuple(reader.values[node.name].shape) != tuple(reader.values[stream.name].shape):
        raise EocError("it copies the signal along a new axis")
    shape, axis = reader.shape(stream), reader.feature(stream)
    adds, size = name in ("add", "sub"), float((tensor**2).mean()) ** 0.5
    whole = tensor.expand(reader.values[stream.name].shape).reshape(shape).movedim(axis, -1)
    fixed = whole.reshape(-1, shape[axis]).cpu().numpy()
    if np.array_equal(fixed, np.broadcast_to(fixed[:1], fixed.shape)):
        if adds:
            return Affine(**common, scale=sign, shift=size, shift_mean=float(tensor.mean()))
        return Affine(**common, scale=size)
    return Affine(**common, scale=sign, fixed=fixed, multiplies=not adds)


OPERATIONS: dict[str, Any] = {}
