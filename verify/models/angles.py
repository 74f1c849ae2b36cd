"""Products of two outputs at large variances, where each is an integral over the plane: by their angle."""

from __future__ import annotations

from typing import Any

import numpy as np

from verify.models.moments import Moments

NODES, FEW, CHECKED = 12, 16, 4
CLOSE = 1e-3
"""How far the curve may be from the integral itself, over sqrt(m2(q1) m2(q2)): a hundredth of what is told apart."""


def products(moments: Moments, q1: Any, q2: Any, c: Any) -> Any:
    """E phi(u) phi(v) of many pairs.

    Where that has no closed form and variances are beyond emitted surrogates, the correlation
    K/sqrt(m2(q1) m2(q2)) is taken along the angle at the geometric mean of the variances, from a few integrals. Pairs
    with the most different variances are integrated too; where the curve misses one of them, all are.
    """
    if len(c) <= FEW or moments.quick or max(q1.max(), q2.max()) <= moments.SURROGATES:
        return moments.pair(q1, q2, c)
    angle, middle = np.arccos(c), np.exp(np.mean(np.log(q1) + np.log(q2)) / 2)
    low, high = angle.min(), max(angle.max(), angle.min() + 1e-6)
    nodes = (low + high) / 2 - (high - low) / 2 * np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)
    whole = np.full(NODES, middle)
    ratio = moments.pair(whole, whole, np.cos(nodes)) / moments.second(whole)
    curve = np.polynomial.chebyshev.Chebyshev.fit(nodes, ratio, NODES - 1, domain=[low, high])
    scale = np.sqrt(moments.second(q1) * moments.second(q2))
    found = curve(angle) * scale
    apart = np.argsort(np.abs(np.log(q1 / middle)) + np.abs(np.log(q2 / middle)))[-CHECKED:]
    exact = moments.pair(q1[apart], q2[apart], c[apart])
    return found if np.max(np.abs(found[apart] - exact) / scale[apart]) < CLOSE else moments.pair(q1, q2, c)


__all__ = ["products"]
