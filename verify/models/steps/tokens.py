"""Sequences: embeddings of tokens, positions put side by side, one position or some of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from verify.models.state import State
from verify.models.step import Step
from verify.models.steps.places import OnPlaces


@dataclass(frozen=True, kw_only=True)
class Embedding(Step):
    """Rows of a table, one for each token: E x x' = m^2 + s^2 where two places hold the same token, else m^2.

    table    name of the parameter
    same     (P, P) whether two places hold the same token
    mean, std  of the table's entries, which are taken as independent normals
    """

    title: ClassVar[str] = "embedding"
    feature: int
    table: str
    same: Any = field(compare=False, repr=False)
    mean: float
    std: float

    def forward(self, states: Sequence[State]) -> State:
        """A Gaussian feature, the same for the same tokens."""
        second = self.std**2 * self.same + self.mean**2
        means = np.full(len(second), self.mean)
        fourth = 3 * self.std**4 + 6 * (self.std * self.mean) ** 2 + self.mean**4
        small = abs(self.mean) < 0.05 * self.std
        return State(self.shape, self.feature, second, means, small, "theory", None, None, fourth)

    def back(self, states: Sequence[State], gradient: Any) -> list[Any]:
        """Tokens have no gradient."""
        return [np.full(state.places, np.nan) for state in states]


@dataclass(frozen=True, kw_only=True)
class Beside(Step):
    """A signal with fixed vectors at further positions: a class token, registers.

    before, after  fixed vectors (positions, features) in front of the signal and behind it
    """

    title: ClassVar[str] = "with fixed positions"
    feature: int
    before: Any = field(compare=False, repr=False)
    after: Any = field(compare=False, repr=False)

    @property
    def _fixed(self) -> Any:
        return np.concatenate([self.before, self.after])

    def _at(self, inputs: int, wide: int) -> tuple[Any, Any]:
        """Places of the signal and of the fixed vectors, each (inputs, positions)."""
        front, total = len(self.before), len(self._fixed) + wide
        rows = np.arange(inputs)[:, None] * total
        inside = np.arange(front, front + wide)
        outside = np.setdiff1d(np.arange(total), inside)
        return rows + inside, rows + outside

    def forward(self, states: Sequence[State]) -> State:
        """Moments of the signal, of the vectors, and products of means between them."""
        (x,) = states
        inputs, wide = x.shape[0], x.places // x.shape[0]
        fixed = np.tile(self._fixed, (inputs, 1))
        inside, outside = (at.reshape(-1) for at in self._at(inputs, wide))
        size = len(inside) + len(outside)
        second, mean = np.zeros((size, size)), np.zeros(size)
        mean[inside], mean[outside] = x.mean, fixed.mean(1)
        second[np.ix_(inside, inside)] = x.second
        second[np.ix_(outside, outside)] = fixed @ fixed.T / fixed.shape[1]
        second[np.ix_(inside, outside)] = np.outer(x.mean, fixed.mean(1))
        second[np.ix_(outside, inside)] = np.outer(fixed.mean(1), x.mean)

        def draw() -> Any:
            drawn = np.empty((len(x.draws), size))
            chosen = np.random.default_rng(size).integers(0, fixed.shape[1], len(drawn))
            drawn[:, inside], drawn[:, outside] = x.draws, fixed[:, chosen].T
            return drawn

        return State(self.shape, self.feature, second, mean, False, x.how, draw)

    def back(self, states: Sequence[State], gradient: Any) -> list[Any]:
        """What reaches the signal's own positions."""
        (x,) = states
        inside, _ = self._at(x.shape[0], x.places // x.shape[0])
        return [gradient[..., inside.reshape(-1)]]


def _embedding(reader: Any, node: Any) -> Step:
    table, tokens = node.args[:2]
    if not reader.stream(tokens):
        reader.refuse(node, "its table depends on the input")
    numbers = reader.values[tokens.name].reshape(-1).cpu().numpy()
    weight = reader.tensor(table).detach().double()
    source = next(step for step in reader.steps.values() if getattr(step, "tokens", False))
    shape = tuple(reader.values[node.name].shape)
    return Embedding(
        name=node.name, module=reader.module(node), inputs=(source.name,), shape=shape, feature=len(shape) - 1,
        table=reader.target(table), same=(numbers[:, None] == numbers[None, :]).astype(float),
        mean=float(weight.mean()), std=float(weight.std()),
    )  # fmt: skip


def beside(reader: Any, node: Any, axis: int) -> Step:
    """torch.cat along positions of one signal and tensors that do not depend on the input."""
    parts = node.args[0]
    streams = [part for part in parts if reader.stream(part)]
    if len(streams) != 1:
        reader.refuse(node, "it puts positions of several signals side by side")
    shape, feature = reader.shape(streams[0]), reader.feature(streams[0])
    if len(shape) != 3 or axis not in (1, 2) or axis == feature:
        reader.refuse(node, "it puts inputs side by side, or fixed features beside the signal's")
    at = parts.index(streams[0])
    sides = []
    for some in (parts[:at], parts[at + 1 :]):
        tensors = [reader.values[part.name].detach().double().movedim(feature, -1) for part in some]
        if any((tensor != tensor[:1]).any() for tensor in tensors):
            reader.refuse(node, "it puts fixed vectors beside the signal that differ between inputs")
        rows = [tensor[0].reshape(-1, shape[feature]).cpu().numpy() for tensor in tensors]
        sides.append(np.concatenate(rows) if rows else np.zeros((0, shape[feature])))
    return Beside(**reader.common(node, streams[0]), feature=feature, before=sides[0], after=sides[1])


def _some_positions(reader: Any, node: Any) -> Step:
    """x[:, i] or x[:, a:b]: the positions that are kept."""
    stream, target, rest = node.args[0], node.target, tuple(node.args[2:])
    shape, feature = reader.shape(stream), reader.feature(stream)
    axis = (node.args[1] if len(node.args) > 1 else 0) % len(shape)
    if axis in (0, feature):
        reader.refuse(node, "it leaves out inputs or features")
    before = tuple(n for a, n in enumerate(shape) if a not in (0, feature))
    moved = axis + 1 if axis < feature else axis

    def call(x: Any) -> Any:
        return target(x, moved, *rest)

    common = reader.common(node, stream)
    kept = None if len(common["shape"]) < 3 else feature - (len(common["shape"]) < len(shape) and axis < feature)
    title = "one position" if len(common["shape"]) < len(shape) else "some positions"
    return OnPlaces(**common, operation=title, linear=True, before=before, call=call, kept=kept)


OPERATIONS = {"embedding": _embedding, "select": _some_positions, "slice": _some_positions}
