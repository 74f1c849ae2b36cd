"""Values that are added, multiplied, put side by side or taken apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from derive.records import EocError
from verify.models.state import State, sampled, swapped
from verify.models.step import Step
from verify.models.steps.tokens import beside
from verify.models.steps.weights import unswapped


@dataclass(frozen=True, kw_only=True)
class Sum(Step):
    """a x + b y: moments add where one of the two is centred and leaves a layer with weights; draws are added else.

    The law stays Gaussian only if both are. A sum behind an activation (the stream of a post-activation residual
    block) is not: its draws are carried along.
    """

    title: ClassVar[str] = "sum"
    scales: tuple[float, float]

    def forward(self, states: Sequence[State]) -> State:
        """The law of the sum."""
        (a, b), x = self.scales, states[0]
        y = swapped(states[1], x.feature)
        if x.places != y.places:
            raise EocError("the two sides of a sum have different shapes")
        if not (x.gaussian or y.gaussian):
            return sampled(self.shape, x.feature, lambda: a * x.draws + b * y.draws)
        second = a**2 * x.second + b**2 * y.second
        how = "theory" if x.how == y.how == "theory" else "sampled" if "measured" not in (x.how, y.how) else "measured"
        noise = None if x.noise is None or y.noise is None else a**4 * x.noise + b**4 * y.noise
        fourth = 3 * float(np.mean(np.diag(second))) ** 2 if x.gaussian and y.gaussian else float("nan")
        return State(
            self.shape, x.feature, second, a * x.mean + b * y.mean, x.gaussian and y.gaussian, how,
            lambda: a * x.draws + b * y.draws, noise, fourth,
        )  # fmt: skip

    def back(self, states: Sequence[State], gradient: Any) -> list[Any]:
        """To both sides."""
        (a, b), x, y = self.scales, *states
        return [a**2 * gradient, b**2 * _moved(gradient, y, x.feature)]


def _moved(gradient: Any, state: State, axis: int) -> Any:
    return gradient if axis == state.feature else unswapped(gradient, state, axis)


@dataclass(frozen=True, kw_only=True)
class Product(Step):
    """x y of two signals that are independent given their inputs: second moments multiply."""

    title: ClassVar[str] = "product"

    def forward(self, states: Sequence[State]) -> State:
        """The law of the product; no longer Gaussian."""
        x, y = states
        if x.feature != y.feature or x.places != y.places:
            raise EocError("the two sides of a product have different shapes")
        how = "theory" if x.how == y.how == "theory" else "sampled" if "measured" not in (x.how, y.how) else "measured"
        return State(self.shape, x.feature, x.second * y.second, x.mean * y.mean, False, how, lambda: x.draws * y.draws)

    def back(self, states: Sequence[State], gradient: Any) -> list[Any]:
        """Each side's gradient is multiplied by the other side."""
        x, y = states
        if gradient.ndim > 1:
            return [gradient * y.draws**2, gradient * x.draws**2]
        return [gradient * np.diag(y.second), gradient * np.diag(x.second)]


@dataclass(frozen=True, kw_only=True)
class Concat(Step):
    """Features side by side: moments are means with the widths as weights."""

    title: ClassVar[str] = "concat"
    widths: tuple[int, ...]

    def forward(self, states: Sequence[State]) -> State:
        """The law of a feature taken at random."""
        share = np.array(self.widths) / sum(self.widths)
        second = sum(s * state.second for s, state in zip(share, states, strict=True))
        mean = sum(s * state.mean for s, state in zip(share, states, strict=True))
        hows = {state.how for state in states}
        how = "theory" if hows == {"theory"} else "measured" if "measured" in hows else "sampled"
        return State(self.shape, states[0].feature, second, mean, False, how, lambda: self._mixed(states))

    def _mixed(self, states: Sequence[State]) -> Any:
        draws, edges = states[0].draws.copy(), np.cumsum(self.widths) / sum(self.widths) * len(states[0].draws)
        for state, low, high in zip(states[1:], edges[:-1], edges[1:], strict=True):
            draws[int(low) : int(high)] = state.draws[int(low) : int(high)]
        return draws

    def back(self, states: Sequence[State], gradient: Any) -> list[Any]:
        """Each part has its share of the squared gradient."""
        from verify.models.step import averaged

        return [averaged(gradient) * width / sum(self.widths) for width in self.widths]


@dataclass(frozen=True, kw_only=True)
class Part(Step):
    """Some of the features: the same law, independent of the other features after a layer with weights."""

    title: ClassVar[str] = "part"
    index: int

    def forward(self, states: Sequence[State]) -> State:
        """The same law, with draws of its own."""
        (x,) = states
        source = lambda: np.roll(x.draws, 1 + self.index, 0)  # noqa: E731
        return State(self.shape, x.feature, x.second, x.mean, x.gaussian, x.how, source, x.noise, x.fourth)

    def back(self, states: Sequence[State], gradient: Any) -> list[Any]:
        """The features that are left out get no gradient from here."""
        return [np.roll(gradient, -1 - self.index, 0) if gradient.ndim > 1 else gradient]


def _add(sign: float):
    def read(reader: Any, node: Any) -> Step:
        alpha = sign * float(node.kwargs.get("alpha", 1))
        first, second = node.args[:2]
        common = reader.common(node, first, second, row=True)
        return Sum(**common, scales=(1.0, alpha))

    return read


def _mul(reader: Any, node: Any) -> Step:
    return Product(**reader.common(node, *node.args[:2]))


def _cat(reader: Any, node: Any) -> Step:
    parts, axis = node.args[0], (node.args[1] if len(node.args) > 1 else 0)
    shapes = [reader.shape(part) for part in parts]
    axis %= len(shapes[0])
    streams = [part for part in parts if reader.stream(part)]
    if len(streams) < len(parts) or axis != reader.feature(streams[0]):
        return beside(reader, node, axis)
    return Concat(**reader.common(node, *parts), widths=tuple(shape[axis] for shape in shapes))


def _part(reader: Any, node: Any) -> Step:
    whole, index = node.args
    axis = (whole.args[2] if len(whole.args) > 2 else whole.kwargs.get("dim", 0)) % len(reader.shape(whole.args[0]))
    if axis != reader.feature(whole.args[0]):
        reader.refuse(node, "it takes inputs or positions apart")
    return Part(**reader.common(node, whole.args[0]), index=int(index))


OPERATIONS = {"add": _add(1.0), "sub": _add(-1.0), "mul": _mul, "cat": _cat, "getitem": _part}
