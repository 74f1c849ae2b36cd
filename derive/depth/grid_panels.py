"""Functions of one real variable as Chebyshev interpolants on panels, evaluated at whole arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev

ENORMOUS = 1e150
"""Panels with larger values are not refined: no Gaussian of interest is resolved there."""
CACHED = 4096
"""Points of an interpolant that are summed together."""
GAUSS = np.polynomial.legendre.leggauss(16)
"""Nodes and weights on [-1, 1] of every panel that is integrated over."""


@lru_cache(maxsize=32)
def _nodes(degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Chebyshev nodes of the first kind, and the matrix from values there to coefficients."""
    x = np.cos(np.pi * (np.arange(degree) + 0.5) / degree)
    to_coefficients = 2 / degree * np.cos(np.pi * np.outer(np.arange(degree), np.arange(degree) + 0.5) / degree)
    to_coefficients[0] /= 2
    return x, to_coefficients


def distinct(*values: Any) -> np.ndarray:
    """Ascending, each once. (`np.unique` of this loads NumPy's masked arrays, which takes longer than a table.)"""
    found = np.sort(np.concatenate([np.atleast_1d(np.asarray(v, float)) for v in values]))
    return found[np.concatenate([[True], np.diff(found) != 0])]


def nodes(edges: np.ndarray, degree: int) -> np.ndarray:
    """The points (panels, degree) at which an interpolant on these panels wants values."""
    return _panel_points(np.asarray(edges, float), _nodes(degree)[0])


