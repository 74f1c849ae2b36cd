"""How an initial bias is absorbed: deep networks from several initialisations, trained side by side on one data set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from derive.records import EocError
from verify.stream import normals

if TYPE_CHECKING:
    import torch

FACTORS = (("ordered", 0.8), ("edge of chaos", 1.0), ("prejudiced", 1.25), ("neutral", 2.5))
"""sigma_w^2 over its value on the edge of chaos; for tanh with sigma_b^2 = 0.1 these are the four phases (Bassi et al.
2026, arXiv 2505.12096, figure 3)."""


@dataclass(frozen=True)
class Start:
    """An initialisation: its standard deviations and what theory says of it.

    phase   the phase in the limit of depth
    gamma   drift ratio of the outputs at this depth, from centred uncorrelated inputs
    chi     gradient gain of a layer where the variance settles
    """

    name: str
    sigma_w: float
    sigma_b: float
    phase: str
    gamma: float
    chi: float


def starts(theory: Any, depth: int, sigma_b: float, factors: Sequence[tuple[str, float]] = FACTORS) -> list[Start]:
    """Initialisations at multiples of the edge of chaos's sigma_w^2, with the theory of each."""
    edge = float(theory.edge_of_chaos(sigma_b=sigma_b).sigma_w)
    found = []
    for name, factor in factors:
        w = edge * factor**0.5
        point, drift = theory.guessing_bias.at(w, sigma_b), theory.guessing_bias.depth(depth, w, sigma_b)
        found.append(Start(name, w, sigma_b, point.name, float(drift.gamma[-1]), point.chi))
    return found


@dataclass(frozen=True, eq=False)
class Run:
    """Networks of one initialisation during training; arrays (networks, times) unless said otherwise.

    steps      (times,) the steps at which the held-out inputs were looked at; 0 is before training
    largest    share of them that the most predicted class gets
    accuracy   share of them that are classified rightly; `by_class` (networks, times, classes) within each class
    loss       their mean cross-entropy
    """

    start: Start
    steps: np.ndarray
    largest: np.ndarray
    accuracy: np.ndarray
    by_class: np.ndarray
    loss: np.ndarray

    def absorbed(self, fair: float) -> float:
        """The first step looked at where the mean excess of the largest share over `fair` has halved; inf if never."""
        excess = self.largest.mean(0) - fair
        below = np.flatnonzero(excess <= excess[0] / 2)
        return float(self.steps[below[0]]) if len(below) else float("inf")

    def reached(self, accuracy: float) -> float:
        """The first step looked at where the mean accuracy is above this; inf if never."""
        above = np.flatnonzero(self.accuracy.mean(0) > accuracy)
        return float(self.steps[above[0]]) if len(above) else float("inf")


@dataclass(frozen=True, eq=False)
class Absorption:
    """Runs from several initialisations on one data set.

    fair   share of the most frequent label
    """

    runs: tuple[Run, ...]
    depth: int
    width: int
    classes: int
    fair: float

    def __str__(self) -> str:
        networks = self.runs[0].largest.shape[0]
        rows = [
            f"{self.depth} layers of {self.width} units, {networks} networks each, {self.classes} classes",
            f"{'initialisation':14} {'gamma':>9} {'chi':>6} {'largest':>8} {'halved':>7} {'twice chance':>12} "
            f"{'accuracy':>8} {'worst class':>11}  phase",
        ]
        for run in self.runs:
            s, chance = run.start, 1 / self.classes
            rows.append(
                f"{s.name:14} {s.gamma:9.3g} {s.chi:6.3f} {run.largest[:, 0].mean():8.3f} "
                f"{run.absorbed(self.fair):7.0f} {run.reached(2 * chance):12.0f} {run.accuracy[:, -1].mean():8.3f} "
                f"{run.by_class[:, -1].min(-1).mean():11.3f}  {s.phase}"
            )
        return "\n".join(rows)

    def plot(self, path: Any = None) -> Any:
        """The largest class share and the accuracy during training, and the accuracy of each class at its end."""
        from verify.guessing.pictures import absorption_figure

        return absorption_figure(self, path)


