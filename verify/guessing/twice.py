"""Numbers of guessing bias by second methods that use no derived formula: plain quadratures and recursions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.optimize import brentq
from scipy.special import ndtr

STEP = 0.08
Z = np.arange(-9, 9 + STEP, STEP)
WEIGHT = np.exp(-Z * Z / 2) / math.sqrt(2 * math.pi) * STEP

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "x": lambda m, x: x,
    "relu": lambda m, x: max(x, m.mpf(0)),
    "leaky_relu": lambda m, x, a: x if x > 0 else m.mpf(a) * x,
    "gelu": lambda m, x: x * m.ncdf(x),
    "silu": lambda m, x: x / (1 + m.exp(-x)),
    "elu": lambda m, x, alpha: x if x > 0 else m.mpf(alpha) * m.expm1(x),
    "sigmoid": lambda m, x: 1 / (1 + m.exp(-x)),
    "softplus": lambda m, x, beta: m.log1p(m.exp(m.mpf(beta) * x)) / m.mpf(beta),
    "abs(x)": lambda m, x: abs(x),
    "tanh": lambda m, x: m.tanh(x),
}
"""Activations in mpmath's numbers, kinks at 0 alone."""


def largest_moments(text: str, k: int = 1, **parameters: Any) -> tuple[float, float]:
    """(E phi(M), E phi(M)^2), M the largest of k standard normals, phi non-decreasing for k > 1; 30 digits."""
    with mpmath.workdps(30):

        def mean(n: int) -> Any:
            def at(z: Any) -> Any:
                weight = k * mpmath.npdf(z) * mpmath.ncdf(z) ** (k - 1)
                return FUNCTIONS[text](mpmath, z, **parameters) ** n * weight

            return mpmath.quad(at, [-14, -5, 0, 5, 14])

        return float(mean(1)), float(mean(2))


def one_layer(text: str, k: int = 1, average: bool = False, **parameters: Any) -> float:
    """gamma behind one layer from centred data at q = 1: m^2/(V - m^2), of the largest of k units or of their mean."""
    m, v = largest_moments(text, 1 if average else k, **parameters)
    return m * m / ((v - m * m) / (k if average else 1))


def relu_gammas(layers: int, w2: Any, b2: Any, gamma: Any = None, residual: Any = None) -> list[float]:
    """gamma at layers 1.. of ReLU by the arc-cosine kernel in 60 digits; `residual` is what a branch is scaled by.

    Standard normal data through a first Dense, or variance 1 and the given gamma.
    """
    with mpmath.workdps(60):
        w2, b2 = mpmath.mpf(str(w2)), mpmath.mpf(str(b2))
        q, k = w2 + b2, b2
        if gamma is not None:
            ratio = mpmath.mpf(str(gamma))
            q, k = mpmath.mpf(1), ratio / (1 + ratio)
        found = []
        for _ in range(layers):
            found.append(float(k / (q - k)))
            theta = mpmath.acos(k / q)
            cross = w2 * q * (mpmath.sin(theta) + (mpmath.pi - theta) * mpmath.cos(theta)) / (2 * mpmath.pi) + b2
            new = w2 * q / 2 + b2
            keep = 0 if residual is None else 1
            scale = mpmath.mpf(1 if residual is None else residual)
            q, k = keep * q + scale * new, keep * k + scale * cross
        return found


def square_mean(f: Callable, q: float) -> float:
    """E f(sqrt(q) z)^2 by the trapezoidal rule, for functions analytic near the real line."""
    return float(WEIGHT @ f(math.sqrt(q) * Z) ** 2)


def gap(f: Callable, q: float, e: float) -> float:
    """E (f(u) - f(v))^2/2 at correlation 1 - e, in the pair's sum and difference: nothing cancels as e -> 0."""
    u, v = (math.sqrt(q) * (math.sqrt(1 - e / 2) * Z[:, None] + s * math.sqrt(e / 2) * Z) for s in (1, -1))
    return float(WEIGHT @ (f(u) - f(v)) ** 2 @ WEIGHT / 2)


