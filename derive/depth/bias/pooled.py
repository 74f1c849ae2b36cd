"""Functions of the largest of k units in floats: E f(max), and the gap of a pair, for whole arrays of variances.

The gap comes from its slope in the angle between two inputs, c = cos(theta): d/dc E f(max u) g(max v) =
v k E f'(u_1) g'(v_1) Phi_2(u_1, v_1; c)^(k-1) (Price 1958; the other k - 1 pairs are below the winners), which is
positive for f = g monotone, so that nothing cancels as c -> 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from sympy import Expr, Integer, Lambda, Symbol

from derive.activation.normal_form import derivative, normal_form, to_piecewise
from derive.depth.bias.normal import bivariate_cdf, cdf
from derive.depth.grid_functions import SPREAD, FloatFunction
from derive.depth.grid_maps import E, Gap, TemplateMaps, gap_of
from derive.depth.grid_panels import Panels, gauss, nodes
from derive.gaussian.maxima.pairs import paired
from derive.gaussian.maxima.recognise import exchangeable, recognise
from derive.gaussian.node import GaussianE
from derive.gaussian.numbers import outermost
from derive.program.symbols import Q1, Q2, K, Q
from derive.records import Unsupported

ANGLES = 40
SECTOR = 20
VARIANCES = 12


def pooled_gap(second: Expr, cross: Expr) -> Gap:
    """`gap_of` where cross moments may also be of the largest of k units behind the pre-activations themselves."""
    equal = {Q1: Q, Q2: Q}
    second, cross = (e.xreplace(equal).xreplace({K: Q * (1 - E)}) for e in (second, cross))
    inner, swaps = [], {}
    for node in outermost(cross):
        if not isinstance(node, GaussianE) or node.cov.rows < 4:
            continue
        found = paired(node)
        if found is None or found.first.of_one or found.q1 != Q:
            raise Unsupported("an expectation over more than two units, over a whole grid", where=str(node)[:80])
        symbol = Symbol(f"_pool{len(inner)}", real=True)
        k = found.first.k
        body = node.body
        us, vs = node.variables[:k], node.variables[k:]
        both = body.xreplace(dict(zip(vs, us, strict=True)))
        law = [[Q if i == j else Integer(0) for j in range(k)] for i in range(k)]
        swaps[node] = GaussianE(Lambda(us, both), law) - symbol
        inner.append((symbol, node, Gap(Q * E)))
    if not inner:
        return gap_of(second, cross)
    rest = cross.xreplace(swaps)
    if any(isinstance(node, GaussianE) and node.cov.rows == 2 and node.cov[0, 1] != 0 for node in outermost(rest)):
        raise Unsupported("pooled and other functions of pairs side by side, over a whole grid")
    return Gap((second - rest).expand(), tuple(inner))


@dataclass(frozen=True)
class LargestMoment:
    """v -> E f(sqrt(v) M), M the largest of k standard normals (or f on the event that the first one is)."""

    f: FloatFunction
    k: int
    count: int

    def __call__(self, v: Any) -> Any:
        return self._mean(v, lambda z, p, d: p)

    def derivative(self, v: Any, value: Any = None) -> Any:
        """d/dv, by the density's: no derivative of f."""
        k = self.k

        def change(z: np.ndarray, p: np.ndarray, d: np.ndarray) -> np.ndarray:
            # (z^2 - 1)/2 - (k-1) z d/(2 p) times p^(k-1): the logarithmic slope of density and powers of Phi
            return p * (z * z - 1) / 2 - (k - 1) * z * d / 2

        return self._mean(v, change, k - 2) / np.asarray(v, float)

    def _mean(self, v: Any, weight: Any, power: int | None = None) -> Any:
        v = np.asarray(v, float)
        flat, where = np.unique(v.ravel(), return_inverse=True)
        inside = self.f.panels.edges[(self.f.panels.edges >= -self.f.reach) & (self.f.panels.edges <= self.f.reach)]
        power = self.k - 2 if power is None else power
        found = np.empty(len(flat))
        for i, variance in enumerate(flat):
            root = np.sqrt(variance)
            cuts = np.concatenate([inside, root * np.linspace(-SPREAD, SPREAD, 25)])
            x, w = gauss(np.unique(cuts[np.abs(cuts) <= SPREAD * root]))
            z = x / root
            p, d = cdf(z), np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
            with np.errstate(invalid="ignore"):
                found[i] = self.count * np.sum(w / root * d * self.f(x) * weight(z, p, d) * p**power)
        return found[where].reshape(v.shape)


