"""Normalisations and dropout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from derive.records import EocError
from verify.models.state import State
from verify.models.step import Step, averaged

OVER = ("features", "groups", "batch", "running")


@dataclass(frozen=True, kw_only=True)
class Norm(Step):
    """(x - mean)/(standard deviation) in the limit of many features, then a scale and a shift for each feature.

    over      "features" of one input at one position (LayerNorm, RMSNorm), "groups" of features and all positions
              of one input (GroupNorm, InstanceNorm), "batch": all inputs and positions (BatchNorm in training),
              "running": the statistics that BatchNorm has stored (evaluation)
    centring  whether the mean is removed (not by RMSNorm)
    scale     root mean square of the scales, `shift` of the shifts
    stored    (mean, variance) for "running"
    """

    title: ClassVar[str] = "norm"
    over: str
    centring: bool
    scale: float
    shift: float
    epsilon: float
    stored: tuple[float, float] = (0.0, 1.0)

    @property
    def label(self) -> str:
        """What it normalises over."""
        return f"norm over {self.over}" if self.centring else "rms norm"

    def _statistics(self, state: State) -> tuple[Any, Any]:
        """(mean, variance) for each place."""
        inputs, diagonal = state.shape[0], np.diag(state.second)
        if self.over == "features":
            mean = state.mean if self.centring else np.zeros_like(state.mean)
            return mean, diagonal - mean**2
        if self.over == "groups":
            places = state.places // inputs
            mean = np.repeat(state.mean.reshape(inputs, places).mean(1), places)
            return mean, np.repeat(diagonal.reshape(inputs, places).mean(1), places) - mean**2
        return np.full_like(diagonal, self.stored[0]), np.full_like(diagonal, self.stored[1])

    def forward(self, states: Sequence[State]) -> State:
        """The law after the norm; a Gaussian stays one."""
        (state,) = states
        if self.over == "batch":
            return self._batch(state)
        mean, variance = self._statistics(state)
        size = np.sqrt(variance + self.epsilon)
        centred = state.second - np.outer(mean, state.mean) - np.outer(state.mean, mean) + np.outer(mean, mean)
        return self._finished(state, centred / np.outer(size, size), (state.mean - mean) / size, mean, size)

    def _batch(self, state: State) -> State:
        """What all inputs and positions share in a feature is removed."""
        if state.places < 3:
            raise EocError("a batch of two has no statistics", instead="a batch of 8 inputs or more")
        remove = np.eye(state.places) - 1 / state.places
        kept = remove @ state.second @ remove
        variance = float(np.mean(np.diag(kept))) + self.epsilon
        mean = (state.mean - state.mean.mean()) / variance**0.5

        def draw() -> Any:
            draws = state.draws - state.draws.mean(1, keepdims=True)
            return self.scale * draws / np.sqrt((draws**2).mean(1, keepdims=True) + self.epsilon)

        second = self.scale**2 * kept / variance + self.shift**2
        gaussian = state.gaussian and self.shift == 0
        return State(state.shape, state.feature, second, self.scale * mean, gaussian, state.how, draw)

    def _finished(self, state: State, second: Any, means: Any, mean: Any, size: Any) -> State:
        scale, shift = self.scale, self.shift
        gaussian = state.gaussian and shift == 0
        return State(
            state.shape, state.feature, scale**2 * second + shift**2, scale * means, gaussian, state.how,
            lambda: scale * (state.draws - mean) / size,
        )  # fmt: skip

    def back(self, states: Sequence[State], gradient: Any) -> list[Any]:
        """Times scale^2/variance."""
        (state,) = states
        if self.over == "batch":
            remove = np.eye(state.places) - 1 / state.places
            variance = float(np.mean(np.diag(remove @ state.second @ remove)))
            return [self.scale**2 * gradient / (variance + self.epsilon)]
        return [self.scale**2 * gradient / (self._statistics(state)[1] + self.epsilon)]


@dataclass(frozen=True, kw_only=True)
class Dropout(Step):
    """x m/(1 - p) with fresh masks: E x^2 and squared gradients grow by 1/(1 - p), E x1 x2 stays; the mean too."""

    title: ClassVar[str] = "dropout"
    p: float
    shared: bool = False

    def forward(self, states: Sequence[State]) -> State:
        """The law behind the mask."""
        (x,) = states
        second = x.second.copy()
        np.fill_diagonal(second, np.diag(second) / (1 - self.p))

        def draw() -> Any:
            masks = np.random.default_rng(x.places).random(x.draws.shape) >= self.p
            return x.draws * masks / (1 - self.p)

        fourth = x.fourth / (1 - self.p) ** 3
        noise = None if x.noise is None else x.noise / (1 - self.p) ** 2
        return State(x.shape, x.feature, second, x.mean, x.gaussian and self.p == 0, x.how, draw, noise, fourth)

    def back(self, states: Sequence[State], gradient: Any) -> list[Any]:
        """Times 1/(1 - p)."""
        return [averaged(gradient) / (1 - self.p)]


def _size(tensor: Any, usual: float) -> float:
    return usual if tensor is None else float((tensor.detach().double() ** 2).mean()) ** 0.5


def _norm(over: str, centring: bool, weight: int, bias: int | None, epsilon: int):
    def read(reader: Any, node: Any) -> Step:
        stream = node.args[0]
        if over == "features":
            axes = len(node.args[1])
            if axes != 1 or reader.feature(stream) != len(reader.shape(stream)) - 1:
                reader.refuse(node, "it normalises over something else than the last axis of features")
        scale = reader.optional(node, weight)
        shift = None if bias is None else reader.optional(node, bias)
        given = node.args[epsilon] if len(node.args) > epsilon else None
        small = 1e-5 if given is None else float(given)
        common = reader.common(node, stream, row=over == "features")
        return Norm(
            **common, over=over, centring=centring, scale=_size(scale, 1.0), shift=_size(shift, 0.0), epsilon=small
        )

    return read


def _batch_norm(reader: Any, node: Any) -> Step:
    stream, training = node.args[0], bool(node.args[5])
    scale, shift = reader.optional(node, 1), reader.optional(node, 2)
    stored = (0.0, 1.0)
    if not training:
        mean, variance = reader.optional(node, 3), reader.optional(node, 4)
        stored = (float(mean.double().mean()), float(variance.double().mean()))
    common = reader.common(node, stream)
    return Norm(
        **common, over="batch" if training else "running", centring=True, scale=_size(scale, 1.0),
        shift=_size(shift, 0.0), epsilon=float(node.args[7]), stored=stored,
    )  # fmt: skip


def _dropout(reader: Any, node: Any) -> Step:
    p, training = float(node.args[1]), bool(node.args[2])
    return Dropout(**reader.common(node, node.args[0], row=True), p=p if training else 0.0)


OPERATIONS = {
    "layer_norm": _norm("features", True, 2, 3, 4),
    "rms_norm": _norm("features", False, 2, None, 3),
    "group_norm": _norm("groups", True, 2, 3, 4),
    "batch_norm": _batch_norm,
    "dropout": _dropout,
}