def smooth_gammas(f: Callable, layers: int, w2: float, b2: float) -> list[float]:
    """gamma at layers 1.. for an activation analytic near the real line, standard normal data."""
    q, e, found = w2 + b2, w2 / (w2 + b2), []
    for _ in range(layers):
        found.append((1 - e) / e)
        after = w2 * square_mean(f, q) + b2
        q, e = after, w2 * gap(f, q, e) / after
    return found


def settled(f: Callable, w2: float, b2: float) -> float:
    """The correlation c* < 1 where gamma settles: a root of e - e' in 1 - c, at the fixed variance."""
    q = brentq(lambda v: w2 * square_mean(f, v) + b2 - v, 1e-3, 1e2, xtol=1e-15)
    return 1 - brentq(lambda e: w2 * gap(f, q, e) / q - e, 1e-4, 1, xtol=1e-16)


def tanh_edge(b2: float) -> tuple[float, float, float]:
    """(sigma_w^2, q, C''(1)) of tanh on the edge of chaos with biases of this variance."""

    def slope(x: Any) -> Any:
        return 1 / np.cosh(x) ** 2

    def excess(v: float) -> float:
        return b2 + square_mean(np.tanh, v) / square_mean(slope, v) - v

    q = brentq(excess, 1e-6, 10, xtol=1e-16)
    w2 = 1 / square_mean(slope, q)
    return w2, q, w2 * q * square_mean(lambda x: -2 * np.tanh(x) * slope(x), q)


def neutral(f: Callable, b2: float, high: float = 10) -> float:
    """sigma_w^2 where a deep stack settles at c = 1/2 with biases of this variance."""

    def weight(q: float) -> float:
        return q / 2 / gap(f, q, 0.5)

    q = brentq(lambda v: v - weight(v) * square_mean(f, v) - b2, 1e-6, high, xtol=1e-16)
    return weight(q)


def classes(gamma: float, k: int) -> tuple[float, float]:
    """(E max G, P(same class)) for k classes: Gauss-Legendre over the favoured class's centre and output, or over a
    pair of outputs, and inside over another class's centre."""
    root = math.sqrt(gamma)
    edges = np.linspace(-9, 9, 13)
    share, weights = leggauss(16)
    x = ((edges[:-1, None] + edges[1:, None]) / 2 + np.diff(edges)[:, None] / 2 * share).ravel()
    w = (np.diff(edges)[:, None] / 2 * weights).ravel() * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    # another class: its centre s below the favoured one's m, its output below that class's m root + y
    below = np.stack([_upto(x[i], root, x) for i in range(len(x))])
    largest = k * np.einsum("i,j,ij->", w, w, below ** (k - 1))
    # two inputs: outputs t1, t2 of the common class given its centre; others' centres s integrate both
    same = 0.0
    for i, m in enumerate(x):
        table = ndtr(root * (m - x)[None, :] + x[:, None])
        joint = (table * w) @ table.T
        same += w[i] * float(w @ joint ** (k - 1) @ w)
    return float(largest), float(k * same)


def _upto(m: float, root: float, y: np.ndarray) -> np.ndarray:
    """int_{-inf}^m phi(s) Phi(root (m - s) + y) ds at an array of y."""
    share, weights = leggauss(16)
    edges = np.linspace(-9.5, m, 1 + max(6, int(1.5 * (m + 9.5) * max(1.0, root) ** 0.5)))
    s = ((edges[:-1, None] + edges[1:, None]) / 2 + np.diff(edges)[:, None] / 2 * share).ravel()
    mass = (np.diff(edges)[:, None] / 2 * weights).ravel() * np.exp(-s * s / 2) / math.sqrt(2 * math.pi)
    return ndtr(root * (m - s)[None, :] + y[:, None]) @ mass


__all__ = [
    "classes",
    "gap",
    "largest_moments",
    "neutral",
    "one_layer",
    "relu_gammas",
    "settled",
    "smooth_gammas",
    "square_mean",
    "tanh_edge",
]
