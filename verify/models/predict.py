"""Curves along a model: second moment, correlation of two inputs and squared gradient, predicted step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from derive.records import EocError
from verify.models.state import State, observed
from verify.models.step import Step, averaged
from verify.models.steps.ends import Input, Opaque
from verify.reading import Network

MOST_PLACES = 2048
"""Inputs times positions that are carried: a matrix of this size for every step."""
FEW_PLACES = 512
"""Places beyond which two inputs are enough."""
MOST_INPUTS = 16
NORMAL = 1.96


@dataclass(frozen=True)
class Point:
    """A step's predicted or measured numbers.

    moment       E x^2 over inputs, positions and features
    correlation  cosine of the first two inputs
    gradient     squared norm of the gradient here, in units of that at the output
    """

    moment: float
    correlation: float
    gradient: float


@dataclass(frozen=True)
class Predicted(Point):
    """With the variances of the logarithms from network to network (NaN where not known), and how it was had.

    how  "theory", "sampled" (through draws of one feature) or "measured" (behind what is not read)
    """

    moment_spread: float
    gradient_spread: float
    how: str

    def band(self, what: str, networks: int = 1) -> tuple[float, float]:
        """Where 95 % of measured values lie, for the mean of some networks; lognormal."""
        mean = getattr(self, what)
        spread = float(np.log1p(np.expm1(getattr(self, f"{what}_spread")) / networks))
        width = NORMAL * spread**0.5
        return mean * float(np.exp(-spread / 2 - width)), mean * float(np.exp(-spread / 2 + width))


def tracked(network: Network, batch: Any) -> Any:
    """As many inputs of the batch as can be carried at all their positions. Raises EocError if not even two can."""
    widest = max(network.steps, key=lambda step: step.places)
    places = widest.places
    count = min(len(batch), MOST_INPUTS, MOST_PLACES // places, max(2, FEW_PLACES // places))
    if count < 2:
        raise EocError(
            f"{len(batch)} inputs at {places} positions" if len(batch) > 1 else "one input has no correlation",
            where=f"  {widest.module or 'the model'}: {widest.label}",
            why=f"two inputs are followed at all positions, at most {MOST_PLACES} places",
            instead="smaller images, such as 2 x 3 x 32 x 32" if len(batch) > 1 else "a batch of two or more",
        )
    return batch[:count]


def states_of(
    network: Network, values: Mapping[str, Any], before: Mapping[str, State] | None = None, whole: Network | None = None
) -> tuple[dict[str, State], dict[str, str]]:
    """The law of every step's output, and where a step's law could not be had: why.

    values  measured tensors by step; used for the batch itself and behind what is not read
    before  laws of earlier steps, where `network` is a part of the `whole` model
    """
    states: dict[str, State] = dict(before or {})
    lost: dict[str, str] = {}
    for step in network.steps:
        inputs = [states[name] for name in step.inputs]
        if isinstance(step, (Input, Opaque)):
            how = "theory" if isinstance(step, Input) else "measured"
            states[step.name] = observed(values[step.name], _axis(whole or network, step), how)
            continue
        try:
            states[step.name] = step.forward(inputs)
        except (EocError, np.linalg.LinAlgError) as error:
            lost[step.name] = str(error).splitlines()[0]
            states[step.name] = observed(values[step.name], inputs[0].feature, "measured")
    return states, lost


def _axis(network: Network, step: Step) -> int:
    users = [type(s).__name__ for s in network.steps if step.name in s.inputs]
    return 1 if "Conv" in users or len(step.shape) != 3 else len(step.shape) - 1


def predict(network: Network, values: Mapping[str, Any]) -> tuple[dict[str, Predicted], dict[str, str]]:
    """The curves at every step, and what was lost on the way."""
    states, lost = states_of(network, values)
    gradients = _gradients(network, states)
    total = _size(gradients[network.output])
    spreads = _spreads(network, states)
    found = {}
    for step in network.steps:
        state, gradient = states[step.name], gradients.get(step.name)
        if getattr(step, "tokens", False):
            unknown = float("nan")
            found[step.name] = Predicted(unknown, unknown, unknown, unknown, unknown, "theory")
            continue
        size = float("nan") if gradient is None else _size(gradient) / total
        moment_spread = state.spread
        found[step.name] = Predicted(
            state.moment, state.correlation, size,
            float("nan") if moment_spread is None else float(np.log1p(moment_spread)),
            spreads.get(step.name, float("nan")), state.how,
        )  # fmt: skip
    return found, lost


def _size(gradient: Any) -> float:
    return float(averaged(gradient).sum())


def _gradients(network: Network, states: Mapping[str, State]) -> dict[str, Any]:
    """Squared gradients summed over features, from a white gradient at the output back."""
    output = states[network.output]
    gradients = {network.output: np.full(output.places, float(output.features))}
    for step in reversed(network.steps):
        if step.name not in gradients or not step.inputs:
            continue
        inputs = [states[name] for name in step.inputs]
        for name, part in zip(step.inputs, _back(step, inputs, gradients[step.name]), strict=True):
            gradients[name] = part if name not in gradients else _added(gradients[name], part)
    return gradients


def _back(step: Step, inputs: Sequence[State], gradient: Any) -> list[Any]:
    try:
        return step.back(inputs, gradient)
    except EocError:
        return [np.full(state.places, np.nan) for state in inputs]


def _added(first: Any, second: Any) -> Any:
    return first + second


def _spreads(network: Network, states: Mapping[str, State]) -> dict[str, float]:
    """Variance of the logarithm of a squared gradient along a chain; NaN where the chain branches."""
    last = states[network.output]
    spreads = {network.output: 2 / last.features if not last.positions else float("nan")}
    for step in reversed(network.steps):
        if step.name not in spreads:
            continue
        own = step.spread([states[name] for name in step.inputs]) if step.inputs else 0.0
        for name in step.inputs:
            branches = name in spreads or len(step.inputs) > 1
            spreads[name] = float("nan") if branches else spreads[step.name] + own
    return spreads
