"""Phase diagrams once more, sharply and by other means: what benchmarks/phase.py compares the grid with.

Trapezoidal rules for analytic integrands (their error falls exponentially), SciPy's brentq for the roots, and a plain
count of the signs of V(q) - q. Nothing of the package is used.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

LOW, HIGH = 1e-11, 1e10


def sech2(x):
    """1/cosh(x)^2."""
    return 1 / np.cosh(np.clip(x, -350, 350)) ** 2


def sigmoid(x):
    """1/(1 + e^-x) without overflow."""
    return 0.5 * (1 + np.tanh(x / 2))


def silu_slope(x):
    """Derivative of x sigmoid(x)."""
    return sigmoid(x) + x * sigmoid(x) * sigmoid(-x)


FUNCTIONS = {"tanh": (np.tanh, sech2), "silu": (lambda x: x * sigmoid(x), silu_slope)}


def one(f, q: float) -> float:
    """E f(x), x ~ N(0, q), in x = sinh(t)."""
    far = np.arcsinh(13 * np.sqrt(q))
    t, step = np.linspace(-far, far, 4001, retstep=True)
    x = np.sinh(t)
    return float(step * np.sum(f(x) * np.exp(-x * x / (2 * q)) * np.cosh(t)) / np.sqrt(2 * np.pi * q))


Z, H = np.linspace(-10, 10, 1001, retstep=True)
WEIGHT = H * np.exp(-Z * Z / 2) / np.sqrt(2 * np.pi)


def two(f, q: float, c: float) -> float:
    """E f(u) f(v) at variance q and correlation c, for q up to a few dozen."""
    root, side = np.sqrt(q), np.sqrt(1 - c * c)
    inner = np.array([WEIGHT @ f(root * (c * z + side * Z)) for z in Z])
    return float(WEIGHT @ (f(root * Z) * inner))


def counts(name: str, sigma_w: np.ndarray, sigma_b: np.ndarray, points: int = 3000) -> np.ndarray:
    """The number of zeros of V(q) - q in [LOW, HIGH] over (sigma_b, sigma_w), by its signs.

    Where V - q comes close to 0 between two signs that agree, it is asked again on 400 variances around.
    """
    phi = FUNCTIONS[name][0]
    q = np.geomspace(LOW, HIGH, points)
    second = np.array([one(lambda x: phi(x) ** 2, v) for v in q])
    found = np.zeros((len(sigma_b), len(sigma_w)), int)
    for i, b in enumerate(sigma_b):
        for j, w in enumerate(sigma_w):
            gap = (w * w * second + b * b) / q - 1
            found[i, j] = np.count_nonzero(gap[1:] * gap[:-1] < 0)
            size = np.abs(gap)
            inner = size[1:-1]
            near = (inner < size[:-2]) & (inner < size[2:]) & (inner < 1e-4) & (gap[:-2] * gap[2:] > 0)
            for k in np.flatnonzero(near) + 1:
                fine = np.geomspace(q[k - 1], q[k + 1], 401)
                there = np.array([(w * w * one(lambda x: phi(x) ** 2, v) + b * b) / v - 1 for v in fine])
                coarse = np.count_nonzero(gap[k - 1 : k + 1] * gap[k : k + 2] < 0)
                found[i, j] += np.count_nonzero(there[1:] * there[:-1] < 0) - coarse
    return found


def point(name: str, w: float, b: float, near: float) -> dict[str, float]:
    """q*, chi, c*, the slopes of V and C: at the fixed point nearest to `near`."""
    phi, slope = FUNCTIONS[name]

    def gap(q: float) -> float:
        return (w * w * one(lambda x: phi(x) ** 2, q) + b * b) / q - 1

    reach = 1e-6
    while gap(near * (1 - reach)) * gap(near * (1 + reach)) > 0:
        reach *= 4
    q = brentq(gap, near * (1 - reach), near * (1 + reach), xtol=1e-300, rtol=1e-14)
    chi = w * w * one(lambda x: slope(x) ** 2, q)
    parallel = w * w * one(lambda x: phi(x) * slope(x) * x, q) / q
    if chi <= 1:
        return {"q": q, "chi": chi, "c": 1.0, "parallel": parallel, "pair": chi}

    def stays(c: float) -> float:
        return (w * w * two(phi, q, c) + b * b) / q - c

    c = 0.0 if abs(stays(0.0)) < 1e-14 else brentq(stays, 0.0, 1 - 0.5 * min(1e-3, chi - 1), xtol=1e-15)
    return {"q": q, "chi": chi, "c": c, "parallel": parallel, "pair": w * w * two(slope, q, c)}