def gauss(edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights, flat, of 16-point Gauss-Legendre on each panel."""
    edges = np.asarray(edges, float)
    return _panel_points(edges, GAUSS[0]).ravel(), (np.diff(edges)[:, None] / 2 * GAUSS[1]).ravel()


def _panel_points(edges: np.ndarray, x: np.ndarray) -> np.ndarray:
    left, right = edges[:-1, None], edges[1:, None]
    return (left + right) / 2 + (right - left) / 2 * x


@dataclass(frozen=True)
class Panels:
    """An interpolant: coefficients (panels, degree, ...) on panels between ascending edges.

    Beyond the first and last edge it is NaN.
    """

    edges: np.ndarray
    coefficients: np.ndarray

    @classmethod
    def fit(cls, edges: np.ndarray, values: np.ndarray) -> Panels:
        """From values (panels, degree, ...) at `nodes(edges, degree)`."""
        matrix = _nodes(values.shape[1])[1]
        return cls(np.asarray(edges, float), np.einsum("kn,pn...->pk...", matrix, values))

    def locate(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Panel numbers and local coordinates in [-1, 1]."""
        panel = np.searchsorted(self.edges[1:-1], x, side="right")
        left, right = self.edges[:-1], self.edges[1:]
        local = np.asarray((2 * x - (left + right).take(panel)) / (right - left).take(panel))
        outside = (x < self.edges[0]) | (x > self.edges[-1])
        if outside.any():
            local[outside] = np.nan
        return panel, local

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Values at an array of points."""
        x = np.asarray(x, float)
        return clenshaw(*self.locate(x), self.coefficients)

    @property
    def tails(self) -> np.ndarray:
        """The size of each panel's last two coefficients against the largest value no farther from 0."""
        size = np.abs(self.coefficients)
        peak = np.where(np.isfinite(size), size, 0).max(1)
        distance = np.minimum(np.abs(self.edges[:-1]), np.abs(self.edges[1:]))
        return size[:, -2:].max(1) / np.maximum(_largest_within(distance, peak), 1e-300)

    def mirrored(self, sign: int) -> Panels:
        """From a function on [0, b] the even (sign 1) or odd (sign -1) one on [-b, b]."""
        signs = sign * (-1.0) ** np.arange(self.coefficients.shape[1])
        left = self.coefficients[::-1] * signs
        edges = np.concatenate([-self.edges[:0:-1], self.edges])
        return Panels(edges, np.concatenate([left, self.coefficients]))

    def derivative(self) -> Panels:
        """d/dx."""
        width = np.diff(self.edges).reshape(-1, *([1] * (self.coefficients.ndim - 1)))
        return Panels(self.edges, chebyshev.chebder(self.coefficients, axis=1) * 2 / width)


def clenshaw(panel: np.ndarray, local: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Sum of c[panel, k] T_k(local); for coefficients (panels, degree); by pieces that stay in the cache."""
    columns = np.ascontiguousarray(coefficients.T)
    panel, local = np.broadcast_arrays(panel, local)
    where, x = panel.ravel(), local.ravel()
    found = np.empty_like(x)
    for start in range(0, len(x), CACHED):
        part = slice(start, start + CACHED)
        twice, p = 2 * x[part], where[part]
        after = later = np.zeros_like(twice)
        for column in columns[:0:-1]:
            now = twice * after
            now += column.take(p)
            now -= later
            after, later = now, after
        found[part] = columns[0].take(p) + x[part] * after - later
    return found.reshape(local.shape)


def refined(
    edges: np.ndarray, sample: Callable[[np.ndarray], np.ndarray], degree: int, tolerance: float, most: int
) -> Panels:
    """An interpolant whose panels are halved until their last coefficients are small.

    Small is against the largest value at no larger distance from 0: what a centred Gaussian weighs at least as much.
    Panels stay as they are where `most` panels are reached, or where values are not finite or enormous.
    """
    edges = np.asarray(edges, float)
    ends = np.stack([edges[:-1], edges[1:]], 1)
    distance = np.abs(ends).min(1)
    done: dict[tuple[float, float], np.ndarray] = {}
    inner = 0.0
    for ring in distinct(distance):
        budget = most - len(done)
        found = _halved(ends[distance == ring], sample, degree, tolerance, inner, budget)
        done.update(found)
        sizes = [np.abs(c).max() for c in found.values()]
        inner = max([inner, *(size for size in sizes if np.isfinite(size))])
    order = sorted(done)
    return Panels(np.array([order[0][0], *(b for _, b in order)]), np.array([done[pair] for pair in order]))


def _halved(
    ends: np.ndarray, sample: Callable[[np.ndarray], np.ndarray], degree: int, tolerance: float, inner: float, most: int
) -> dict[tuple[float, float], np.ndarray]:
    """Coefficients by panel, panels halved until resolved to `tolerance` of their size or of `inner`."""
    done: dict[tuple[float, float], np.ndarray] = {}
    while len(ends):
        points = ends.mean(1)[:, None] + np.diff(ends) / 2 * _nodes(degree)[0]
        values = sample(points.ravel()).reshape(points.shape)
        finite: np.ndarray = np.asarray(np.isfinite(values).all(1))
        coefficients = np.where(finite[:, None], values, 0) @ _nodes(degree)[1].T
        size = np.abs(coefficients)
        rough: np.ndarray = finite & (size[:, -2:].max(1) > tolerance * np.maximum(size.max(1), inner))
        rough = rough & (size.max(1) < ENORMOUS) & (ends[:, 1] - ends[:, 0] > 1e-9) & (len(done) + 2 * len(ends) < most)
        coefficients[~finite] = np.nan
        done.update({(float(a), float(b)): c for (a, b), c in zip(ends[~rough], coefficients[~rough], strict=True)})
        left, right = ends[rough].T
        ends = np.concatenate([np.stack([left, (left + right) / 2], 1), np.stack([(left + right) / 2, right], 1)])
    return done


def _largest_within(distance: np.ndarray, size: np.ndarray) -> np.ndarray:
    """For each panel the largest size among panels that are no farther from 0."""
    order = np.argsort(distance, kind="stable")
    largest = np.maximum.accumulate(size[order])
    last = np.searchsorted(distance[order], distance, side="right") - 1
    return largest[last]
