"""Claims about one layer: builders shared by the checks of the maps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from derive.records import Unsupported
from verify.checking import Claim, Exact, Point, Sampled
from verify.sampling import Draw, line_means, plane_means
from verify.subject import Subject
from verify.tested import Tested

if TYPE_CHECKING:
    import torch

Values = Mapping[str, Any]


def drawn(rng: np.random.Generator, low: float, high: float) -> Fraction:
    """A two-digit number between low and high, uniform in the logarithm."""
    return Fraction(round(float(np.exp(rng.uniform(np.log(low), np.log(high)))), 2)).limit_denominator(1000)


def sigmas(rng: np.random.Generator) -> dict[str, Fraction]:
    """Drawn values of sigma_w and sigma_b."""
    return {"sigma_w": drawn(rng, 0.6, 2.0), "sigma_b": drawn(rng, 0.05, 0.6)}


def scale_of(predicted: float, natural: float) -> float:
    """Errors are relative to the prediction, or to the natural size of the quantity where that is 20 times larger."""
    natural = natural if np.isfinite(natural) else 1.0
    size = abs(predicted) if np.isfinite(predicted) else natural
    return max(size, natural / 20) or 1.0


def points_of(
    subject: Tested, result: Any, values: Sequence[Values], natural: Callable[[Values], float]
) -> tuple[Point, ...]:
    """The claimed numbers of a Result at some points."""
    points = []
    for value in values:
        predicted = subject.number(result, **value)
        points.append(Point(tuple(value.items()), predicted, scale_of(float(predicted.mid), natural(value))))
    return tuple(points)


def answered(subject: Any, result: Any, values: Sequence[Values]) -> tuple[list[Values], str]:
    """The points at which the result has a number, and what was left out; raises where it has none at all."""
    kept: list[Values] = []
    reasons: list[Unsupported] = []
    for value in values:
        try:
            subject.number(result, **value)
            kept.append(value)
        except Unsupported as error:
            reasons.append(error)
    if reasons and not kept:
        raise reasons[0]
    return kept, f"{len(reasons)} points left out: {reasons[0].what}" if reasons else ""


def claim(
    result: Any,
    attribute: str,
    title: str,
    points: tuple[Point, ...],
    witnesses: Sequence[Exact | Sampled],
    **more: Any,
) -> Claim:
    """A claim about a Result."""
    latex = result.symbol or title
    return Claim(attribute, title, latex, str(result.kind), points, tuple(witnesses), **more)


def line_sampling(
    subject: Subject,
    points: Sequence[Point],
    integrand: Callable[..., Any],
    finish: Callable[[torch.Tensor, Values], torch.Tensor] = lambda mean, value: mean,
    weight: bool = False,
) -> Sampled:
    """Sampling of E f(sqrt(q) Z) at each point, then `finish(mean, point)`.

    weight   the integrand also takes q: f(x, q)
    """
    values = [dict(p.values) for p in points]

    def at(q: float):
        return (lambda x: integrand(x, q)) if weight else integrand

    def draw(streams: Sequence[Any]) -> Draw:
        import torch

        variances = [float(v["q"]) for v in values]
        means = line_means([at(q) for q in variances], variances, streams, subject.dtype)
        columns = [finish(column, value) for column, value in zip(means.values.T, values, strict=True)]
        return Draw(torch.stack(columns, 1), means.draws, means.warning)

    return Sampled("sampling", draw)


def plane_sampling(
    subject: Subject,
    points: Sequence[Point],
    integrands: Sequence[Callable[[torch.Tensor, torch.Tensor], torch.Tensor]],
    finish: Callable[[Sequence[torch.Tensor], Values], torch.Tensor],
) -> Sampled:
    """Sampling of several E f(u, v) at each point (q1, q2, c), combined by `finish(means, point)`."""
    values = [dict(p.values) for p in points]
    laws = [(float(v["q1"]), float(v["q2"]), float(v["c"])) for v in values]

    def draw(streams: Sequence[Any]) -> Draw:
        import torch

        columns, warning, draws = [], "", 0
        for value, law in zip(values, laws, strict=True):
            means = plane_means(integrands, [law] * len(integrands), streams, subject.dtype)
            columns.append(finish(list(means.values.T), value))
            warning, draws = warning or means.warning, means.draws
        return Draw(torch.stack(columns, 1), draws, warning)

    return Sampled("sampling", draw)
