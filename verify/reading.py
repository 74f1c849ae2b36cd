"""A torch model as the layers of the theory, with the sigma_w and sigma_b that its weights have now."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from verify.models.step import Step

if TYPE_CHECKING:
    from verify.models.trace import Traced


@dataclass(frozen=True)
class Unread:
    """What the theory does not pass: the module, torch's operation, and why."""

    module: str
    operation: str
    reason: str

    def __str__(self) -> str:
        return f"{self.module or 'the model'}: {self.operation}: {self.reason}"


@dataclass(frozen=True)
class Network:
    """A model as read.

    steps   what happens to the signal, in order; `Linear` and `Conv` have sigma_w and sigma_b as measured
    output  name of the step that is returned
    unread  what the theory does not pass; behind it predictions start again from measured moments
    notes   what was assumed
    how     how the model was traced
    """

    steps: tuple[Step, ...]
    output: str
    unread: tuple[Unread, ...]
    notes: tuple[str, ...]
    how: str
    traced: Traced = field(repr=False, compare=False)

    @property
    def layers(self) -> tuple[Any, ...]:
        """The steps with weights."""
        return tuple(step for step in self.steps if hasattr(step, "sigma_w"))

    def step(self, name: str) -> Step:
        """The step of a name."""
        return next(step for step in self.steps if step.name == name)


def read(model: Any, batch: Any) -> Network:
    """Trace `model(batch)` and read it as layers of the theory.

    model  a torch.nn.Module; its mode (training or evaluation) is taken as it is
    batch  a tensor of two inputs or more, along its first axis

    Activations are recognised operation by operation, whatever module or function they come from. What is not read is
    listed in `.unread` by module, operation and reason. Raises EocError for a model that cannot be traced.
    """
    import torch

    from verify.models.reader import Reader
    from verify.models.trace import returned, run, trace

    traced = trace(model, batch)
    with torch.no_grad():
        values = run(traced, model, batch)
    reader = Reader(traced, model, values)
    reader.read()
    last = next(node for node in traced.nodes if node.name == returned(traced))
    output = reader.settled(last)
    return Network(tuple(reader.steps.values()), output, tuple(reader.unread), _notes(reader), traced.how, traced)


OFFSET = 6.0
"""A mean of the weights this many times what chance would make it is said."""


def _notes(reader: Any) -> tuple[str, ...]:
    notes = list(reader.notes)
    seen: dict[str, str] = {}
    for step in reader.steps.values():
        weight = getattr(step, "weight", "")
        if weight and weight in seen:
            notes.append(f"{weight} is used by {seen[weight]} and {step.name}: tied weights are taken as independent")
        if weight or getattr(step, "table", ""):
            seen[weight or step.table] = step.name
        if getattr(step, "offset", 0.0) > OFFSET:
            notes.append(f"{weight} is not centred: its mean is {step.offset:.0f} times what chance would make it")
        if getattr(step, "groups", 1) > 1 and step.fan_in < 32:
            notes.append(f"{weight}: {step.fan_in:.0f} inputs an output; a depthwise convolution is not Gaussian")
        if weight and step.fan_in < 3:
            notes.append(f"{weight}: {step.fan_in:.0f} inputs an output; what leaves it is not Gaussian")
    return tuple(dict.fromkeys(notes))
