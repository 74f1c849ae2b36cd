"""The expectations behind the recursions as floats: panels that end at every kink, no derivative of phi in q."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from sympy import Expr

from derive.depth.grid_functions import float_function
from derive.depth.grid_panels import gauss
from derive.records import Unsupported

FAR = 13.0
"""Standard deviations beyond which a Gaussian is left out: its tail there is under 1e-37."""
LOST = 1e-9
"""Largest share of an expectation that may come from the outermost panels."""


class Values(NamedTuple):
    """Expectations at one variance q; g = E phi^2, e = E phi'^2, slopes and curvatures in q."""

    g: float
    g_slope: float
    g_curvature: float
    fourth: float
    fourth_slope: float
    sixth: float
    e: float
    e_slope: float
    e_curvature: float
    both: float
    slope_fourth: float


class Moments:
    """q -> Values for one function with numbers for its parameters, to about 1e-12 of each expectation's size.

    d^k/dq^k E F(z) = E F(z) He_2k(z/sqrt(q)) / (2q)^k, so nothing is differentiated numerically and kinks and jumps
    of phi count. Raises Unsupported where phi is not resolved in floats, or grows too fast for an expectation.
    """

    def __init__(self, phi: Expr, dphi: Expr, values: Mapping[str, Any]) -> None:
        self._where = str(phi)
        f, slope = float_function(phi, values), float_function(dphi, values)
        self._kinked = bool(f.breaks)
        reach = min(f.reach, slope.reach)
        edges = np.union1d(f.panels.edges, slope.panels.edges)
        edges = edges[(edges >= -reach) & (edges <= reach)]
        edges = np.unique(np.concatenate([edges, (edges[1:] + edges[:-1]) / 2]))
        keep = np.append(True, np.diff(edges) > 1e-14 * np.abs(edges[1:]))
        self._x, self._weights = gauss(edges[keep])
        first, second = f(self._x) ** 2, slope(self._x) ** 2
        self._rows = np.stack([first, first**2, first**3, second, first * second, second**2])
        self._edges = edges[keep]

    def __call__(self, q: float) -> Values:
        """The expectations at one variance."""
        near = np.abs(self._x) < FAR * np.sqrt(q)
        t = self._x[near] ** 2 / q
        mass = self._weights[near] * np.exp(-t / 2) / np.sqrt(2 * np.pi * q)
        rows = self._rows[:, near]
        total = rows @ mass
        self._check(q, near, rows, mass, total)
        rising = (rows * (t - 1)) @ mass / (2 * q)
        bending = (rows * (t**2 - 6 * t + 3)) @ mass / (4 * q**2)
        g, fourth, sixth, e, both, slope_fourth = total
        return Values(g, rising[0], bending[0], fourth, rising[1], sixth, e, rising[3], bending[3], both, slope_fourth)

    def hermite(self, q: float, terms: int) -> np.ndarray:
        """E phi(sqrt(q) x)^2 He_k(x)/sqrt(k!) for k < terms."""
        near = np.abs(self._x) < FAR * np.sqrt(q)
        x = self._x[near] / np.sqrt(q)
        now = self._rows[0, near] * self._weights[near] * np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi * q)
        out, before = np.empty(terms), np.zeros_like(x)
        for k in range(terms):
            out[k] = now.sum()
            before, now = now, (x * now - np.sqrt(k) * before) / np.sqrt(k + 1)
        return out

    @property
    def kinked(self) -> bool:
        """Whether phi has breakpoints, so that its Hermite coefficients fall slowly."""
        return self._kinked

    def _check(self, q: float, near: np.ndarray, rows: np.ndarray, mass: np.ndarray, total: np.ndarray) -> None:
        x = self._x[near]
        outer = (x < self._edges[1]) | (x > self._edges[-2]) | (np.abs(x) > (FAR - 2) * np.sqrt(q))
        lost = np.abs(rows[:, outer]) @ mass[outer] > LOST * np.abs(total) + 1e-280
        if lost.any() or not np.isfinite(total).all():
            raise Unsupported(
                f"the recursions in floats at variance {q:g}",
                where=self._where,
                why="an expectation of phi^6 or phi'^4 lives where floats do not reach, or is infinite",
                instead="depth(..., certified=True)",
            )


__all__ = ["Moments", "Values"]
