"""What acts on positions, the same for every feature: pooling, padding, means; and on the layout of a tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, ClassVar

import numpy as np

from verify.models.state import State, sampled
from verify.models.step import Step


@dataclass(frozen=True, kw_only=True)
class OnPlaces(Step):
    """An operation on the positions of each feature: `call` runs it on (inputs, features, positions...).

    linear  averages, padding, resampling: the moments follow exactly, and a Gaussian stays one. Others (max-pooling)
            act on draws of the feature at all positions, so that whatever positions share is kept.
    """

    operation: str
    linear: bool
    before: tuple[int, ...]
    call: Callable[[Any], Any] = field(compare=False, repr=False)
    kept: int | None = None
    """The axis of the features behind it, where that is another one than before."""

    @property
    def label(self) -> str:
        """torch's name."""
        return self.operation

    @property
    def matrix(self) -> Any:
        """The matrix (positions out, positions in) of a linear operation."""
        import torch

        size = prod(self.before)
        eye = torch.eye(size, dtype=torch.float64).reshape(1, size, *self.before)
        return self.call(eye).reshape(size, -1).T.numpy()

    def forward(self, states: Sequence[State]) -> State:
        """The law at the new positions."""
        (state,) = states
        feature = self.kept or (state.feature if len(self.shape) > 2 else 1)
        if not self.linear:
            return sampled(self.shape, feature, lambda: self._run(state.draws))
        inputs, wide = state.shape[0], prod(self.before)
        a = self.matrix
        inner = state.second.reshape(inputs, wide, inputs, wide)
        second = np.einsum("oi,aibj,pj->aobp", a, inner, a, optimize=True)
        size = inputs * len(a)
        mean = (state.mean.reshape(inputs, wide) @ a.T).reshape(-1)
        source = _through(state, a, inputs)
        return State(self.shape, feature, second.reshape(size, size), mean, state.gaussian, state.how, source)

    def _run(self, draws: Any) -> Any:
        import torch

        with torch.no_grad():
            return self.call(_planes(torch, draws, self.shape[0], self.before)).numpy().swapaxes(0, 1).reshape(
                len(draws), -1
            )  # fmt: skip

    def back(self, states: Sequence[State], gradient: Any) -> list[Any]:
        """Squares of the weights of a linear operation; to the position that was chosen for a maximum."""
        (state,) = states
        inputs = state.shape[0]
        if self.linear:
            squares = self.matrix**2
            spread = gradient.reshape(*gradient.shape[:-1], inputs, -1) @ squares
            return [spread.reshape(*gradient.shape[:-1], -1)]
        import torch

        planes = _planes(torch, state.draws, inputs, self.before).requires_grad_()
        out = self.call(planes)
        each = np.broadcast_to(gradient, (len(state.draws), out[:, 0].numel()))
        given = torch.as_tensor(each.reshape(len(each), inputs, *out.shape[2:]).swapaxes(0, 1).copy())
        (routed,) = torch.autograd.grad(out, planes, given)
        return [routed.numpy().swapaxes(0, 1).reshape(len(each), -1)]


def _planes(torch: Any, draws: Any, inputs: int, positions: tuple[int, ...]) -> Any:
    return torch.as_tensor(draws.reshape(len(draws), inputs, *positions).swapaxes(0, 1).copy())


def _through(state: State, a: Any, inputs: int) -> Callable[[], Any]:
    def draw() -> Any:
        draws = state.draws
        return (draws.reshape(len(draws), inputs, -1) @ a.T).reshape(len(draws), -1)

    return draw


