"""Blocks at work on wide arrays: moments, kernels and gradients, turn after turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from derive.layers.nested import act
from verify.blocks.subject import BlockSubject
from verify.checking import Sampled
from verify.sampling import Draw

if TYPE_CHECKING:
    import torch

POINTS = 1 << 12
"""Groups of units of the narrower of two widths; the other is twice as wide."""
WIDTH, NETWORKS = 256, 2
"""Of networks whose weights are all drawn."""
DOMINANT, MANY = 0.2, 1000
"""One of at least so many units with more than this share of a second moment: averages over units say nothing."""


@dataclass(frozen=True)
class Seen:
    """Averages over the units of one network after a turn, all of them tensors without axes.

    mean, first, second, cross  of the block's output y: E y1, E y1^2, E y2^2, E y1 y2
    variances, covariance       of what enters the next turn: sigma_w^2 E y^2 + sigma_b^2, or E y^2 on a stream
    gain                        |dy1/dx . g|^2/|g|^2 times sigma_w^2, back to the beginning
    slope                       derivative of the first variance in the variance of the first input
    """

    mean: torch.Tensor
    first: torch.Tensor
    second: torch.Tensor
    cross: torch.Tensor
    variances: tuple[torch.Tensor, torch.Tensor]
    covariance: torch.Tensor
    gain: torch.Tensor
    slope: torch.Tensor


Observe = Callable[[list[Seen], Mapping[str, Any]], Any]


def turns(
    subject: BlockSubject, values: Mapping[str, Any], units: Any, width: int, count: int = 1, gradients: bool = False
) -> tuple[list[Seen], str]:
    """A network of that width for `count` turns of the block, and why its averages cannot be trusted (or "").

    values   q (one input) or q1, q2, c; sigma_w, sigma_b
    """
    import torch

    x = start = _start(values, units, width).requires_grad_()
    finite, number = subject.finite(units, width, values), lambda expr: subject.value(expr, values)
    w, b = (number(s) for s in subject.last.symbols) if subject.last is not None else (1.0, 0.0)
    found, warning = [], ""
    with torch.enable_grad():
        for turn in range(count):
            y = act(subject.body, x, finite)
            warning = warning or _tail(y.detach())
            found.append(_seen(y, start, (w, b, _variances(values)[0]), units, gradients and not subject.jumps))
            if turn < count - 1:
                x = y if subject.last is None else subject.last.apply(y, finite)
    return found, warning


def _start(values: Mapping[str, Any], units: Any, width: int) -> torch.Tensor:
    import torch

    q1, q2 = _variances(values)
    c = float(values.get("c", 0.5))
    noise = units.normal((2, width))
    other = c * noise[0] + ((1 - c) * (1 + c)) ** 0.5 * noise[1]
    return torch.stack([noise[0] * q1**0.5, other * q2**0.5])


def _variances(values: Mapping[str, Any]) -> tuple[float, float]:
    return (float(values["q"]),) * 2 if "q" in values else (float(values["q1"]), float(values["q2"]))


def _seen(y: Any, start: Any, numbers: tuple[float, float, float], units: Any, gradients: bool) -> Seen:
    """numbers: sigma_w, sigma_b of the last layer and the variance of the first input."""
    import torch

    w, b, q = numbers
    first, second, cross = (y[0] ** 2).mean(), (y[1] ** 2).mean(), (y[0] * y[1]).mean()
    variance = w**2 * first + b**2
    gain = slope = torch.full((), float("nan"), dtype=y.dtype, device=y.device)
    if gradients:
        probe = units.signs(1, y.shape[1])[0]
        (back,) = torch.autograd.grad(y[0] @ probe, start, retain_graph=True)
        gain = w**2 * (back[0] @ back[0]) / y.shape[1]
        (pull,) = torch.autograd.grad(variance, start, retain_graph=True)
        slope = (pull[0] @ start[0]) / (2 * q)
    parts: Any = (y[0].mean(), first, second, cross, (variance, w**2 * second + b**2), w**2 * cross + b**2, gain, slope)
    detached: Any = [(p[0].detach(), p[1].detach()) if isinstance(p, tuple) else p.detach() for p in parts]
    return Seen(*detached)


def _tail(y: torch.Tensor) -> str:
    import torch

    if not torch.isfinite(y).all():
        return "a function overflows or is undefined at a sampled point"
    squares = y[0] ** 2
    heavy = len(squares) >= MANY and bool(squares.max() > DOMINANT * squares.sum())
    return "heavy tail: one unit holds most of a second moment" if heavy else ""


def layers(
    subject: BlockSubject,
    points: Sequence[Mapping[str, Any]],
    observe: Observe,
    *,
    count: int = 1,
    linear: bool = True,
    gradients: bool = False,
) -> Sampled:
    """The layers of the block acting on units that are spread evenly.

    A network of width n has mean a + b/n + O(1/n^2); 2 E_{2n} - E_n removes b. Where every output depends on a few
    units and the observed number is an average over them, b is 0 and one width is used.
    observe    (what was seen after each turn, point) -> one number, or one a turn
    gradients  whether it looks at gains or slopes
    """
    exact = linear and count == 1 and subject.local
    slots = subject.group * (2 if subject.halves else 1)
    narrow = subject.width((POINTS if subject.spread else POINTS // 4) * slots)

    def draw(streams: Sequence[Any]) -> Draw:
        return _extrapolated(
            subject, points, observe, streams, (count, gradients), narrow, exact, 1, spread=subject.spread
        )

    return Sampled("layers", draw)


def networks(
    subject: BlockSubject,
    points: Sequence[Mapping[str, Any]],
    observe: Observe,
    *,
    count: int = 1,
    gradients: bool = False,
) -> Sampled:
    """Networks of independent units with all their weights drawn, at two widths, extrapolated."""
    narrow = subject.width(WIDTH)

    def draw(streams: Sequence[Any]) -> Draw:
        return _extrapolated(
            subject, points, observe, streams, (count, gradients), narrow, False, NETWORKS, spread=False, implicit=False
        )

    return Sampled("networks", draw, costly=True)


def _extrapolated(
    subject: BlockSubject,
    points: Sequence[Mapping[str, Any]],
    observe: Observe,
    streams: Sequence[Any],
    run: tuple[int, bool],
    narrow: int,
    exact: bool,
    repeats: int,
    **how: Any,
) -> Draw:
    import torch

    from verify.blocks.units import Units

    rows, corrections, warning = [], [], ""
    widths = (2 * narrow,) if exact else (narrow, 2 * narrow)
    for stream in streams:
        means = []
        for width in widths:
            row = []
            for values in points:
                numbers = []
                for _ in range(repeats):
                    units = Units(stream, subject.group, subject.halves, **how)
                    seen, doubt = turns(subject, values, units, width, *run)
                    warning = warning or doubt
                    numbers.append(torch.as_tensor(observe(seen, values), dtype=torch.float64).reshape(-1))
                row.append(torch.stack(numbers).mean(0))
            means.append(torch.cat(row))
        rows.append(means[0] if exact else 2 * means[1] - means[0])
        corrections.append(torch.zeros_like(rows[-1]) if exact else means[1] - means[0])
    return Draw(torch.stack(rows), sum(widths) * repeats, warning, torch.stack(corrections))
