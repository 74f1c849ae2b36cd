"""Residual networks at order 1/width: blocks x' = a x + b d, d given the rows Gaussian with the branch's kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from derive.depth.finite.recursion import Coefficients

At = Callable[[float], Coefficients]
Hermite = Callable[[float], np.ndarray]
"""The normalised Hermite coefficients of phi^2 at a variance: h_k(q) = E phi(sqrt(q) x)^2 He_k(x)/sqrt(k!)."""


@dataclass(frozen=True, eq=False)
class ResidualDepth:
    """The mean square G = |x|^2/n of a residual stream of width n after blocks 0 to L, entry l after l blocks; floats.

    kernel       K: that of the infinite network
    vertex       V4: n Var G
    correction   K1: n (E G - K)
    latent       n Var D: the part of V4 that is the fluctuation of the variance from which the rows are drawn
    branch       U1: n (E Q^ - Q(K)), entry l for the branch of block l + 1
    closure_vertex, closure_correction   what a closed equation for G alone gives (Gaussian rows at every depth):
                 with the source 1/2 Q'' V4 of the mean, which takes the sampling noise of G for noise of the variance
    """

    kernel: np.ndarray
    vertex: np.ndarray
    correction: np.ndarray
    latent: np.ndarray
    branch: np.ndarray
    closure_vertex: np.ndarray
    closure_correction: np.ndarray

    def mean(self, n: int) -> np.ndarray:
        """E G = K + K1/n."""
        return self.kernel + self.correction / n

    def variance(self, n: int) -> np.ndarray:
        """Var G = V4/n."""
        return self.vertex / n

    def log_variance(self, n: int) -> np.ndarray:
        """Var log G = V4/(n K^2)."""
        return self.vertex / (n * self.kernel**2)

    def log_mean(self, n: int) -> np.ndarray:
        """E log G = log K + (K1/K - V4/(2 K^2))/n."""
        k = self.kernel
        return np.log(k) + (self.correction / k - self.vertex / (2 * k**2)) / n


def with_memory(
    at: At, hermite: Hermite, q0: float, blocks: int, a: float, b: float, weight: float, bias: float
) -> ResidualDepth:
    """Blocks whose activation reads the stream: rows remember every block before.

    Rows start i.i.d. N(0, q0). To order 1/n they are walkers z~ with Cov(z~_l, z~_m) = a^(m-l) K_l, drawn with the
    variance K + D, D' = a^2 D + b^2 dQ^, dQ^_l = eta_l + chi_l D_l, eta_l = sigma_w^2 (mean phi^2(z~_l) - E). Hence
    D_L = sum_l c_l eta_l, c_l = b^2 prod_(l<m<L) (a^2 + b^2 chi_m), and
        V4_L = 2 K_L^2 + 4 sum_l c_l a^(2(L-l)) chi_l K_l^2 + sum_lm c_l c_m n Cov(eta_l, eta_m),
        U1_L = chi_L K1_L + Q''/2 n Var D_L + 1/2 sum_l c_l sigma_w^4 Cov(phi^2(z~_l), (phi^2)''(z~_L)):
    linear response to the fluctuations that a block injects. The two-time covariances are Hermite series. a = 0, b = 1
    is the network without shortcut.
    """
    k, correction, latent = q0, 0.0, 0.0
    closure = Closure(2 * q0**2, 0.0)
    kernels, response, stream = np.array([]), np.array([]), np.array([])
    table: list[np.ndarray] = []
    rows = [(k, 2 * k**2, 0.0, 0.0, closure.vertex, 0.0)]
    shifts = []
    for _ in range(blocks):
        here, h = at(k), hermite(k)
        table.append(h)
        kernels = np.append(kernels, k)
        ages = np.arange(len(table) - 1, -1, -1)
        known = np.array(table)
        decay = a**ages * np.sqrt(kernels / k)
        two_time, curved = _two_time(known, h, decay, k)
        rho = a**2 + b**2 * here.transport
        crossed = weight**2 * float(response @ two_time[:-1])
        shift = here.transport * correction + here.curvature * latent / 2
        shift += weight**2 * float(response @ curved[:-1]) / 2
        shifts.append(shift)
        latent = rho**2 * latent + 2 * rho * b**2 * crossed + b**4 * here.source
        correction = a**2 * correction + b**2 * shift
        closure = closure.next(here, k, a, b)
        response = np.append(rho * response, b**2)
        stream = np.append(stream, 2 * here.transport * k**2)
        k = a**2 * k + b**2 * here.kernel
        vertex = 2 * k**2 + 2 * float((response * a ** (2 * (ages + 1)) * stream).sum()) + latent
        rows.append((k, vertex, correction, latent, closure.vertex, closure.correction))
    return _packed(rows, shifts)


def _packed(rows: Sequence[tuple[float, ...]], shifts: list[float]) -> ResidualDepth:
    kernel, vertex, correction, latent, closed, shifted = np.array(rows).T
    return ResidualDepth(kernel, vertex, correction, latent, np.array(shifts), closed, shifted)


def _two_time(known: np.ndarray, now: np.ndarray, decay: np.ndarray, k: float) -> tuple[np.ndarray, np.ndarray]:
    """Cov of phi^2 at earlier times with phi^2, and with (phi^2)'', now."""
    terms = len(now)
    order = np.arange(terms)
    bent = np.sqrt((order[:-2] + 1.0) * (order[:-2] + 2.0)) * now[2:] / k
    powers = decay[:, None] ** order[None, 1:]
    return (known[:, 1:] * powers) @ now[1:], (known[:, 1:-2] * powers[:, :-2]) @ bent[1:]


@dataclass(frozen=True)
class Closure:
    """The kernel-only closure: E[Q^|G] = Q(G), rows taken to be Gaussian given G at every depth.

    Source of the idea for residual networks: Kawase & Ota 2026 (arXiv 2604.15742), in continuous depth.
    """

    vertex: float
    correction: float

    def next(self, at: Coefficients, k: float, a: float, b: float) -> Closure:
        """After one block."""
        rho = a**2 + b**2 * at.transport
        noise = 4 * a**2 * b**2 * k * at.kernel + b**4 * (2 * at.kernel**2 + at.source)
        return Closure(rho**2 * self.vertex + noise, rho * self.correction + b**2 * at.curvature * self.vertex / 2)


def memoryless(at: At, q0: float, blocks: int, a: float, b: float, ratio: float = 1.0) -> ResidualDepth:
    """Blocks whose branch begins with a Dense: G is a Markov chain, and the closed equation for it is right.

    `at` maps the variance of the stream to the branch's coefficients as functions of that variance; ratio is the width
    of the stream over that of the branch. Rows start i.i.d. N(0, q0).
    """
    k, state = q0, Closure(2 * q0**2, 0.0)
    rows, shifts = [(k, state.vertex, 0.0, 0.0, state.vertex, 0.0)], []
    for _ in range(blocks):
        here = at(k)
        here = Coefficients(here.kernel, here.transport, here.curvature, ratio * here.source, 0.0, 0.0)
        shifts.append(here.transport * state.correction + here.curvature * state.vertex / 2)
        state = state.next(here, k, a, b)
        k = a**2 * k + b**2 * here.kernel
        rows.append((k, state.vertex, state.correction, state.vertex - 2 * k**2, state.vertex, state.correction))
    return _packed(rows, shifts)


__all__ = ["Closure", "ResidualDepth", "memoryless", "with_memory"]