@dataclass(frozen=True)
class LargestCurve:
    """t -> gap/(v t^2) and its slope for n variances: coefficients (n, ANGLES) in theta, t^2 = 1 - cos(theta)."""

    coefficients: np.ndarray

    def __getitem__(self, which: Any) -> LargestCurve:
        return LargestCurve(self.coefficients[which])

    def __call__(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        theta = 2 * np.arcsin(np.minimum(t, 1) / np.sqrt(2))
        local = 4 * theta / np.pi - 1
        basis = chebyshev.chebvander(local, ANGLES - 1)
        slopes = chebyshev.chebder(self.coefficients, axis=1)
        value = (basis * self.coefficients).sum(1)
        change = (basis[:, :-1] * slopes).sum(1) * 4 / np.pi
        # dtheta/dt = sqrt(2)/cos(theta/2)
        return value, change * np.sqrt(2) / np.cos(theta / 2)


@dataclass(frozen=True)
class LargestGap:
    """The gap of a pair of maxima for variances in a range."""

    edges: np.ndarray
    coefficients: np.ndarray

    def at(self, v: np.ndarray) -> LargestCurve:
        """The curves at an array of variances."""
        grid = Panels(self.edges, self.coefficients)
        panel, local = grid.locate(np.log(v))
        basis = chebyshev.chebvander(local, VARIANCES - 1)
        return LargestCurve(np.einsum("nk,nka->na", basis, self.coefficients[panel]))

    def ratio(self, v: np.ndarray, t: np.ndarray) -> np.ndarray:
        """gap/(v t^2) at one t for each variance."""
        return self.at(v)(t)[0]


def largest_gap(f: FloatFunction, k: int, edges: np.ndarray) -> LargestGap:
    """The table over panels of log v; f is the derivative of the function of the largest unit.

    Raises Unsupported for kinks of it away from 0, whose lines cross the rule's sectors.
    """
    if any(abs(b) > 0 for b in f.breaks):
        raise Unsupported("the largest of several units behind a function with kinks away from 0, over a whole grid")
    v = np.exp(nodes(edges, VARIANCES).ravel())
    x = np.cos(np.pi * (np.arange(ANGLES) + 0.5) / ANGLES)
    angles = (x + 1) * np.pi / 4
    tangent = np.stack([_tangent(f, k, float(theta), v) for theta in angles])
    series = chebyshev.chebfit(x, tangent, ANGLES - 1)
    if np.abs(series[-2:]).max() > 1e-10 * np.abs(series).max():
        raise Unsupported("the correlation map of the largest of several units at these variances", why="not resolved")
    share, weights = np.polynomial.legendre.leggauss(40)
    rows = []
    for theta in angles:
        inner = theta * (share + 1) / 2
        values = chebyshev.chebval(4 * inner / np.pi - 1, series)
        rows.append((values * np.sin(inner) * weights).sum(-1) * theta / 2 / (2 * np.sin(theta / 2) ** 2))
    curves = chebyshev.chebfit(x, np.array(rows), ANGLES - 1).T
    return LargestGap(edges, Panels.fit(edges, curves.reshape(len(edges) - 1, VARIANCES, ANGLES)).coefficients)


def _tangent(f: FloatFunction, k: int, theta: float, v: np.ndarray) -> np.ndarray:
    """k E f'(u_1) f'(v_1) Phi_2^(k-1) in polar coordinates whose sectors end on the lines u = 0 and v = 0."""
    lines = np.array([0, (np.pi - theta) / 2, (np.pi + theta) / 2, np.pi])
    order = SECTOR + int(8 * np.sqrt(v.max()))
    share, weights = np.polynomial.legendre.leggauss(order)
    psi = ((lines[:-1, None] + lines[1:, None]) / 2 + np.diff(lines)[:, None] / 2 * share).ravel()
    mass = (np.diff(lines)[:, None] / 2 * weights).ravel()
    least = min(1.0, 1 / float(np.sqrt(v.max())))
    rings = np.concatenate([[0.0, least], np.geomspace(2.5 * least, SPREAD, 4)])
    r, dr = gauss(rings)
    u, w = (r[:, None] * np.cos(psi + shift) for shift in (theta / 2, -theta / 2))
    weight = 2 * (dr * r * np.exp(-r * r / 2))[:, None] * mass / (2 * np.pi)
    slopes = [f(np.sqrt(s) * u) * f(np.sqrt(s) * w) for s in v]
    seen = np.any([product != 0 for product in slopes], 0)
    weight = weight[seen] * bivariate_cdf(u[seen], w[seen], float(np.cos(theta))) ** (k - 1)
    return np.array([k * np.sum(weight * product[seen]) for product in slopes])


@dataclass(frozen=True)
class PooledMaps(TemplateMaps):
    """`TemplateMaps` of blocks that pool over the largest of k units."""

    tables: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    def moment(self, node: Expr) -> Any:
        """E f(max) as a function of the variance."""
        if not isinstance(node, GaussianE) or node.cov.rows == 1:
            return super().moment(node)
        law, found = exchangeable(node), recognise(node.body, node.variables)
        if law is None or law[1] != 0 or found is None:
            raise Unsupported("an expectation over more than one unit, over a whole grid", where=str(node)[:80])
        return LargestMoment(self.function(found.body), found.k, 1 if found.of_one else found.k)

    def gaps(self, node: GaussianE, v: np.ndarray) -> Any:
        """The table of a pair of maxima, kept for all variances met so far."""
        found = paired(node)
        if found is None:
            return super().gaps(node, v)
        slope, steps = derivative(normal_form(found.first.body))
        if steps:
            raise Unsupported("the largest of several units behind a function that jumps, over a whole grid")
        key = (found.first.body, found.first.k)
        first, last = np.floor(2 * np.log10(v.min())), np.ceil(2 * np.log10(v.max()))
        kept = self.tables.get(key)
        if kept is None or first < kept[0] or last > kept[1]:
            first, last = (first, last) if kept is None else (min(first, kept[0]), max(last, kept[1]))
            edges = np.arange(first, max(last, first + 1) + 1) / 2 * np.log(10)
            self.tables[key] = kept = (first, max(last, first + 1), largest_gap(self._slope_of(slope), key[1], edges))
        return kept[2]

    def pair_reach(self, node: GaussianE) -> float:
        """The same for a pair of maxima, whose table is made of the slope's values."""
        found = paired(node)
        if found is None:
            return super().pair_reach(node)
        return self._slope_of(derivative(normal_form(found.first.body))[0]).reach

    def _slope_of(self, slope: Any) -> FloatFunction:
        return self.function(to_piecewise(slope))


__all__ = ["PooledMaps", "pooled_gap"]