@dataclass(frozen=True, kw_only=True)
class Flatten(Step):
    """Positions become features: a feature is one of them at random, so moments are means over positions."""

    title: ClassVar[str] = "flatten"

    def forward(self, states: Sequence[State]) -> State:
        """Means over positions."""
        (state,) = states
        inputs = state.shape[0]
        blocks = state.second.reshape(inputs, -1, inputs, state.places // inputs)
        second = np.einsum("apbp->ab", blocks) / blocks.shape[1]
        mean = state.mean.reshape(inputs, -1).mean(1)
        return State(self.shape, 1, second, mean, False, state.how, lambda: self._one_each(state), None, state.fourth)

    def _one_each(self, state: State) -> Any:
        draws = state.draws.reshape(len(state.draws), state.shape[0], -1)
        chosen = np.random.default_rng(draws.shape[2]).integers(0, draws.shape[2], len(draws))
        return draws[np.arange(len(draws)), :, chosen]

    def back(self, states: Sequence[State], gradient: Any) -> list[Any]:
        """Evenly to all positions."""
        from verify.models.step import averaged

        places = states[0].places // states[0].shape[0]
        return [np.repeat(averaged(gradient) / places, places)]


@dataclass(frozen=True, kw_only=True)
class Layout(Step):
    """The same numbers in another order of axes: `order` of the places."""

    title: ClassVar[str] = "layout"
    feature: int
    order: tuple[int, ...] = field(repr=False)

    def forward(self, states: Sequence[State]) -> State:
        """The same law, its places reordered."""
        (x,) = states
        at = list(self.order)
        source = lambda: x.draws[:, at]  # noqa: E731
        second, mean = x.second[np.ix_(at, at)], x.mean[at]
        return State(self.shape, self.feature, second, mean, x.gaussian, x.how, source, x.noise, x.fourth)

    def back(self, states: Sequence[State], gradient: Any) -> list[Any]:
        """Back to the old order."""
        return [gradient[..., np.argsort(self.order)]]


def _on_places(linear: bool):
    def read(reader: Any, node: Any) -> Step:
        stream, shape = node.args[0], reader.shape(node.args[0])
        if reader.feature(stream) != 1 or len(shape) < 3:
            reader.refuse(node, "it acts on something else than positions of channels")
        target, args, kwargs = node.target, tuple(node.args[1:]), dict(node.kwargs)
        return OnPlaces(
            **reader.common(node, stream), operation=reader.operation(node), linear=linear,
            before=tuple(shape[2:]), call=lambda x: target(x, *args, **kwargs),
        )  # fmt: skip

    return read


def _mean(reader: Any, node: Any) -> Step:
    stream, shape, feature = node.args[0], reader.shape(node.args[0]), reader.feature(node.args[0])
    axes = tuple(a % len(shape) for a in (node.args[1] if isinstance(node.args[1], (list, tuple)) else [node.args[1]]))
    others = tuple(a for a in range(1, len(shape)) if a != feature)
    if feature in axes or 0 in axes or set(axes) != set(others):
        reader.refuse(node, "it averages over features or over some positions only")
    positions = tuple(shape[a] for a in others)

    def call(x: Any) -> Any:
        return x.flatten(2).mean(2)

    common = reader.common(node, stream)
    return OnPlaces(**common, operation="mean over positions", linear=True, before=positions, call=call)


def _reshape(reader: Any, node: Any) -> Step:
    stream, new = node.args[0], reader.shape(node)
    shape, feature = reader.shape(stream), reader.feature(stream)
    common = reader.common(node, stream)
    places = prod(shape) // shape[feature]
    if len(new) == 2 and new[0] == shape[0] and places > shape[0]:
        return Flatten(**common)
    kept = new[: feature + 1] == shape[: feature + 1] and feature == 1
    last = feature == len(shape) - 1 and new[-1] == shape[-1] and new[0] == shape[0]
    if not (kept or last):
        reader.refuse(node, "it mixes features with positions or inputs")
    return Layout(**common, feature=1 if kept else len(new) - 1, order=tuple(range(places)))


def _permute(reader: Any, node: Any) -> Step:
    shape, feature = reader.shape(node.args[0]), reader.feature(node.args[0])
    dims = list(range(len(shape)))
    if reader.operation(node) == "permute":
        dims = [d % len(shape) for d in node.args[1]]
    else:
        i, j = (d % len(shape) for d in node.args[1:3])
        dims[i], dims[j] = dims[j], dims[i]
    if dims[0] != 0:
        reader.refuse(node, "inputs must stay along the first axis")
    old = [a for a in range(len(shape)) if a != feature]
    grid = np.arange(prod(shape[a] for a in old)).reshape([shape[a] for a in old])
    moved = grid.transpose([old.index(d) for d in dims if d != feature])
    common = reader.common(node, node.args[0])
    return Layout(**common, feature=dims.index(feature), order=tuple(moved.reshape(-1).tolist()))


LINEAR = ("avg_pool1d", "avg_pool2d", "avg_pool3d", "adaptive_avg_pool1d", "adaptive_avg_pool2d", "pad",
          "upsample_nearest2d", "upsample_bilinear2d")  # fmt: skip
CHOOSING = ("max_pool1d", "max_pool2d", "max_pool3d", "adaptive_max_pool2d")
OPERATIONS = {
    **{name: _on_places(True) for name in LINEAR},
    **{name: _on_places(False) for name in CHOOSING},
    "mean": _mean,
    **dict.fromkeys(("flatten", "view", "reshape", "_unsafe_view", "unflatten"), _reshape),
    **dict.fromkeys(("permute", "transpose"), _permute),
}
