"""Which sigma_w and sigma_b a model's layers should have: variances that stay, gradients that stay, residual scales."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from derive.records import EocError
from verify.models.moments import moments_of
from verify.models.operating import OperatingPoint, operating_point
from verify.models.predict import states_of
from verify.models.state import State
from verify.models.step import Step
from verify.models.steps.attention import Attention
from verify.models.steps.elementwise import Elementwise
from verify.models.steps.joins import Sum
from verify.models.steps.norms import Norm
from verify.models.steps.tokens import Embedding
from verify.models.steps.weights import Weights
from verify.reading import Network

PASSED = ("OnPlaces", "Dropout", "Affine", "Layout", "Flatten", "Part")
"""Steps between a layer and its activation that leave the kind of target as it is."""


@dataclass(frozen=True)
class Advice:
    """What one layer should get.

    layer            name of the step
    sigma_w, sigma_b what to draw with: std(W) = sigma_w/sqrt(fan_in)
    reason           what the numbers do
    """

    layer: str
    weight: str
    bias: str
    fan_in: float
    sigma_w: float
    sigma_b: float
    reason: str


@dataclass(frozen=True)
class Plan:
    """Advice for every layer, in order; `points` are the operating points used, `network` the model with the advice."""

    advice: tuple[Advice, ...]
    points: tuple[OperatingPoint, ...]
    network: Network
    notes: tuple[str, ...]


def plan(network: Network, values: Mapping[str, Any]) -> Plan:
    """Go through the model from its input and choose each layer so that what it feeds gets the variance it should.

    Before an activation: that of the activation's operating point (`operating_point`). The last layer of a residual
    branch: the stream's variance divided by the number of branches, so that all together multiply it by at most e
    and gradients likewise (Hayou et al. 2021, arXiv 2010.12859). Before a norm, and at the output: 1.
    """
    maker = _Maker(network, values)
    for step in network.steps:
        maker.visit(step)
    done = replace(network, steps=tuple(maker.steps.values()))
    return Plan(tuple(maker.advice), tuple(maker.points.values()), done, tuple(dict.fromkeys(maker.notes)))


class _Maker:
    def __init__(self, network: Network, values: Mapping[str, Any]) -> None:
        self.network, self.values = network, values
        self.steps: dict[str, Step] = {}
        self.states: dict[str, State] = {}
        self.advice: list[Advice] = []
        self.points: dict[str, OperatingPoint] = {}
        self.notes: list[str] = []
        self.tables = {step.table for step in network.steps if isinstance(step, Embedding)}
        self.depth = max(len(network.layers), 1)
        self.branches = sum(1 for step in network.steps if isinstance(step, Sum) and self.branch_of(step) is not None)

    def visit(self, step: Step) -> None:
        """Advise a layer with weights; carry the law on."""
        if isinstance(step, Weights) and step.weight in self.tables:
            self.notes.append(f"{step.weight} is the table of an embedding too: it keeps its numbers")
        elif isinstance(step, Weights) and not any(a.weight == step.weight for a in self.advice):
            step = self.advised(step)
        self.steps[step.name] = step
        one = replace(self.network, steps=(step,))
        before = {name: self.states[name] for name in step.inputs}
        self.states[step.name] = _forward(one, step, before, self.values, self.network)

    def advised(self, step: Weights) -> Step:
        """The layer with the numbers that give its output the second moment it should have."""
        bare = replace(step, sigma_w=1.0, sigma_b=0.0)
        moment = bare.forward([self.states[name] for name in step.inputs]).moment
        target, sigma_b, reason = self.target(step)
        sigma_b = sigma_b if step.bias else 0.0
        sigma_w = (max(target - sigma_b**2, 0.0) / moment) ** 0.5 if moment > 0 else 1.0
        self.advice.append(Advice(step.name, step.weight, step.bias, step.fan_in, sigma_w, sigma_b, reason))
        return replace(step, sigma_w=sigma_w, sigma_b=sigma_b)

    def target(self, step: Step) -> tuple[float, float, str]:
        """(second moment of the output, sigma_b, reason)."""
        name = step.name
        while True:
            users = [s for s in self.network.steps if name in s.inputs]
            active = next((s for s in users if isinstance(s, Elementwise)), None)
            if active is not None:
                point = self.point(active.formula)
                if point is not None:
                    return point.q, point.sigma_b, f"q = {point.q:.4g} before {active.label}"
                return 1.0, 0.0, f"variance 1 before {active.label}, which has no operating point"
            joined = next((s for s in users if isinstance(s, Sum)), None)
            if joined is not None:
                return self.joining(joined, name)
            attending = next((s for s in users if isinstance(s, Attention)), None)
            if attending is not None:
                values = name == attending.inputs[2]
                return 1.0, 0.0, "variance 1 of values" if values else "queries and keys of variance 1: scores too"
            if any(isinstance(s, Norm) for s in users):
                return 1.0, 0.0, "variance 1 before a norm, which sets the scale itself"
            passed = next((s for s in users if type(s).__name__ in PASSED), None)
            if passed is None:
                return 1.0, 0.0, "variance 1 at the output" if not users else "variance 1"
            name = passed.name

    def joining(self, joined: Sum, name: str) -> tuple[float, float, str]:
        """The target of a layer that ends in a sum: a branch's share, or the stream itself."""
        branch = self.branch_of(joined)
        own = joined.inputs.index(name)
        scale = joined.scales[own] ** 2 or 1.0
        if branch is None or joined.inputs[branch] != name:
            stream = self.stream_before(name)
            return stream / scale, 0.0, "a shortcut keeps the variance of the stream"
        other = joined.inputs[1 - branch]
        stream = self.states[other].moment if other in self.states else self.stream_before(other)
        share = f"1/{self.branches}" if self.branches > 1 else "all"
        return stream / self.branches / scale, 0.0, f"a residual branch: {share} of the stream's variance"

    def stream_before(self, name: str) -> float:
        """The second moment before the first weights met on the way back."""
        step = self.network.step(name)
        while not hasattr(step, "sigma_w") and step.inputs:
            step = self.network.step(step.inputs[0])
        first = step.inputs[0] if step.inputs else step.name
        state = self.states[first]
        return state.moment

    def branch_of(self, joined: Sum) -> int | None:
        """Which side of a sum is the branch: the one with more layers between it and what both sides share."""
        sides = [self._behind(name) for name in joined.inputs]
        own = (sides[0] - sides[1], sides[1] - sides[0])
        counts = [sum(hasattr(self.network.step(n), "sigma_w") for n in side) for side in own]
        if counts[0] == counts[1]:
            return None
        return int(counts[1] > counts[0])

    def _behind(self, name: str) -> set[str]:
        found, todo = set(), [name]
        while todo:
            here = todo.pop()
            if here not in found:
                found.add(here)
                todo += self.network.step(here).inputs
        return found

    def point(self, formula: str) -> OperatingPoint | None:
        """The operating point of an activation, worked out once."""
        if formula not in self.points:
            try:
                self.points[formula] = operating_point(moments_of(formula), self.depth)
            except EocError as error:
                self.notes.append(str(error).splitlines()[0])
                return None
        return self.points[formula]


def _forward(one: Network, step: Step, before: dict[str, State], values: Any, network: Network) -> State:
    states, _ = states_of(one, values, before, network)
    return states[step.name]
