"""Weights of a torch model drawn so that signals and gradients stay alive at any depth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from verify.models.plan import Advice, Plan, plan
from verify.reading import Network, Unread, read
from verify.stream import stream

__all__ = ["Change", "Changes", "draw_", "initialise_", "planned"]


STREAM = int.from_bytes(b"init", "big")
"""Of the random numbers of weights; index 0 initialises, 1 diagnoses."""


@dataclass(frozen=True)
class Change:
    """One layer: sigma_w and sigma_b before and after, and why."""

    layer: str
    weight: str
    before: tuple[float, float]
    after: tuple[float, float]
    reason: str


@dataclass(frozen=True)
class Changes:
    """What `initialise_` did.

    changes  one for each layer with weights
    points   the operating points it aimed at, with their reasons
    unread   what was not read; layers behind it were set from measured moments
    """

    changes: tuple[Change, ...]
    points: tuple[Any, ...]
    unread: tuple[Unread, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        lines = [
            f"{c.weight}: sigma_w {c.before[0]:.4g} -> {c.after[0]:.4g}, sigma_b {c.before[1]:.4g} -> "
            f"{c.after[1]:.4g} ({c.reason})"
            for c in self.changes
        ]
        lines += [f"{p.formula}: q = {p.q:.4g}, {p.reason}" for p in self.points]
        lines += [f"not read: {u}" for u in self.unread]
        return "\n".join([*lines, *self.notes])


def initialise_(model: Any, batch: Any, seed: int = 0) -> Changes:
    """Draw the weights of every layer that is read from N(0, sigma_w^2/fan_in), biases from N(0, sigma_b^2), in place.

    The numbers are those of `verify.models.plan`: stable operating points on the edge of chaos, the first layer scaled
    to the batch, residual branches to their share of the stream. Norms, embeddings and what is not read keep their
    parameters. Returns what changed. Raises EocError for a model that cannot be traced.
    """

    network, made = planned(model, batch)
    # a stream of its own: a batch drawn with the same seed has none of its numbers
    generator = stream(seed, STREAM, 0)
    draw_(model, made.advice, generator)
    if network.unread:
        made = planned(model, batch)[1]
        draw_(model, made.advice, generator)
    before = {step.name: (step.sigma_w, step.sigma_b) for step in network.layers}
    changes = tuple(Change(a.layer, a.weight, before[a.layer], (a.sigma_w, a.sigma_b), a.reason) for a in made.advice)
    return Changes(changes, made.points, network.unread, made.notes + network.notes)


def planned(model: Any, batch: Any) -> tuple[Network, Plan]:
    """The model as read, and the plan for it."""
    from verify.models.measure import values_of
    from verify.models.predict import tracked

    network = read(model, batch)
    few = tracked(network, batch)
    network = network if len(few) == len(batch) else read(model, few)
    return network, plan(network, values_of(network, model, few))


def draw_(model: Any, advice: tuple[Advice, ...], generator: Any) -> None:
    """Fresh Gaussian weights and biases; a bias with sigma_b = 0 is set to 0."""
    import torch

    with torch.no_grad():
        for layer in advice:
            _normal(model.get_parameter(layer.weight), layer.sigma_w / layer.fan_in**0.5, generator)
            if layer.bias:
                _normal(model.get_parameter(layer.bias), layer.sigma_b, generator)


def _normal(tensor: Any, std: float, generator: Any) -> None:
    import torch

    tensor.copy_(std * torch.randn(tensor.shape, generator=generator, dtype=tensor.dtype))
