"""Linear layers and convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, ClassVar

import numpy as np

from derive.layers.weights import conv_fans, linear_fans
from verify.models.state import State, centred, swapped
from verify.models.step import Step, averaged


@dataclass(frozen=True, kw_only=True)
class Weights(Step):
    """A layer with weights: sigma_w^2 = fan_in mean(W^2), sigma_b^2 = mean(b^2) as they are in the model.

    weight, bias  names of the parameters (bias "" where there is none)
    offset        mean of the weights in units of what chance would make it; large where the law is not centred
    """

    weight: str
    bias: str
    fan_in: float
    fan_out: float
    sigma_w: float
    sigma_b: float
    offset: float = 0.0

    def _noise(self, state: State) -> float | None:
        if state.noise is None or not np.isfinite(state.fourth) or state.positions:
            return None
        own = max(state.fourth - state.moment**2, 0.0) / state.features
        return self.sigma_w**4 * (state.noise + own)


@dataclass(frozen=True, kw_only=True)
class Linear(Weights):
    """y = x W^T + b along the last axis: K = sigma_w^2 M + sigma_b^2; squared gradients grow by sigma_w^2."""

    def forward(self, states: Sequence[State]) -> State:
        """A centred Gaussian."""
        state = swapped(states[0], len(self.shape) - 1)
        second = self.sigma_w**2 * state.second + self.sigma_b**2
        return centred(self.shape, len(self.shape) - 1, second, self._noise(state), state.how)

    def back(self, states: Sequence[State], gradient: Any) -> list[Any]:
        """Through W^T; where the features become positions again, evenly."""
        grown = self.sigma_w**2 * averaged(gradient)
        return [unswapped(grown, states[0], len(self.shape) - 1)]


def unswapped(gradient: Any, state: State, axis: int) -> Any:
    """Squared gradients over the places of a state whose features were moved to `axis`."""
    if axis == state.feature:
        return gradient
    inputs, places = state.shape[0], state.positions[0]
    return np.repeat(gradient.reshape(inputs, -1).sum(1) / places, places)


@dataclass(frozen=True, kw_only=True)
class Conv(Weights):
    """A convolution: K(a, a') = sigma_b^2 + sigma_w^2/fan_in C_in/groups sum over taps of M(a + b, a' + b).

    All positions are carried, so that zero padding, stride and dilation are exact. Source: Xiao et al. 2018
    (arXiv 1806.05393), eq. 2.4.
    """

    title: ClassVar[str] = "conv"
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int
    transposed: bool
    before: tuple[int, ...]

    @cached_property
    def taps(self) -> list[tuple[Any, Any]]:
        """For every tap the positions of the output and those of the input that it joins."""
        small, large = (self.before, self.shape[2:]) if self.transposed else (self.shape[2:], self.before)
        joined = []
        for tap in np.ndindex(*self.kernel):
            near, far = [], []
            for i, t in enumerate(tap):
                here = np.arange(small[i])
                there = here * self.stride[i] - self.padding[i] + t * self.dilation[i]
                inside = (there >= 0) & (there < large[i])
                near.append(here[inside])
                far.append(there[inside])
            pair = (_flat(near, small), _flat(far, large))
            joined.append((pair[1], pair[0]) if self.transposed else pair)
        return joined

    @property
    def per_tap(self) -> float:
        """The variance of a weight times the channels that a tap sums over."""
        channels = self.fan_in * (prod(self.stride) if self.transposed else 1) / prod(self.kernel)
        return self.sigma_w**2 / self.fan_in * channels

    def forward(self, states: Sequence[State]) -> State:
        """A centred Gaussian at all positions."""
        inputs, size, wide = self.shape[0], prod(self.shape[2:]), prod(self.before)
        inner = states[0].second.reshape(inputs, wide, inputs, wide)
        total = np.zeros((inputs, size, inputs, size))
        for out, into in self.taps:
            for a in range(inputs):
                for b in range(inputs):
                    total[a, :, b][np.ix_(out, out)] += inner[a, :, b][np.ix_(into, into)]
        second = self.per_tap * total.reshape(inputs * size, inputs * size) + self.sigma_b**2
        return centred(self.shape, 1, second, self._noise(states[0]), states[0].how)

    def back(self, states: Sequence[State], gradient: Any) -> list[Any]:
        """Every output's squared gradient goes to each of its taps."""
        inputs, wide = self.shape[0], prod(self.before)
        outer, inner = averaged(gradient).reshape(inputs, -1), np.zeros((inputs, wide))
        for out, into in self.taps:
            inner[:, into] += outer[:, out]
        return [self.per_tap * inner.reshape(-1)]


