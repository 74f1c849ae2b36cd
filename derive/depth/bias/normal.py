"""The standard normal distribution and the bivariate one on arrays, to about 1e-15, with NumPy alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = Any
LEGENDRE = np.polynomial.legendre.leggauss(32)


def density(x: Array) -> Array:
    """exp(-x^2/2)/sqrt(2 pi)."""
    return np.exp(-np.square(x) / 2) / math.sqrt(2 * math.pi)


def cdf(x: Array) -> Array:
    """Phi(x), with relative accuracy in the lower tail."""
    x = np.asarray(x, float)
    flat = [0.5 * math.erfc(-v) for v in (x.ravel() / math.sqrt(2)).tolist()]
    return np.array(flat).reshape(x.shape)


def owen(h: Array, a: Array) -> Array:
    """Owen's T(h, a) = int_0^a exp(-h^2 (1 + x^2)/2)/(1 + x^2) dx/(2 pi), |a| <= 1 by Gauss-Legendre.

    T(h, a) + T(a h, 1/a) = (Phi(h) + Phi(a h))/2 - Phi(h) Phi(a h) - [a < 0]/2 beyond (Owen 1956, eq. 2.3), a > 0.
    """
    h, a = np.broadcast_arrays(np.abs(np.asarray(h, float)), np.asarray(a, float))
    size, sign = np.abs(a), np.sign(a)
    far = size > 1
    slope = np.where(far, 1 / np.where(far, size, 1), size)
    height = np.where(far, h * np.where(far, np.minimum(size, 1e150), 1), h)
    height = np.minimum(height, 40.0)  # exp(-800) is 0
    total = np.zeros_like(height)
    for node, weight in zip(*LEGENDRE, strict=True):
        x = slope * (node + 1) / 2
        total += weight / 2 * slope * np.exp(-(height**2) * (1 + x * x) / 2) / (1 + x * x)
    total /= 2 * math.pi
    if not far.any():
        return sign * total
    p, r = cdf(np.minimum(h[far], 40)), cdf(height[far])
    # in upper tails, so that nothing cancels where h is large
    total[far] = (p * (1 - r) + r * (1 - p)) / 2 - total[far]
    return sign * total


def bivariate_cdf(x: Array, y: Array, c: float) -> Array:
    """P(u <= x, v <= y) for unit variances and correlation |c| < 1 (Owen 1956, eq. 2.1)."""
    x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
    x, y = (np.where(v == 0, 1e-300, v) for v in (x, y))
    root = math.sqrt((1 - c) * (1 + c))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        first, second = (np.clip((b / a - c) / root, -1e150, 1e150) for a, b in ((x, y), (y, x)))
    half = np.where(x * y > 0, 0.0, np.where(np.sign(x) * np.sign(y) < 0, 0.5, 0.0))
    found = (cdf(x) + cdf(y)) / 2 - owen(x, first) - owen(y, second) - half
    return np.clip(found, 0, 1)


__all__ = ["bivariate_cdf", "cdf", "density", "owen"]
