"""Expectations over the pre-activations of several inputs as floats: panels end at the kinks in every variable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sympy import Expr

from derive.depth.finite.weights import first, second
from derive.depth.grid_functions import float_function
from derive.depth.grid_panels import gauss
from derive.records import Unsupported

REACH = 8.5
"""Standard deviations beyond which a Gaussian is left out: its tail there is under 1e-16."""
PANEL = 3.0
"""Widest panel of 16 nodes, in standard deviations of a variable given the others."""
CLOSEST = 1e-6
"""Smallest 1 - |c| at which two inputs are told apart in floats."""
MOST = {1: 40_000, 2: 4_000, 3: 700, 4: 400}
"""Largest number of nodes a variable."""
HALVINGS, RESOLVED = 8, 1e-14
"""How often a panel may be halved, and the share of an expectation below which it need not be."""


@dataclass(frozen=True)
class PairMoments:
    """E phi(u) phi(v) with its derivatives in (q1, q2, K): value, slope (3,), curvature (3, 3)."""

    value: float
    slope: np.ndarray
    curvature: np.ndarray


class Joint:
    """Expectations of products of powers of phi over centred Gaussian vectors of up to four variables."""

    def __init__(self, phi: Expr, values: Mapping[str, Any]) -> None:
        self._f = float_function(phi, values)
        self._where = str(phi)

    def pair(self, q1: float, q2: float, k: float) -> PairMoments:
        """E phi(u) phi(v) and its derivatives, by Hermite weights: kinks and jumps of phi count."""
        delta = q1 * q2 - k * k
        p = q2 / delta, q1 / delta, -k / delta
        (u, a), (v, b) = self._axes(np.array([[q1, k], [k, q2]]), (1, 1))
        density = np.exp(-(u[:, None] ** 2 * p[0] + 2 * p[2] * np.outer(u, v) + v[None, :] ** 2 * p[1]) / 2)
        mass = density * np.outer(a, b) / (2 * np.pi * np.sqrt(delta))
        y = u[:, None] * p[0] + v[None, :] * p[2], u[:, None] * p[2] + v[None, :] * p[1]
        slope = np.array([float((mass * w).sum()) for w in first(y, p)])
        curvature = np.zeros((3, 3))
        for (i, j), w in second(y, p).items():
            curvature[i, j] = curvature[j, i] = float((mass * w).sum())
        return PairMoments(float(mass.sum()), slope, curvature)

    def product(self, cov: np.ndarray, powers: Sequence[int]) -> float:
        """E prod_i phi(z_i)^powers_i for z ~ N(0, cov), one to four distinct variables.

        The density is a product of a factor for each pair of axes, so that the sum over the grid is a chain of
        matrix products. Raises Unsupported where floats do not resolve it.
        """
        axes = self._axes(cov, powers)
        p = np.linalg.inv(cov)
        norm = 1 / np.sqrt((2 * np.pi) ** len(powers) * np.linalg.det(cov))
        # -P xy = |P| (x^2 + y^2)/2 - |P| (x + sign(P) y)^2/2: no factor of a pair exceeds 1
        rest = 2 * np.diag(p) - np.abs(p).sum(1)
        ends = [w * np.exp(-r * x**2 / 2) for r, (x, w) in zip(rest, axes, strict=True)]
        if len(axes) == 1:
            return float(norm * ends[0].sum())
        bond = {}
        for i, (x, _) in enumerate(axes):
            for j in range(i + 1, len(axes)):
                gap = x[:, None] + np.sign(p[i, j]) * axes[j][0]
                bond[i, j] = np.exp(-abs(p[i, j]) * gap**2 / 2)
        total = _contract(ends, bond)
        if not np.isfinite(total):
            raise self._unresolved(cov)
        return float(norm * total)

    def _axes(self, cov: np.ndarray, powers: Sequence[int]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Nodes of each variable, and weights times phi^power there."""
        p = np.linalg.inv(cov)
        found = []
        for i, power in enumerate(powers):
            reach = REACH * np.sqrt(cov[i, i])
            if reach > self._f.reach:
                raise self._unresolved(cov)
            edges = np.unique([-reach, *(b for b in self._f.breaks if abs(b) < reach), 0.0, reach])
            count = np.ceil(np.diff(edges) * np.sqrt(p[i, i]) / PANEL).astype(int)
            if 16 * count.sum() > MOST[len(powers)]:
                raise self._unresolved(cov)
            parts = [np.linspace(a, b, n + 1)[:-1] for a, b, n in zip(edges[:-1], edges[1:], count, strict=True)]
            edges = self._resolved(np.append(np.concatenate(parts), reach), float(cov[i, i]), power)
            if 16 * len(edges) > MOST[len(powers)]:
                raise self._unresolved(cov)
            x, weights = gauss(edges)
            found.append((x, weights * self._f(x) ** power))
        return found

    def _resolved(self, edges: np.ndarray, variance: float, power: int) -> np.ndarray:
        """The edges, halved where phi^power is not yet resolved under its Gaussian."""
        for _ in range(HALVINGS):
            halves = np.sort(np.concatenate([edges, (edges[1:] + edges[:-1]) / 2]))
            whole, split = (self._panel_sums(e, variance, power) for e in (edges, halves))
            split = split[::2] + split[1::2]
            bad = np.abs(whole - split) > RESOLVED * np.abs(split).sum()
            if not bad.any():
                break
            edges = np.sort(np.concatenate([edges, (edges[1:] + edges[:-1])[bad] / 2]))
        return edges

    def _panel_sums(self, edges: np.ndarray, variance: float, power: int) -> np.ndarray:
        x, weights = gauss(edges)
        return (weights * self._f(x) ** (2 * power) * np.exp(-(x**2) / (2 * variance))).reshape(-1, 16).sum(1)

    def _unresolved(self, cov: np.ndarray) -> Unsupported:
        return Unsupported(
            f"an expectation over {len(cov)} inputs in floats",
            where=f"{self._where}, covariance {np.round(cov, 6).tolist()}",
            why="the inputs are nearly collinear, or phi is not resolved over the Gaussian's range",
            instead="certified=True for entries of two inputs, or inputs further apart",
        )


def _contract(ends: list[np.ndarray], bond: dict[tuple[int, int], np.ndarray]) -> float:
    """sum over the grid of prod ends_i prod bond_ij."""
    if len(ends) == 2:
        return float(ends[0] @ bond[0, 1] @ ends[1])
    if len(ends) == 3:
        inner = (bond[0, 2] * ends[2]) @ bond[1, 2].T
        return float(ends[0] @ (bond[0, 1] * inner) @ ends[1])
    total = 0.0
    for i, weight in enumerate(ends[0]):
        one, two, three = (ends[j] * bond[0, j][i] for j in (1, 2, 3))
        inner = (bond[1, 3] * three) @ bond[2, 3].T
        total += weight * float(one @ (bond[1, 2] * inner) @ two)
    return total


__all__ = ["CLOSEST", "Joint", "PairMoments"]
