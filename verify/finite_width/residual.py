"""Deep residual networks drawn without weights, on one input: evidence for the mean square of the stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from verify.finite_width import BATCHES, FiniteReport, Row
from verify.finite_width.estimates import richardson
from verify.finite_width.tables import Function
from verify.judge import judge
from verify.stream import normals, stream

if TYPE_CHECKING:
    import torch

BLOCK = 1 << 15


def residual_streams(
    phi: Function, q0: float, n: int, limits: Sequence[tuple[float, float]], a: float, b: float, weight: float,
    bias: float, networks: int, generator: torch.Generator,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """(mean squares G (blocks + 1, networks), branch kernels less their control (blocks, networks)).

    Given the stream a block adds i.i.d. N(0, b^2 Q^), Q^ = sigma_b^2 + sigma_w^2 mean phi(x)^2: no weights are drawn.
    Walkers that take the same normals with the infinite network's variance Q instead have a known law; their mean
    square and their branch kernel, whose means are exact, are taken off.

    limits   (Q, E phi^2) of each block in the infinite network
    """
    import torch

    parts = []
    size = max(1, BLOCK // n)
    for begin in range(0, networks, size):
        count = min(size, networks - begin)
        x = q0**0.5 * normals((count, n), generator, torch.float64)
        walker = x.clone()
        rows, kernels, plain = [(x**2).mean(1)], [], [(walker**2).mean(1)]
        for q, second in limits:
            mean = (phi(x) ** 2).mean(1)
            control = (phi(walker) ** 2).mean(1) - second
            kernels.append(weight * (mean - control) + bias)
            xi = b * normals((count, n), generator, torch.float64)
            x = a * x + (weight * mean + bias).sqrt()[:, None] * xi
            walker = a * walker + q**0.5 * xi
            rows.append((x**2).mean(1))
            plain.append((walker**2).mean(1))
        parts.append((torch.stack(rows), torch.stack(kernels), torch.stack(plain)))
    joined = [torch.cat([p[i] for p in parts], 1).numpy() for i in range(3)]
    return np.stack([joined[0], joined[2]]), joined[1]


def verify_residual(
    theory: Any, q0: Any, blocks: int, sigma_w: Any, sigma_b: Any = 0, *, at: Sequence[int] = (),
    networks: int = 24_000, widths: Sequence[int] = (32, 64, 128), seed: int = 0, predicted: Any = None,
    **parameters: Any,
) -> FiniteReport:  # fmt: skip
    """Compare V4 and K1 of a stack of residual blocks with networks of several widths, extrapolated in 1/n.

    theory     of one residual block whose branch is an activation and a Dense
    at         after which blocks; by default after the last
    predicted  a `ResidualDepth` to test; by default the theory's own
    """
    from verify.reference import torch_function

    law = theory.finite_width.block_law
    if predicted is None:
        predicted = law.depth(q0, blocks, sigma_w, sigma_b, **parameters)
    values = law._values(sigma_w, sigma_b, parameters)
    from derive.gaussian.numbers import number

    def value(expr: Any) -> float:
        return float(number(expr, values).mid)

    a, b = (value(s) for s in law._scales)
    turn = law.branch.turns[0]
    weight, bias = value(turn.weight), value(turn.bias)
    phi = torch_function(law._residual.inner[0].source.formula, values)
    limits = _limits(phi, float(q0), blocks, a, b, weight, bias, _breaks(turn.phi, values))
    kernel = [float(q0)]
    for q, _ in limits:
        kernel.append(a**2 * kernel[-1] + b**2 * q)
    shift: Any = 0.0
    spread: Any = 0.0
    for i, (n, share) in enumerate(zip(widths, richardson(widths), strict=True)):
        found = []
        for k in range(BATCHES):
            generator = stream(seed, i, k)
            drawn = (phi, float(q0), int(n), limits, a, b, weight, bias, networks // BATCHES, generator)
            both, branch = residual_streams(*drawn)
            found.append(_one_batch(both, branch, kernel, limits, a, b, int(n)))
        shift = shift + share * np.array([f[0] for f in found])
        spread = spread + share * np.array([f[1] for f in found])
    places = tuple(at) or (blocks,)
    rows = []
    for name, measured, want in (("V4", spread, predicted.vertex), ("K1", shift, predicted.correction)):
        for place in places:
            target = float(want[place])
            size = max(abs(target), 1e-2 * kernel[place])
            judged = judge(measured[:, place].tolist(), target, 1e-10 * size, size, 2 * len(places))
            rows.append(Row(name, place, target, judged))
    return FiniteReport(tuple(rows), tuple(widths), networks)


def _one_batch(
    both: np.ndarray, branch: np.ndarray, kernel: Sequence[float], limits: Any, a: float, b: float, n: int
) -> tuple[np.ndarray, np.ndarray]:
    shift, total = [0.0], 0.0
    for i, (q, _) in enumerate(limits):
        total = a**2 * total + b**2 * n * (float(branch[i].mean()) - q)
        shift.append(total)
    g, walker = both
    known = 2 * np.array(kernel) ** 2
    spread = n * (g.var(1, ddof=1) - walker.var(1, ddof=1)) + known
    return np.array(shift), spread


def _limits(
    phi: Function, q0: float, blocks: int, a: float, b: float, weight: float, bias: float, breaks: Sequence[float]
) -> list[tuple[float, float]]:
    from verify.finite_width.tables import OneLayer

    layer, q, found = OneLayer(phi, None, breaks), q0, []
    for _ in range(blocks):
        second = float(layer.at(np.array([q]))[0, 0])
        found.append((weight * second + bias, second))
        q = a**2 * q + b**2 * found[-1][0]
    return found


def _breaks(phi: Any, values: Any) -> tuple[float, ...]:
    import flint

    from derive.activation.pieces import piece_function

    with flint.ctx.workprec(64):
        found = piece_function(phi, {s.name: values[s.name] for s in phi.free_symbols if s.name in values})
        return tuple(float(b.mid()) for b in found.breaks)


__all__ = ["residual_streams", "verify_residual"]
