"""Random kernels of several inputs, without weights, and estimates of their vertex and mean correction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import numpy as np

from derive.records import EocError
from verify.finite_width import BATCHES, QUADRATURE, FiniteReport, Row, breakpoints
from verify.finite_width.estimates import richardson
from verify.finite_width.mehler import Mehler
from verify.judge import judge
from verify.stream import normals, stream

if TYPE_CHECKING:
    import torch

BLOCK = 1 << 15
PAIRS = ((0, 0), (0, 1), (1, 1))


def kernels(
    phi: Callable[[torch.Tensor], torch.Tensor], start: np.ndarray, widths: Sequence[int], weight: float, bias: float,
    networks: int, generator: torch.Generator,
) -> np.ndarray:  # fmt: skip
    """G (layers, networks, P, P) of independent networks on P inputs, exact in law at every width.

    Given a layer its neurons are i.i.d. N(0, G), so that one Cholesky root of a P x P matrix stands for the weights.
    """
    import torch

    p, parts = len(start), []
    block = max(1, BLOCK // (max(widths) * p))
    for begin in range(0, networks, block):
        count = min(block, networks - begin)
        g = torch.from_numpy(np.broadcast_to(start, (count, p, p)).copy())
        rows = [g]
        for width in widths:
            z = normals((count, width, p), generator, torch.float64) @ torch.linalg.cholesky(g).mT
            x = phi(z)
            g = bias + weight / width * (x.mT @ x)
            rows.append(g)
        parts.append(torch.stack(rows).numpy())
    return np.concatenate(parts, 1)


@dataclass(frozen=True)
class Estimates:
    """One batch of two inputs: n (E G - K), (layers, 3), and n Cov(G, G), (layers, 3, 3), over 00, 01, 11."""

    correction: np.ndarray
    vertex: np.ndarray


def estimate(drawn: np.ndarray, law: Mehler, widths: Sequence[int], weight: float, bias: float) -> Estimates:
    """Mean and covariance of the kernel of two inputs with most of the noise taken out.

    As for one input: xi = G' - E[G'|G] has mean zero given the past at every width, and so has its transport M with
    constant matrices; so has M M^T - P with P = sum A Cov[G'|G] A^T. They remove the first and second order of the
    fluctuations. E[G'|G] and Cov[G'|G] come from Mehler's series of phi, not from the recursions under test.
    """
    flat = drawn.reshape(*drawn.shape[:2], 4)[:, :, [0, 1, 3]]
    layers, count = flat.shape[:2]
    limit = flat[0, 0]
    linear, bent, power = np.zeros((count, 3)), np.zeros((count, 3)), np.zeros((count, 3, 3))
    shift, spread = np.zeros((layers, 3)), np.zeros((layers, 3, 3))
    for i in range(layers - 1):
        n, at = widths[i], limit[[0, 1, 1, 2]].reshape(1, 2, 2)
        here = law.means(drawn[i])
        slope, bend = (weight * x for x in law.slopes(at[0]))
        square = linear[:, :, None] * linear[:, None, :] - power
        bent = bent @ slope.T + np.einsum("pij,kij->kp", bend, square) / 2
        linear = linear @ slope.T + flat[i + 1] - bias - weight * here.mean
        power = slope @ power @ slope.T + weight**2 * here.covariance / n
        limit = bias + weight * law.means(at).mean[0]
        rest = flat[i + 1] - limit - linear
        shift[i + 1] = n * (rest - bent).mean(0)
        mixed = linear.T @ (rest - rest.mean(0)) / count
        spread[i + 1] = n * (power.mean(0) + mixed + mixed.T + np.cov(rest.T))
    return Estimates(shift, spread)


def verify_inputs(
    theory: Any, kernel: Any, sigma_w: Any, sigma_b: Any = 0, *, layers: Sequence[int] = (3, 5),
    widths: Sequence[int] = (64, 128, 256), networks: int = 24_000, seed: int = 0, predicted: Any = None,
    **parameters: Any,
) -> FiniteReport:  # fmt: skip
    """Compare K1 and V of a set of inputs with networks of several widths, extrapolated in 1/n.

    kernel     of layer 1, of two inputs: the law of more is that of every two, for all that K1 needs
    predicted  a `FiniteInputs` to test; by default the theory's own

    Judged by standard errors at a family-wise error of 1e-6 over the report.
    """
    from derive.surface.exact import deviation

    w, b = deviation(sigma_w, "sigma_w"), deviation(sigma_b, "sigma_b")
    start, depth = np.array(kernel, float), max(layers)
    if start.shape != (2, 2):
        raise EocError("networks are compared two inputs at a time", instead="the kernel of each pair: any two rows")
    if predicted is None:
        predicted = theory.finite_width.inputs(kernel, depth, int(widths[0]), w, b, **parameters)
    values = theory._values(parameters)
    shifts, spreads = measured(theory, values, start, (float(w) ** 2, float(b) ** 2), depth, widths, networks, seed)
    asked: list[tuple[str, Any, Any, tuple[int, ...]]] = []
    asked += [("K1", predicted.correction, shifts[..., i], p) for i, p in enumerate(PAIRS)]
    for (i, p), (j, q) in combinations_with_replacement(enumerate(PAIRS), 2):
        asked.append(("V", predicted.vertex, spreads[..., i, j], (*p, *q)))
    rows, floor = [], 1e3 * QUADRATURE * max(widths)
    for name, want, found, place in asked:
        for layer in layers:
            here, size = float(want[(layer - 1, *place)]), _size(predicted, layer - 1, place)
            judged = judge(
                found[:, layer - 1].tolist(), here, floor * size, max(abs(here), size), len(asked) * len(layers)
            )
            rows.append(Row(f"{name} {','.join(str(i) for i in place)}", layer, here, judged))
    return FiniteReport(tuple(rows), tuple(widths), networks)


def _size(predicted: Any, row: int, place: tuple[int, ...]) -> float:
    """What an entry is compared with where it is small itself: the geometric mean of its diagonal entries, a tenth."""
    if len(place) == 2:
        v = abs(float(predicted.vertex[(row, *place, *place)]))
        return 0.1 * v / float(predicted.kernel[row, place[0], place[0]])
    diagonal = [abs(float(predicted.vertex[(row, *pair, *pair)])) for pair in (place[:2], place[2:])]
    return 0.3 * float(np.sqrt(diagonal[0] * diagonal[1]))


def measured(
    theory: Any, values: Any, start: np.ndarray, weights: tuple[float, float], depth: int, widths: Sequence[int],
    networks: int, seed: int,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Extrapolated K1 and V by batch."""
    from verify.reference import torch_function

    phi = torch_function(theory.activation.source.formula, values)
    law = Mehler(phi, breakpoints(theory, values))
    shifts: Any = 0.0
    spreads: Any = 0.0
    for i, (width, share) in enumerate(zip(widths, richardson(widths), strict=True)):
        below = [int(width)] * (depth - 1)
        found = []
        for k in range(BATCHES):
            drawn = kernels(phi, start, below, *weights, networks // BATCHES, stream(seed, i, k))
            found.append(estimate(drawn, law, below, *weights))
        shifts = shifts + share * np.array([e.correction for e in found])
        spreads = spreads + share * np.array([e.vertex for e in found])
    return shifts, spreads


__all__ = ["Estimates", "estimate", "kernels", "measured", "verify_inputs"]
