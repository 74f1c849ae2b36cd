"""All fixed points of the variance map at every node of a grid, in floats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from derive.depth.grid_maps import GridMaps

Array = Any
LOWEST, HIGHEST, PER_DECADE = -11.875, 10.875, 8
SLICE = 500
"""Nodes scanned at once: it bounds the memory."""
NOISE = 3e-13
"""|log(V/q)| below which floats see no motion: a scale-invariant function at its critical sigma_w."""

ENDLESS = 1e10
"""A variance that counts as growing without bound."""


@dataclass(frozen=True)
class Roots:
    """Fixed points of n nodes, (n, most) ascending and padded with NaN.

    rises   whether V increases in q at every point of the scan, so that order decides what attracts what
    open    whether V is not resolved at the upper end of the scan, with values below ENDLESS up to there: roots may
            lie beyond
    """

    q: Array
    rises: Array
    open: Array

    @property
    def count(self) -> Array:
        """The number of positive fixed points of each node."""
        return np.isfinite(self.q).sum(1)


def roots(maps: GridMaps, sigma_w: Array, sigma_b: Array) -> Roots:
    """Every sign change of log(V(q)/q) on a grid of log q, and every pair that a minimum or maximum betrays.

    Between two points of the scan with the same sign, an extremum that bends towards 0 is located; where it crosses,
    its two roots are taken. Two pairs of roots within 1/8 of a decade could be missed.
    """
    x = np.arange(LOWEST * PER_DECADE, HIGHEST * PER_DECADE + 1) / PER_DECADE * np.log(10)
    scans = [_scan(maps, sigma_w[i : i + SLICE], sigma_b[i : i + SLICE], x) for i in range(0, len(sigma_w), SLICE)]
    sizes = [len(scan.rises) for scan in scans]
    starts = np.cumsum([0, *sizes[:-1]])
    node = np.concatenate([scan.node + start for scan, start in zip(scans, starts, strict=True)])
    a, b = (np.concatenate([getattr(scan, end) for scan in scans]) for end in ("a", "b"))
    found = _solve(maps, sigma_w[node], sigma_b[node], a, b)
    order = np.lexsort((found, node))
    node, found = node[order], found[order]
    count = np.bincount(node, minlength=len(sigma_w))
    table = np.full((len(sigma_w), max(1, count.max(initial=0))), np.nan)
    place = np.arange(len(node)) - np.repeat(np.cumsum(count) - count, count)
    table[node, place] = np.exp(found)
    return Roots(table, *(np.concatenate([getattr(scan, name) for scan in scans]) for name in ("rises", "open")))


@dataclass(frozen=True)
class _Scan:
    """Brackets (node, a, b) in log q of one slice of nodes."""

    node: Array
    a: Array
    b: Array
    rises: Array
    open: Array


def _scan(maps: GridMaps, sigma_w: Array, sigma_b: Array, x: Array) -> _Scan:
    q = np.exp(x)
    with np.errstate(divide="ignore", invalid="ignore"):
        v = np.broadcast_to(maps.variance(q[None, :], sigma_w[:, None], sigma_b[:, None]), (len(sigma_w), len(q)))
        h = np.log(v) - x
        rises: Array = ~(np.diff(v, axis=1) < -1e-12 * v[:, 1:]).any(1)
    sign = np.where(np.isfinite(h), np.where(h > -NOISE, 1, -1), 0)
    # a scale-invariant function without biases at its critical sigma_w: V(q) = q throughout, up to rounding
    sign[np.where(np.isfinite(h), np.abs(h), 0).max(1) < 1e-11] = 1
    node, left = np.nonzero(sign[:, :-1] * sign[:, 1:] < 0)
    extra = _hidden(maps, sigma_w, sigma_b, x, h)
    nodes, a, b = (np.concatenate(pair) for pair in zip((node, x[left], x[left + 1]), extra, strict=True))
    known = ~np.isnan(v)
    highest = v[np.arange(len(v)), v.shape[1] - 1 - np.argmax(known[:, ::-1], 1)]
    return _Scan(nodes, a, b, rises, ~known[:, -1] & ~(highest > ENDLESS))


def _hidden(maps: GridMaps, sigma_w: Array, sigma_b: Array, x: Array, h: Array) -> tuple[Array, Array, Array]:
    """Brackets of pairs of roots between scan points of one sign: node, left end, right end."""
    size = np.abs(h)
    with np.errstate(invalid="ignore"):
        same = (np.sign(h[:, :-2]) == np.sign(h[:, 1:-1])) & (np.sign(h[:, 1:-1]) == np.sign(h[:, 2:]))
        dips = same & (size[:, 1:-1] <= size[:, :-2]) & (size[:, 1:-1] <= size[:, 2:])
        bend = size[:, :-2] + size[:, 2:] - 2 * size[:, 1:-1]
        lowest = size[:, 1:-1] - (size[:, 2:] - size[:, :-2]) ** 2 / np.maximum(8 * bend, 1e-300)
        node, middle = np.nonzero(dips & (lowest < 0.25 * bend + 1e-13))
    a, b = x[middle], x[middle + 2]
    sign = np.sign(h[node, middle + 1])
    best, value = x[middle + 1], sign * h[node, middle + 1]
    for _ in range(10 if len(node) else 0):
        points = a[:, None] + (b - a)[:, None] * np.linspace(0, 1, 7)
        heights = sign[:, None] * _excess(maps, points, sigma_w[node][:, None], sigma_b[node][:, None])
        at = np.clip(np.argmin(heights, 1), 1, 5)
        rows = np.arange(len(at))
        best, value = points[rows, at], heights[rows, at]
        a, b = points[rows, at - 1], points[rows, at + 1]
    cross = value < -NOISE
    node, best, middle = node[cross], best[cross], middle[cross]
    ends = (np.concatenate([x[middle], best]), np.concatenate([best, x[middle + 2]]))
    return np.concatenate([node, node]), *ends


def _excess(maps: GridMaps, x: Array, sigma_w: Array, sigma_b: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(maps.variance(np.exp(x), sigma_w, sigma_b)) - x


def _solve(maps: GridMaps, sigma_w: Array, sigma_b: Array, a: Array, b: Array) -> Array:
    """log q in each bracket: Newton steps on log(V/q), bisection where they leave it."""
    a, b = a.copy(), b.copy()
    start = np.sign(_excess(maps, a, sigma_w, sigma_b))
    x = (a + b) / 2
    busy = np.arange(len(x))
    for _ in range(80):
        if not len(busy):
            break
        here, w, c = x[busy], sigma_w[busy], sigma_b[busy]
        q = np.exp(here)
        v = maps.variance(q, w, c)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.log(v) - here
            step = here - value / (maps.slope(q, w, c) * q / v - 1)
        below = np.sign(value) == start[busy]
        a[busy] = np.where(below, here, a[busy])
        b[busy] = np.where(below, b[busy], here)
        inside = (step >= a[busy]) & (step <= b[busy])
        new = np.where(inside, step, (a[busy] + b[busy]) / 2)
        x[busy] = new
        moving = np.abs(new - here) > 4e-15 * np.maximum(1, np.abs(here))
        busy = busy[moving & (np.abs(value) > 2e-15) & (b[busy] - a[busy] > 1e-15)]
    return x