def _flat(parts: list[Any], shape: tuple[int, ...]) -> Any:
    grid = np.meshgrid(*parts, indexing="ij")
    return np.ravel_multi_index([axis.reshape(-1) for axis in grid], shape)


def _measured(weight: Any, bias: Any, fan_in: float) -> dict[str, Any]:
    w = weight.detach().double()
    size = float((w**2).mean())
    offset = abs(float(w.mean())) * w.numel() ** 0.5 / size**0.5 if size > 0 else 0.0
    return {
        "sigma_w": (fan_in * size) ** 0.5,
        "sigma_b": 0.0 if bias is None else float((bias.detach().double() ** 2).mean()) ** 0.5,
        "offset": offset,
    }


def _linear(reader: Any, node: Any) -> Step:
    weight, bias = reader.tensor(node.args[1]), reader.optional(node, 2)
    out, into = weight.shape
    fans = linear_fans(into, out)
    common = reader.common(node, node.args[0], row=True)
    return Linear(
        **common, weight=reader.target(node.args[1]), bias=reader.target_of(node, 2),
        fan_in=into, fan_out=float(fans.fan_out), **_measured(weight, bias, into),
    )  # fmt: skip


def _addmm(reader: Any, node: Any) -> Step:
    """b + x W with the inputs of W along its first axis, as in GPT-2."""
    bias, stream, weight = (None, *node.args[:2]) if len(node.args) < 3 else node.args[:3]
    if not reader.stream(stream) or reader.stream(weight) or (bias is not None and reader.stream(bias)):
        reader.refuse(node, "it multiplies signals by signals")
    into, out = reader.tensor(weight).shape
    given = None if bias is None else reader.tensor(bias)
    return Linear(
        **reader.common(node, stream, row=True), weight=reader.target(weight),
        bias="" if bias is None else reader.target(bias), fan_in=into, fan_out=float(out),
        **_measured(reader.tensor(weight), given, into),
    )  # fmt: skip


def _conv(transposed: bool):
    def read(reader: Any, node: Any) -> Step:
        weight, bias = reader.tensor(node.args[1]), reader.optional(node, 2)
        dims = weight.ndim - 2
        rest = list(node.args[3:])
        names: tuple[str, ...]
        if transposed:
            names = ("stride", "padding", "output_padding", "groups", "dilation")
        else:
            names = ("stride", "padding", "dilation", "groups")
        given = dict(zip(names, rest, strict=False)) | dict(node.kwargs)
        groups, kernel = int(given.get("groups", 1)), tuple(weight.shape[2:])
        stride, dilation = _each(given.get("stride", 1), dims), _each(given.get("dilation", 1), dims)
        padding = _padding(given.get("padding", 0), kernel, dilation)
        channels = (weight.shape[0], weight.shape[1] * groups)
        inside, outside = channels if transposed else channels[::-1]
        fans = conv_fans(inside, outside, kernel, groups=groups, stride=stride, transposed=transposed)
        common = reader.common(node, node.args[0])
        return Conv(
            **common, weight=reader.target(node.args[1]), bias=reader.target_of(node, 2), fan_in=float(fans.fan_in),
            fan_out=float(fans.fan_out), kernel=kernel, stride=stride, padding=padding, dilation=dilation,
            groups=groups, transposed=transposed, before=tuple(reader.shape(node.args[0])[2:]),
            **_measured(weight, bias, float(fans.fan_in)),
        )  # fmt: skip

    return read


def _each(value: Any, dims: int) -> tuple[int, ...]:
    values = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    return tuple(int(v) for v in (values * dims if len(values) == 1 else values))


def _padding(value: Any, kernel: tuple[int, ...], dilation: tuple[int, ...]) -> tuple[int, ...]:
    if value == "same":
        return tuple((k - 1) * d // 2 for k, d in zip(kernel, dilation, strict=True))
    return (0,) * len(kernel) if value == "valid" else _each(value, len(kernel))


OPERATIONS = {
    "linear": _linear,
    "addmm": _addmm,
    "mm": _addmm,
    **{f"conv{d}d": _conv(False) for d in (1, 2, 3)},
    "conv_transpose1d": _conv(True),
    "conv_transpose2d.input": _conv(True),
    "conv_transpose2d": _conv(True),
    "conv_transpose3d": _conv(True),
}
