"""The gap E f(u) g(u) - E f(u) g(v) of a pair of variance v and correlation 1 - e, tabulated for whole grids.

With u = s + d and v = s - d, independent s ~ N(0, S), d ~ N(0, T), S = v (1 - e/2), T = v e/2, the gap is
1/2 E (f(s+d) - f(s-d)) (g(s+d) - g(s-d)): for f = g a mean of squares, so that nothing cancels as e -> 0, and for a
kink, a jump or any variance the same two one-variable integrals. (For f = g it is the second-order structure
function of the layer's output.) Kind of its values: floats, uncertified.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from derive.depth.grid_functions import PER_DECADE, SPREAD, FloatFunction, log_edges
from derive.depth.grid_panels import Panels, clenshaw, distinct, gauss, nodes, refined
from derive.records import Unsupported

HALF_LINE = np.array([0, 0.1, 0.35, 1, 2.2, 4, 6.2, 9.0])
RULE = np.polynomial.legendre.leggauss(12)
DEGREE_S, DEGREE_D, DEGREE_V, DEGREE_T = 15, 15, 15, 20
DEEPEST = 7
SETTLED, MOST_POINTS = 1e-10, 2000
"""Of two steps of a trapezoidal rule against the largest value at the same variance, and the points on one side beyond
which it is given up."""
TOLERANCE, ROUGH = 3e-12, 1e-9
"""Of the last coefficients of R in t, and of J in log d, against the largest value at the same variance."""


@dataclass(frozen=True)
class GapTable:
    """(v, t) -> R with gap = v t^2 R(v, t), t = sqrt(e); R(v, 0) = E f' g'.

    edges_v, edges_t  ends of panels in log v and in t
    coefficients      (panels of v, degree, panels of t, degree) of t^jumps R
    jumps             1 where f jumps, so that R grows like 1/t; else 0
    """

    edges_v: np.ndarray
    edges_t: np.ndarray
    coefficients: np.ndarray
    jumps: int

    def at(self, v: np.ndarray) -> GapCurve:
        """The curves in t at an array (n,) of variances."""
        grid = Panels(self.edges_v, self.coefficients)
        panel, local = grid.locate(np.log(v))
        basis = np.polynomial.chebyshev.chebvander(local, self.coefficients.shape[1] - 1)
        shape = self.coefficients.shape
        flat = self.coefficients.reshape(shape[0], shape[1], -1)
        found = np.empty((len(panel), flat.shape[2]))
        for p in np.flatnonzero(np.bincount(panel)):
            here = panel == p
            found[here] = basis[here] @ flat[p]
        return GapCurve(self.edges_t, found.reshape(len(panel), *shape[2:]), self.jumps)

    def ratio(self, v: np.ndarray, t: np.ndarray) -> np.ndarray:
        """R at one t for each variance: rows of one panel in v and t share two small matrix products."""
        count = self.coefficients.shape[2]
        row, across = Panels(self.edges_v, self.coefficients).locate(np.log(v))
        column, along = Panels(self.edges_t, self.coefficients).locate(t)
        order = np.argsort(row * count + column, kind="stable")
        panel = (row * count + column)[order]
        vander, (_, degree, _, deep) = np.polynomial.chebyshev.chebvander, self.coefficients.shape
        first, second = vander(across[order], degree - 1).T, vander(along[order], deep - 1).T
        sums, found = np.empty(len(v)), np.empty(len(v))
        ends = [0, *(np.flatnonzero(np.diff(panel)) + 1), len(v)]
        for start, end in pairwise(ends):
            square = self.coefficients[panel[start] // count, :, panel[start] % count]
            np.einsum("kn,kn->n", square.T @ first[:, start:end], second[:, start:end], out=sums[start:end])
        found[order] = sums
        return found / t**self.jumps


@dataclass(frozen=True)
class GapCurve:
    """R(t) at n fixed variances: coefficients (n, panels, degree), or at the chosen `rows` of them."""

    edges: np.ndarray
    coefficients: np.ndarray
    jumps: int
    rows: np.ndarray | None = None

    def __getitem__(self, which: np.ndarray) -> GapCurve:
        return replace(self, rows=which if self.rows is None else self.rows[which])

    def __call__(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """R and dR/dt at one t for each variance."""
        panel, local = Panels(self.edges, self.coefficients[0]).locate(t)
        chosen = self.coefficients[np.arange(len(t)) if self.rows is None else self.rows, panel]
        rows = np.arange(len(t))
        slopes = np.polynomial.chebyshev.chebder(chosen, axis=1)
        width = (self.edges[panel + 1] - self.edges[panel]) / 2
        value, slope = clenshaw(rows, local, chosen), clenshaw(rows, local, slopes) / width
        return (value / t, (slope - value / t) / t) if self.jumps else (value, slope)


def largest_variance(reach: float) -> float:
    """Of a pair whose tables fit a function that is resolved up to `reach`: just below the end of a panel."""
    with np.errstate(divide="ignore"):
        panels = np.floor(PER_DECADE * np.log10((reach / (2 * SPREAD)) ** 2))
    return float(10.0 ** (panels / PER_DECADE) / 1.002)


def gap_table(f: FloatFunction, g: FloatFunction, low: float, high: float) -> GapTable:
    """The table for variances between low and high. Raises Unsupported where f or g is not resolved so far out."""
    if 2 * SPREAD * np.sqrt(high) > min(f.reach, g.reach):
        raise Unsupported(f"the correlation map at variances up to {high:.3g}", why="the function is not resolved")
    edges_v = log_edges(low, high)
    v = np.exp(nodes(edges_v, DEGREE_V).ravel())
    jumps = int(_jumps(f) or _jumps(g))
    structure = _structure(f, g, float(v.min()), float(v.max()), jumps)
    waiting, done = [(0.0, 0.5), (0.5, 1.0)], {}
    while waiting:
        t = np.concatenate([nodes(np.array(pair), DEGREE_T) for pair in waiting])
        values = structure.mean(v[:, None], t.ravel()[None, :]) * t.ravel() ** jumps
        shaped = np.moveaxis(values.reshape(len(v), *t.shape), 0, -1)
        found = [Panels.fit(np.array(p), row[None]).coefficients[0] for p, row in zip(waiting, shaped, strict=True)]
        largest = np.abs(values).max(1)
        again = []
        for (a, b), coefficients in zip(waiting, found, strict=True):
            if (np.abs(coefficients[-2:]) > TOLERANCE * largest).any() and b - a > 2.0**-DEEPEST:
                again += [(a, (a + b) / 2), ((a + b) / 2, b)]
            else:
                done[a, b] = coefficients
        waiting = again
    edges_t = np.array([0.0, *sorted(b for _, b in done)])
    fitted = np.stack([done[pair] for pair in sorted(done)])
    table = np.moveaxis(fitted, -1, 0).reshape(len(edges_v) - 1, DEGREE_V, *fitted.shape[:2])
    return GapTable(edges_v, edges_t, Panels.fit(edges_v, table).coefficients, jumps)


def _jumps(f: FloatFunction) -> bool:
    steps = [abs(float(np.diff(f(np.array([b - 1e-9, b + 1e-9])))[0])) for b in f.breaks]
    return any(step > 1e-6 for step in steps)


@dataclass(frozen=True)
class _Structure:
    """J(S, d) = E (f(s+d) - f(s-d)) (g(s+d) - g(s-d)) / (2 d^2) on panels in log S and log d; d J where f jumps."""

    edges_s: np.ndarray
    edges_d: np.ndarray
    coefficients: np.ndarray  # (panels of S, degree, panels of d, degree)
    corners: tuple[float, ...]
    jumps: int

    def mean(self, v: np.ndarray, t: np.ndarray) -> np.ndarray:
        """R(v, t) = E[d^2 J(S, d)] / (2 T), broadcast."""
        s_law, d_law = np.broadcast_arrays(v * (1 - t * t / 2), v * t * t / 2)
        s_law, root = s_law.ravel(), np.sqrt(d_law.ravel())
        panel, local = Panels(self.edges_s, self.coefficients).locate(np.log(s_law))
        basis = np.polynomial.chebyshev.chebvander(local, DEGREE_S - 1)
        flat = self.coefficients.reshape(*self.coefficients.shape[:2], -1)
        found = np.empty(len(s_law))
        for p in np.flatnonzero(np.bincount(panel)):
            here = np.flatnonzero(panel == p)
            rows = (basis[here] @ flat[p]).reshape(-1, *self.coefficients.shape[2:])
            found[here] = self._over_d(rows, root[here])
        return found.reshape(np.broadcast_shapes(v.shape, t.shape))

    def _over_d(self, rows: np.ndarray, root: np.ndarray) -> np.ndarray:
        """Half the mean of eta^2 J(root eta) for a normal eta; panels end where J has a corner."""
        corners = np.clip(np.array(self.corners)[None, :] / root[:, None], 0, HALF_LINE[-1])
        edges = np.sort(np.concatenate([np.broadcast_to(HALF_LINE, (len(root), len(HALF_LINE))), corners], 1), 1)
        x, w = RULE
        eta = (edges[:, :-1, None] + edges[:, 1:, None]) / 2 + np.diff(edges)[:, :, None] / 2 * x
        weights = np.diff(edges)[:, :, None] / 2 * w * eta**2 * np.exp(-(eta**2) / 2) / np.sqrt(2 * np.pi)
        weights = weights / (root[:, None, None] * eta) ** self.jumps
        where = np.clip(np.log(root[:, None, None] * eta + 1e-300), self.edges_d[0], self.edges_d[-1])
        panel, local = Panels(self.edges_d, rows[0]).locate(where)
        count = rows.shape[1]
        index = np.arange(len(root))[:, None, None] * count + panel
        values = clenshaw(index, local, rows.reshape(-1, rows.shape[2]))
        return (values * weights).sum((1, 2))


def _structure(f: FloatFunction, g: FloatFunction, low: float, high: float, jumps: int) -> _Structure:
    """J for laws of s up to `high`, on panels in log d that are halved until J is resolved."""
    edges_s = log_edges(low / 2.001, high * 1.001)
    inner = _Inner.of(f, g, edges_s)
    smooth, ends = np.sqrt(low) * 5e-3, [np.sqrt(low) * 1e-6, np.sqrt(high / 2) * SPREAD * 1.001]
    breaks = sorted({*f.breaks, *g.breaks})
    distances = sorted({abs(a - b) / 2 for a in breaks for b in breaks if a != b})
    corners = tuple(d for d in distances if ends[0] < d < ends[1])
    # far below every scale of f and of the law J is constant to first order: one wide panel
    edges = distinct(np.log(ends[0]), log_edges(smooth, ends[1]), np.log(corners))
    waiting, done = [(float(a), float(b)) for a, b in pairwise(edges) if b - a > 1e-12], {}
    largest: np.ndarray | None = None
    while waiting:
        points = np.concatenate([nodes(np.array(pair), DEGREE_D) for pair in waiting])
        values = inner.mean(np.exp(points.ravel()), jumps).reshape(-1, *points.shape)
        rows = Panels.fit(np.arange(len(waiting) + 1.0), np.moveaxis(values, 0, -1)).coefficients
        size = np.abs(rows)
        largest = np.abs(values).max((1, 2)) if largest is None else largest
        rough = (size[:, -2:].max(1) > ROUGH * largest).any(1)
        rough &= np.diff(np.array(waiting))[:, 0] > 0.02
        again = [pair for pair, bad in zip(waiting, rough, strict=True) if bad]
        done.update({pair: row for pair, row, bad in zip(waiting, rows, rough, strict=True) if not bad})
        waiting = [half for a, b in again for half in ((a, (a + b) / 2), ((a + b) / 2, b))]
    order = sorted(done)
    over_d = np.moveaxis(np.stack([done[pair] for pair in order]), -1, 0)
    shaped = over_d.reshape(len(edges_s) - 1, DEGREE_S, len(order), DEGREE_D)
    edges_d = np.array([order[0][0], *(b for _, b in order)])
    return _Structure(edges_s, edges_d, Panels.fit(edges_s, shaped).coefficients, corners, jumps)


@dataclass(frozen=True)
class _Inner:
    """The integrals over s at fixed d."""

    f: FloatFunction
    g: FloatFunction
    edges: np.ndarray  # in log S
    variances: np.ndarray
    scale: np.ndarray  # ends of panels for the law of s
    shape: np.ndarray  # ends of panels for f and g
    even: bool

    @classmethod
    def of(cls, f: FloatFunction, g: FloatFunction, edges: np.ndarray) -> _Inner:
        variances = np.exp(nodes(edges, DEGREE_S).ravel())
        least, reach = np.sqrt(variances.min()), SPREAD * np.sqrt(variances.max())
        own = least / 4 * 2.0 ** np.arange(0, 2 + np.log2(4 * reach / least))
        shape = distinct(*(_coarse(h, 2 * reach) for h in {id(f): f, id(g): g}.values()))
        scale = np.concatenate([-own[::-1], [0.0], own])
        return cls(f, g, edges, variances, scale, shape, _parity(f) and _parity(g))

    def mean(self, deltas: np.ndarray, jumps: int) -> np.ndarray:
        """J (variances, deltas), times delta where f jumps."""
        if not (self.f.breaks or self.g.breaks) and (smooth := self._trapezoid(deltas)) is not None:
            return smooth
        f, g, v = self.f, self.g, self.variances
        reach = SPREAD * np.sqrt(v.max())
        found = np.zeros((len(v), len(deltas)))
        for j, delta in enumerate(deltas):
            edges = distinct(self.scale, self.shape - delta, self.shape + delta)
            x, weights = gauss(edges[(edges >= (0 if self.even else -reach)) & (edges <= reach)])
            first = f(x + delta) - f(x - delta)
            second = first if f is g else g(x + delta) - g(x - delta)
            mass = weights * first * second * ((1 + self.even) / (2 * delta ** (2 - jumps)))
            for panel in range(len(self.edges) - 1):
                rows = slice(panel * DEGREE_S, (panel + 1) * DEGREE_S)
                near = slice(*np.searchsorted(x, np.array([-1, 1]) * SPREAD * np.exp(self.edges[panel + 1] / 2)))
                found[rows, j] = np.exp(np.outer(-0.5 / v[rows], x[near] ** 2)) @ mass[near]
        return found / np.sqrt(2 * np.pi * v)[:, None]

    def _trapezoid(self, deltas: np.ndarray) -> np.ndarray | None:
        """The same for analytic functions on one set of points for all deltas; None where it does not settle.

        The rule's error falls geometrically in 1/step, so that halving the step squares it: once two steps agree to
        SETTLED, the finer one has all digits of floats.
        """
        reach, step = SPREAD * np.sqrt(self.variances.max()), np.sqrt(self.variances.min())
        count = int(np.ceil(reach / step))
        total = step * self._sum(step * np.arange(0 if self.even else -count, count + 1), deltas)
        while count < MOST_POINTS:
            between = step * (np.arange(0 if self.even else -count, count) + 0.5)
            before, total = total, (total + step * self._sum(between, deltas)) / 2
            if (np.abs(total - before) <= SETTLED * np.abs(total).max(1, keepdims=True)).all():
                return total
            step, count = step / 2, 2 * count
        return None

    def _sum(self, x: np.ndarray, deltas: np.ndarray) -> np.ndarray:
        pairs = [h(x[:, None] + deltas) - h(x[:, None] - deltas) for h in {id(h): h for h in (self.f, self.g)}.values()]
        mass = pairs[0] * pairs[-1] / (2 * deltas**2)
        if self.even:  # both sides at once; 0 belongs to both
            mass *= np.where(x == 0, 1, 2)[:, None]
        density = np.exp(np.outer(-0.5 / self.variances, x**2)) / np.sqrt(2 * np.pi * self.variances)[:, None]
        found: np.ndarray = density @ mass
        return found


def _parity(f: FloatFunction) -> bool:
    """Whether f is odd or even to all digits of floats at a few hundred points: then the gap's integrand is even."""
    if f.parity:
        return True
    x = np.geomspace(1e-3, min(50.0, f.reach / 2), 300)
    right, left = f(x), f(-x)
    size = 1e-15 * np.abs(right).max()
    return bool((np.abs(right - left) <= size).all() or (np.abs(right + left) <= size).all())


def _coarse(f: FloatFunction, reach: float) -> np.ndarray:
    """Ends of the widest panels on which f is a polynomial of degree 15 to all digits."""
    centres = np.array([0.0, *f.breaks])
    steps = 2.0 ** np.arange(-1, np.ceil(np.log2(reach)) + 1)
    edges = distinct(f.breaks, *(c + s * steps for c in centres for s in (-1, 1)))
    edges = edges[np.abs(edges) <= min(f.reach, 2 * reach)]
    sample: Callable[[np.ndarray], np.ndarray] = f
    return refined(edges, sample, 16, 1e-13, 2000).edges
