"""The same curves measured on the model itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from verify.models.predict import Point
from verify.models.trace import run
from verify.reading import Network


def values_of(network: Network, model: Any, batch: Any) -> dict[str, Any]:
    """The tensor behind every step."""
    import torch

    with torch.no_grad():
        values = run(network.traced, model, batch)
    return {step.name: step.plain(values[step.name]) for step in network.steps}


def measure(network: Network, model: Any, batch: Any, generator: Any) -> dict[str, Point]:
    """One forward and one backward pass from a white gradient at the output; the model is left as it is."""
    import torch

    given = batch.detach().clone()
    given.requires_grad_(given.is_floating_point())
    values = run(network.traced, model, given)
    out = values[network.output]
    white = torch.randn(out.shape, generator=generator, dtype=out.dtype).to(out.device)
    names = [step.name for step in network.steps]
    tensors = [values[name] for name in names]
    reached = [t for t in tensors if t.requires_grad]
    gradients = torch.autograd.grad((out * white).sum(), reached, allow_unused=True)
    grads = {id(t): gradient for t, gradient in zip(reached, gradients, strict=True)}
    whole, found = float((white.double() ** 2).sum()), {}
    for step, tensor in zip(network.steps, tensors, strict=True):
        name = step.name
        if not tensor.is_floating_point():
            found[name] = Point(float("nan"), float("nan"), float("nan"))
            continue
        x, grad = step.plain(tensor.detach()).double(), grads.get(id(tensor))
        first, second = x[0].reshape(-1), x[1].reshape(-1)
        size = float(first.norm() * second.norm())
        gradient = float("nan") if grad is None else float((grad.double() ** 2).sum()) / whole
        correlation = float(first @ second) / size if size > 0 else float("nan")
        found[name] = Point(float((x**2).mean()), correlation, gradient)
    return found


def mean(points: Sequence[dict[str, Point]]) -> dict[str, Point]:
    """Means over networks."""
    count = len(points)
    return {
        name: Point(
            sum(p[name].moment for p in points) / count,
            sum(p[name].correlation for p in points) / count,
            sum(p[name].gradient for p in points) / count,
        )
        for name in points[0]
    }
