"""Estimates of vertex, mean correction and tangent statistics from networks, with most of the noise removed.

Given layer l, G^{l+1} has mean m(G^l) and variance s(G^l)/n exactly. So xi^l = G^{l+1} - m(G^l) has mean zero given
the past, at every width, and so has M^l = sum_k A_k xi^k for any constants A_k. With A_k the product of slopes m' on
the way from k to l, M^l is the fluctuation of G^l to first order. In the same way (M^l)^2 = W^l + P^l with W^l of mean
zero and P^l = sum_k A_k^2 s(G^k)/n smooth in the kernels, so that m'' W/2, carried along, removes the second order:
what is averaged for the mean of G^l has a standard deviation of order n^(-3/2), and n Var G^l mostly is E n P^l.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from verify.finite_width.chains import Chains
from verify.finite_width.tables import OneLayer


@dataclass(frozen=True)
class Estimate:
    """One batch's estimates: arrays over layers 1 to L, each scaled by the width that feeds the layer (layer 1: 0).

    correction, vertex   n (E G - K), n Var G
    overlap, mixed, spread, gradient   n E M^2, n Cov(G, H), n Var H, n (E H - H_0); None without a tangent
    """

    correction: np.ndarray
    vertex: np.ndarray
    overlap: np.ndarray | None = None
    mixed: np.ndarray | None = None
    spread: np.ndarray | None = None
    gradient: np.ndarray | None = None


def estimate(layer: OneLayer, drawn: Chains, widths: Sequence[int], sigma_w: float, sigma_b: float) -> Estimate:
    """The estimates of one batch of networks whose gains do not depend on the layer."""
    weight, bias = sigma_w**2, sigma_b**2
    g, (layers, count) = drawn.kernel, drawn.kernel.shape
    wide, norm = float(g[0, 0]), 1.0
    linear, square, bent, slow, power = (np.zeros(count) for _ in range(5))
    rows: list[tuple[float, ...]] = [(0.0,) * (2 if drawn.norm is None else 6)]
    for i in range(layers - 1):
        n, now = widths[i], g[i]
        here = layer.table(now)
        limit = layer.at(np.array([wide]))[:, 0]
        if drawn.norm is not None:
            assert drawn.overlap is not None
            h, m = drawn.norm, drawn.overlap
            expected = weight * (h[i] * here[4] + 2 * m[i] ** 2 * here[5])
            slow = weight * (limit[4] * slow + limit[5] * norm * linear) + h[i + 1] - expected
            norm *= weight * limit[4]
        transport, noise = weight * limit[1], weight**2 * (here[3] - here[0] ** 2) / n
        fresh = g[i + 1] - bias - weight * here[0]
        bent = transport * bent + weight * limit[2] * square / 2
        square = transport**2 * square + fresh * (2 * transport * linear + fresh) - noise
        linear = transport * linear + fresh
        power = transport**2 * power + noise
        wide = weight * limit[0] + bias
        rest = g[i + 1] - wide - linear
        row: tuple[float, ...] = (n * float((rest - bent).mean()), n * _variance(linear, rest, float(power.mean())))
        if drawn.norm is not None:
            assert drawn.overlap is not None
            row += _tangent(g[i + 1], drawn.overlap[i + 1], drawn.norm[i + 1], norm, slow, n)
        rows.append(row)
    return Estimate(*np.array(rows).T)


def _variance(linear: np.ndarray, rest: np.ndarray, power: float) -> float:
    """Var(linear + rest), where E linear = 0 and E linear^2 = power."""
    return power + 2 * float(np.mean(linear * (rest - rest.mean()))) + float(rest.var(ddof=1))


def _tangent(g, m, h, norm: float, slow: np.ndarray, n: int) -> tuple[float, ...]:
    mixed = float(np.cov(g, h)[0, 1])
    return n * float((m**2).mean()), n * mixed, n * float(h.var(ddof=1)), n * float((h - norm - slow).mean())


def richardson(widths: Sequence[int]) -> np.ndarray:
    """Weights of estimates at several widths that remove the orders 1/n, ..., 1/n^(k-1) of what is left."""
    x = 1 / np.asarray(widths, float)
    others = [np.prod([b / (b - a) for b in np.delete(x, i)]) for i, a in enumerate(x)]
    return np.array(others)


__all__ = ["Estimate", "estimate", "richardson"]