def absorb(
    phi: Callable[[torch.Tensor], torch.Tensor],
    begin: Sequence[Start],
    data: tuple[torch.Tensor, torch.Tensor],
    *,
    depth: int,
    width: int,
    steps: int,
    rate: float,
    networks: int = 1,
    batch: int = 100,
    held_out: float = 0.25,
    optimiser: str = "adam",
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Absorption:
    """Train multilayer perceptrons of `depth` linear layers from each initialisation, all on the same batches.

    phi        the activation on tensors
    begin      initialisations; weights are N(0, sigma_w^2/fan_in), biases N(0, sigma_b^2)
    data       (inputs, labels); the last share `held_out` of them is only looked at
    optimiser  "adam" or "sgd", with learning rate `rate`

    All networks are one stack of matrices: they share nothing but the batches. Kind: MEASUREMENT, in float32.
    """
    import torch
    from torch.nn.functional import cross_entropy

    x, y = data
    if x.ndim != 2 or len(x) != len(y) or depth < 2:
        raise EocError("inputs are no matrix with one label a row, or there is no hidden layer")
    classes, kept = int(y.max()) + 1, len(x) - int(held_out * len(x))
    generator = torch.Generator().manual_seed(seed)
    layers = _drawn(begin, networks, [x.shape[1], *[width] * (depth - 1), classes], generator)
    kinds: dict[str, Any] = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}
    stepper = kinds[optimiser]([p for pair in layers for p in pair], lr=rate)
    count = len(begin) * networks
    marks = sorted({int(v) for v in np.geomspace(1, steps, 25)} | {0, steps})
    seen = []
    for step in range(steps + 1):
        if step in marks:
            with torch.no_grad():
                seen.append(_looked(_forward(phi, layers, x[kept:]), y[kept:]))
            if progress is not None:
                progress(step, steps)
        if step == steps:
            break
        chosen = torch.randint(0, kept, (batch,), generator=generator)
        scores = _forward(phi, layers, x[chosen])
        # a sum over networks: each has the gradient of its own mean
        loss = cross_entropy(scores.flatten(0, 1), y[chosen].repeat(count), reduction="sum") / batch
        stepper.zero_grad()
        loss.backward()
        stepper.step()
    columns = [np.stack(column, 1) for column in zip(*seen, strict=True)]
    parts = [[c[i * networks : (i + 1) * networks] for c in columns] for i in range(len(begin))]
    runs = tuple(Run(start, np.array(marks), *part) for start, part in zip(begin, parts, strict=True))
    fair = float(torch.bincount(y[kept:]).max() / len(y[kept:]))
    return Absorption(runs, depth, width, classes, fair)


def _drawn(begin: Sequence[Start], networks: int, sizes: list[int], generator: torch.Generator) -> list[Any]:
    import torch

    w, b = (
        torch.tensor([getattr(s, name) for s in begin for _ in range(networks)])[:, None, None]
        for name in ("sigma_w", "sigma_b")
    )
    layers = []
    for inside, outside in pairwise(sizes):
        # the same draw for every initialisation: they differ in scale alone
        one, shift = (normals((networks, k, outside), generator, torch.float32) for k in (inside, 1))
        every = [a.repeat(len(begin), 1, 1) for a in (one, shift)]
        layers.append(((every[0] * w / inside**0.5).requires_grad_(), (every[1] * b).requires_grad_()))
    return layers


def _forward(phi: Callable[[torch.Tensor], torch.Tensor], layers: list[Any], x: torch.Tensor) -> torch.Tensor:
    """(networks, inputs, classes)."""
    import torch

    h = x.expand(len(layers[0][0]), *x.shape)
    for index, (weight, bias) in enumerate(layers):
        h = torch.baddbmm(bias, phi(h) if index else h, weight)
    return h


def _looked(scores: torch.Tensor, y: torch.Tensor) -> tuple[np.ndarray, ...]:
    """(largest share, accuracy, accuracy by class, loss) of each network."""
    import torch
    from torch.nn.functional import cross_entropy, one_hot

    guess, classes = scores.argmax(-1), scores.shape[-1]
    right, labels = (guess == y).double(), one_hot(y, classes).double()
    loss = torch.stack([cross_entropy(s, y) for s in scores])
    shares = one_hot(guess, classes).double().mean(1)
    found = (shares.amax(1), right.mean(1), right @ labels / labels.sum(0), loss)
    return tuple(a.numpy() for a in found)


__all__ = ["FACTORS", "Absorption", "Run", "Start", "absorb", "starts"]
