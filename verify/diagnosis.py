"""Predicted against measured curves along a torch model, and what to change."""

from __future__ import annotations

import copy
import json
from dataclasses import asdict, dataclass
from typing import Any

from derive.records import EocError
from verify.initialise import STREAM, draw_, planned
from verify.models.plan import Advice, Plan
from verify.models.predict import Point, Predicted
from verify.reading import Network
from verify.stream import stream

__all__ = ["Diagnosis", "Row", "diagnose"]


@dataclass(frozen=True)
class Row:
    """One step: what it is, what the theory says and what was measured."""

    name: str
    module: str
    label: str
    sigma_w: float | None
    sigma_b: float | None
    predicted: Predicted
    measured: Point


@dataclass(frozen=True)
class Diagnosis:
    """The curves of a model; `plan` is what to change, `lost` where a prediction starts again from the measured."""

    rows: tuple[Row, ...]
    networks: int
    network: Network
    plan: Plan
    lost: tuple[tuple[str, str], ...]

    @property
    def table(self) -> Any:
        """A rich table."""
        from verify.models.show import table

        return table(self)

    def plot(self, path: str) -> None:
        """Second moment, correlation and squared gradient against the step, measured and predicted with its band."""
        from verify.models.show import plot

        plot(self, path)

    def to_json(self) -> str:
        """Everything as JSON, without NaN."""
        rows = [{**asdict(row), "name": row.name} for row in self.rows]
        advice = [asdict(a) for a in self.plan.advice]
        points = [asdict(p) for p in self.plan.points]
        unread = [asdict(u) for u in self.network.unread]
        document = {"schema": 1, "how": self.network.how, "networks": self.networks, "rows": rows, "advice": advice,
                    "operating_points": points, "unread": unread, "lost": dict(self.lost),
                    "notes": [*self.network.notes, *self.plan.notes]}  # fmt: skip
        return json.dumps(_plain(document), ensure_ascii=False, indent=1)


def diagnose(model: Any, batch: Any, networks: int = 1, seed: int = 0) -> Diagnosis:
    """Predict second moment, correlation of two inputs and squared gradients at every step, and measure them.

    networks  1: the model as it is. More: means over copies with fresh Gaussian weights of the model's own sigma_w and
              sigma_b, which the theory's mean is about; one network fluctuates by about the band that is given
    seed      of fresh weights and of the white gradient at the output

    Squared gradients are in units of that at the output. Raises EocError for a model that cannot be traced.
    """

    from verify.models.measure import mean, measure, values_of
    from verify.models.predict import predict, tracked

    if networks < 1:
        raise EocError(f"networks = {networks}", instead="networks=1")
    network, made = planned(model, batch)
    few = tracked(network, batch)
    predicted, lost = predict(network, values_of(network, model, few))
    generator, measured = stream(seed, STREAM, 1), []
    for _ in range(networks):
        subject = model
        if networks > 1:
            subject = copy.deepcopy(model)
            draw_(subject, _as_they_are(network), generator)
        measured.append(measure(network, subject, few, generator))
    average = mean(measured)
    rows = tuple(
        Row(s.name, s.module, s.label, getattr(s, "sigma_w", None), getattr(s, "sigma_b", None), predicted[s.name],
            average[s.name])
        for s in network.steps
    )  # fmt: skip
    return Diagnosis(rows, networks, network, made, tuple(lost.items()))


def _as_they_are(network: Network) -> tuple[Advice, ...]:
    return tuple(Advice(s.name, s.weight, s.bias, s.fan_in, s.sigma_w, s.sigma_b, "as it is") for s in network.layers)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(v) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, float) and value - value != 0:
        return None
    return value
