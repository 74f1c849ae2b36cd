"""A function of x as a fast float function, and its Gaussian moments as functions of the variance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import flint
import numpy as np
from sympy import Expr

from derive.activation.pieces import piece_function
from derive.depth.grid_panels import Panels, distinct, gauss, nodes, refined
from derive.program.evaluate import plan
from derive.records import Unsupported

OCTAVES = 2.0 ** np.arange(-24, 24)
DEGREE = 16
MOST_PANELS = 800
DIGITS = 1e-16
"""Relative radius of a ball beyond which it is asked again at 256 bits."""
SPREAD = 9.0
"""Standard deviations that a Gaussian is followed to: its tail beyond is under 1e-18."""
LOWEST, HIGHEST, PER_DECADE = -12, 12, 2
"""Decades of the variance, and panels a decade."""


@dataclass(frozen=True)
class FloatFunction:
    """A function of x from balls: an interpolant to about 1e-15 of each panel's largest value.

    panels  edges at 0, at breakpoints, on octaves away from them, halved where the function needs it
    breaks  its breakpoints
    parity  1 where it is proved even, -1 odd, else 0
    """

    panels: Panels
    breaks: tuple[float, ...]
    parity: int = 0

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return self.panels(x)

    @cached_property
    def reach(self) -> float:
        """The distance from 0 up to which it is finite and resolved on both sides."""
        bad = ~(np.isfinite(self.panels.coefficients).all(1) & (self.panels.tails < 1e-11))
        left, right = self.panels.edges[:-1][bad], self.panels.edges[1:][bad]
        ends = [-self.panels.edges[0], self.panels.edges[-1], *left[left >= 0], *(-right[right <= 0])]
        inner = [0.0 for a, b in zip(left, right, strict=True) if a < 0 < b]
        return float(min([*ends, *inner]))


def float_function(body: Expr, values: Mapping[str, Any]) -> FloatFunction:
    """The function with numbers for its parameters. Raises Unsupported where it is undefined near 0."""
    given = {s.name: values[s.name] for s in body.free_symbols if s.name in values}
    with flint.ctx.workprec(64):
        f = piece_function(body, given)
        breaks = [float(b.mid()) for b in f.breaks]

        runs = [(plan(program), [flint.acb(f.values[name]) for name in program.inputs[1:]]) for program in f.programs]

        def value(x: float, piece: int) -> float:
            run, parameters = runs[piece]
            found = run([flint.acb(x), *parameters])[0].real
            if not found.is_finite():
                found = f.value(piece, flint.acb(x), False).real
            if found.rad() > DIGITS * abs(found.mid()):  # log(1 + x^2) at a small x: it cancels
                with flint.ctx.workprec(256):
                    found = f.value(piece, flint.acb(x), False).real
            return float(found.mid())

        def sample(points: np.ndarray) -> np.ndarray:
            piece = np.searchsorted(breaks, points)
            return np.array([value(x, int(i)) for x, i in zip(points, piece, strict=True)])

        centres = [0.0, *breaks]
        edges = distinct(centres, *(c + s * OCTAVES for c in centres for s in (-1, 1)))
        edges = edges[np.concatenate([[True], np.diff(edges) > 1e-12 * np.abs(edges[1:]) + 1e-300])]
        parity = {"even": 1, "odd": -1}.get(f.parity or "", 0)
        if parity:
            panels = refined(edges[edges >= 0], sample, DEGREE, 1e-14, MOST_PANELS // 2).mirrored(parity)
        else:
            panels = refined(edges, sample, DEGREE, 1e-14, MOST_PANELS)
    made = FloatFunction(panels, tuple(breaks), parity)
    if not made.reach > 0:
        raise Unsupported("a function that is not resolved in floats near 0", where=str(body))
    return made


def log_edges(low: float, high: float, per_decade: int = PER_DECADE) -> np.ndarray:
    """Ends of panels in the logarithm that cover [low, high]."""
    first, last = np.floor(np.log10(low) * per_decade), np.ceil(np.log10(high) * per_decade)
    return np.arange(first, max(last, first + 1) + 1) / per_decade * np.log(10)


@dataclass(frozen=True)
class Moment:
    """v -> E f(sqrt(v) Z) for one function; NaN outside the variances at which it is resolved.

    table     over log v: the logarithm of the moment where it is positive throughout, else the moment
    slope     over log v: d/dlog v of the same
    positive  which of the two
    """

    table: Panels
    slope: Panels
    positive: bool

    def __call__(self, v: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            found = self.table(np.log(v))
        return np.exp(found) if self.positive else found

    def derivative(self, v: np.ndarray, value: np.ndarray | None = None) -> np.ndarray:
        """d/dv; `value` is the moment there, where it is known."""
        with np.errstate(divide="ignore", invalid="ignore"):
            found = self.slope(np.log(v)) / v
        return found * (self(v) if value is None else value) if self.positive else found

    @property
    def range(self) -> tuple[float, float]:
        """The variances between which it has values."""
        first, last = np.exp(self.table.edges[[0, -1]])
        return float(first), float(last)


def moment(f: FloatFunction, degree: int = 20) -> Moment:
    """E f(sqrt(v) Z) and its logarithmic slope E f(sqrt(v) Z)(Z^2 - 1)/2 over the resolved variances."""
    edges = log_edges(10.0**LOWEST, 10.0**HIGHEST)
    points = nodes(edges, degree)
    v = np.exp(points.ravel())
    inside = f.panels.edges[(f.panels.edges >= -f.reach) & (f.panels.edges <= f.reach)]
    if f.parity == 1:
        inside = inside[inside >= 0]
    x, weights = gauss(inside)
    weights = weights * (2 if f.parity == 1 else 1)
    mass = weights * f(x)
    constant = float(f(np.array([0.0]))[0])
    total, slope, last = np.empty_like(v), np.empty_like(v), np.empty_like(v)
    outer = (x > inside[-2]) | ((x < inside[1]) & (f.parity != 1))
    for start in range(0, len(v), 64):
        part = slice(start, start + 64)
        near = np.abs(x) < 13 * np.sqrt(v[part].max())
        z2 = x[near] ** 2 / v[part, None]
        density = np.exp(-z2 / 2) / np.sqrt(2 * np.pi * v[part, None])
        total[part] = density @ mass[near]
        slope[part] = (density * (z2 - 1)) @ (mass - constant * weights)[near] / 2
        last[part] = density[:, outer[near]] @ np.abs(mass[near & outer])
    good = (last <= 1e-16 * np.abs(total) + 1e-300) & (v * SPREAD**2 <= f.reach**2)
    positive = bool((total[good] > 0).all())
    if positive:
        with np.errstate(divide="ignore", invalid="ignore"):
            slope, total = slope / total, np.log(total)
    both = np.stack([total, slope], 1).reshape(*points.shape, 2)
    kept = good.reshape(points.shape).all(1)
    first = int(np.argmax(kept))
    count = int(np.argmin(np.append(kept[first:], False)))
    if not count:
        raise Unsupported("an expectation that floats do not resolve at any variance")
    bounds = edges[first : first + count + 1]
    value, change = (Panels.fit(bounds, both[first : first + count, :, i]) for i in (0, 1))
    return Moment(value, change, positive)
