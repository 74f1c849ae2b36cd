"""A residual block drawn with its rows, given the Gram matrix of its stream: evidence for drift, shift and noise."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import numpy as np

from verify.finite_width import BATCHES, FiniteReport, Row
from verify.finite_width.estimates import richardson
from verify.judge import judge
from verify.stream import normals, stream

if TYPE_CHECKING:
    import torch

Turns = Sequence[tuple[Any, float, float]]


def streams(gram: torch.Tensor, n: int, networks: int, generator: torch.Generator) -> torch.Tensor:
    """Rows (networks, n, P), uniform among those with x^T x/n = gram: Gaussian rows made to have it exactly."""
    import torch

    z = normals((networks, n, len(gram)), generator, torch.float64)
    root = torch.linalg.cholesky(z.mT @ z / n)
    white = z @ torch.linalg.inv(root).mT
    return white @ torch.linalg.cholesky(gram).T


def turned(
    x: torch.Tensor, entry: tuple[float, float] | None, turns: Turns, shortcut: float, scale: float, ratio: float,
    generator: torch.Generator,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """(E[S' | stream and branch up to its last Dense], S') of one block on streams, by the law of fresh weights."""
    n = x.shape[1]
    rows, gram, inside = x, x.mT @ x / n, n
    if entry is not None:
        inside = round(n / ratio)
        rows = _rows(entry[0] * gram + entry[1], inside, generator)
    kernel = gram
    for i, (phi, weight, bias) in enumerate(turns):
        if i:
            rows = _rows(kernel, inside, generator)
        y = phi(rows)
        kernel = weight / inside * (y.mT @ y) + bias
    out = shortcut * x + scale * _rows(kernel, n, generator)
    return shortcut**2 * gram + scale**2 * kernel, out.mT @ out / n


def _rows(kernel: torch.Tensor, n: int, generator: torch.Generator) -> torch.Tensor:
    import torch

    z = normals((len(kernel), n, kernel.shape[-1]), generator, torch.float64)
    return z @ torch.linalg.cholesky(kernel).mT


def verify_block(
    theory: Any, gram: Any, sigma_w: Any, sigma_b: Any = 0, *, widths: Sequence[int] = (32, 64), networks: int = 48_000,
    seed: int = 0, predicted: Any = None, ratio: int = 1, **parameters: Any,
) -> FiniteReport:  # fmt: skip
    """Compare drift, shift and noise of a residual block with blocks of several widths, extrapolated in 1/n.

    predicted  a `BlockNumbers` to test; by default the theory's own. The shift is measured with n times the drift
               taken off, so that a wrong drift fails there.
    """
    import torch

    from derive.gaussian.numbers import number
    from derive.surface.exact import deviation
    from verify.reference import torch_function

    law = theory.finite_width.block_law
    values = {
        **theory._values(parameters),
        "sigma_w": deviation(sigma_w, "sigma_w"),
        "sigma_b": deviation(sigma_b, "b"),
    }
    if predicted is None:
        predicted = law.at(gram, sigma_w, sigma_b, ratio=ratio, **parameters)

    def value(expr: Any) -> float:
        return float(number(expr, values).mid)

    stages = [stage for stage in law._residual.inner if hasattr(stage, "dphi")]
    turns = [
        (torch_function(stage.source.formula, values), value(turn.weight), value(turn.bias))
        for stage, turn in zip(stages, law.branch.turns, strict=True)
    ]
    entry = None if law.branch.entry is None else (value(law.branch.entry[0]), value(law.branch.entry[1]))
    shortcut, scale = (value(s) for s in law._scales)
    given = torch.tensor(np.array(gram, float))
    shift: Any = 0.0
    noise: Any = 0.0
    for i, (n, share) in enumerate(zip(widths, richardson(widths), strict=True)):
        parts = []
        for k in range(BATCHES):
            generator = stream(seed, i, k)
            x = streams(given, int(n), networks // BATCHES, generator)
            mean, out = (t.numpy() for t in turned(x, entry, turns, shortcut, scale, ratio, generator))
            flat = out.reshape(len(out), -1)
            parts.append((n * (mean.mean(0) - given.numpy() - predicted.drift), n * np.cov(flat.T)))
        shift = shift + share * np.array([p[0] for p in parts])
        noise = noise + share * np.array([np.atleast_2d(p[1]) for p in parts])
    return _judged(predicted, shift, noise, len(given), widths, networks)


def _judged(
    predicted: Any, shift: np.ndarray, noise: np.ndarray, count: int, widths: Sequence[int], networks: int
) -> FiniteReport:
    pairs = list(combinations_with_replacement(range(count), 2))
    both = [(p, q) for p, q in combinations_with_replacement(pairs, 2) if len({*p, *q}) < 3]
    rows, asked = [], len(pairs) + len(both)
    size = float(np.abs(predicted.drift).max())
    for p in pairs:
        want = float(predicted.shift[p])
        judged = judge(shift[(slice(None), *p)].tolist(), want, 1e-9 * size * max(widths), max(abs(want), size), asked)
        rows.append(Row(f"shift {p[0]},{p[1]}", 1, want, judged))
    for p, q in both:
        want = float(predicted.noise[(*p, *q)])
        found = noise[:, p[0] * count + p[1], q[0] * count + q[1]].tolist()
        scale = np.sqrt(float(predicted.noise[(*p, *p)]) * float(predicted.noise[(*q, *q)]))
        rows.append(Row(f"noise {','.join(map(str, (*p, *q)))}", 1, want, judge(found, want, 0.0, scale, asked)))
    return FiniteReport(tuple(rows), tuple(widths), networks)


__all__ = ["streams", "turned", "verify_block"]
