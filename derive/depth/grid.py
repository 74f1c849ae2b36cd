"""A phase diagram on a grid of (sigma_w, sigma_b): fixed points, gradient gain, correlations and depth scales."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from derive.depth.grid_maps import GridMaps
from derive.depth.grid_roots import ENDLESS, NOISE, Roots, roots

Array = Any
VARIANCE = ("vanishing", "bounded", "unbounded", "unsettled")
GRADIENT = ("vanishing", "critical", "exploding", "none")
GEOMETRY = ("c -> 1, exponentially", "c -> 1, as a power law", "c -> c* < 1, exponentially", "none")
CRITICAL = 1e-10
"""|chi - 1| below which floats cannot tell the sides apart."""


@dataclass(frozen=True, eq=False)
class PhaseGrid:
    """Arrays over sigma_b (rows) and sigma_w (columns); floats, agreeing with certified numbers to about 1e-10.

    q             the fixed point that q0 is attracted to: 0 where the variance vanishes, inf where it is unbounded
    count         the number of positive, finite fixed points
    fixed_points  all of them, ascending in the last axis, padded with NaN
    separatrix    the variance above which the signal leaves the attractor's basin upwards; inf where there is none.
                  Where q0 itself explodes: the fixed point below q0 from which on it does; NaN where every
                  variance explodes, where V falls somewhere, or is not resolved as far out as it may lie
    chi           gradient gain at q (its limit where q is 0); NaN where q is inf
    chi_parallel  slope of V there
    c             the attracting correlation; NaN where q is not a positive fixed point, or pairs are not resolved
    xi_q, xi_c    depth scales in layers, inf where critical
    variance, gradient, geometry  labels as indices into VARIANCE, GRADIENT, GEOMETRY
    q0            the starting variance
    """

    sigma_w: Array
    sigma_b: Array
    q: Array
    count: Array
    fixed_points: Array
    separatrix: Array
    chi: Array
    chi_parallel: Array
    c: Array
    xi_q: Array
    xi_c: Array
    variance: Array
    gradient: Array
    geometry: Array
    q0: float


def phase_grid(maps: GridMaps, sigma_w: Array, sigma_b: Array, q0: float = 1.0) -> PhaseGrid:
    """The grid for any object with the maps of a block.

    All roots of V(q) = q between 1e-11.9 and 1e10.9 by sign changes and extrema; c* as the one root of
    (1 - C)/(1 - c) = 1 below 1 where chi > 1 (C is convex on [0, 1]; Poole et al. 2016, arXiv 1606.05340);
    xi = -1/ln|slope| (Schoenholz et al. 2017, arXiv 1611.01232, eqs. 7 and 9).
    """
    shape = (len(sigma_b), len(sigma_w))
    w, b = (a.ravel() for a in np.meshgrid(np.asarray(sigma_w, float), np.asarray(sigma_b, float)))
    found = roots(maps, w, b)
    q, variance, above = attractors(maps, found, w, b, q0)
    inside = np.flatnonzero((q > 0) & np.isfinite(q))
    chi, parallel, c, xi_c = (np.full(len(q), np.nan) for _ in range(4))
    chi[inside] = maps.gain(q[inside], w[inside], b[inside])
    parallel[inside] = maps.slope(q[inside], w[inside], b[inside])
    zero = np.flatnonzero(q == 0)
    chi[zero] = maps.gain(np.full(len(zero), 1e-11), w[zero], b[zero])
    parallel[zero] = maps.slope(np.full(len(zero), 1e-11), w[zero], b[zero])
    gradient = np.select([np.isnan(chi), np.abs(chi - 1) < CRITICAL, chi < 1], [3, 1, 0], 2)
    geometry = np.where(np.isfinite(q) & (q > 0), gradient, 3)
    ordered = inside[chi[inside] <= 1]
    c[ordered], xi_c[ordered] = 1.0, depth_scale(chi[ordered])
    chaotic = inside[(chi[inside] > 1) & (gradient[inside] != 1)]
    c[chaotic], slopes = correlations(maps, q[chaotic], w[chaotic], b[chaotic])
    xi_c[chaotic] = depth_scale(slopes)
    arrays = (q, found.count, above, chi, parallel, c, depth_scale(parallel), xi_c, variance, gradient, geometry)
    values = [array.reshape(shape) for array in arrays]
    points = found.q.reshape(*shape, -1)
    sides = [np.asarray(sigma_w, float), np.asarray(sigma_b, float)]
    names = (field.name for field in fields(PhaseGrid))
    return PhaseGrid(**dict(zip(names, [*sides, *values[:2], points, *values[2:], float(q0)], strict=True)))


def attractors(maps: GridMaps, found: Roots, w: Array, b: Array, q0: float) -> tuple[Array, Array, Array]:
    """Where q0 is carried to (0, a fixed point, inf), its label, and the separatrix."""
    with np.errstate(invalid="ignore"):
        move = np.log(maps.variance(np.full(len(w), float(q0)), w, b) / q0)
        close = np.abs(found.q / q0 - 1) < 1e-12
        above = np.where(found.q > q0, found.q, np.inf).min(1)
        below = np.where(found.q < q0, found.q, 0.0).max(1, initial=0.0)
    q = np.where(close.any(1) | (np.abs(move) < NOISE), q0, np.where(move > 0, above, below))
    q[np.isinf(q) & found.open] = np.nan
    turning = np.flatnonzero(~found.rises)
    if len(turning):
        q[turning] = _followed(maps, found.q[turning], w[turning], b[turning], q0)
    label = np.select([np.isnan(q), q == 0, np.isinf(q)], [3, 0, 2], 1)
    with np.errstate(invalid="ignore"):
        edge = np.where(found.q > q[:, None] * (1 + 1e-9), found.q, np.inf).min(1)
    edge[np.isnan(q) | (np.isinf(edge) & found.open)] = np.nan
    return q, label, np.where(np.isinf(q), np.where(found.rises & (below > 0), below, np.nan), edge)


def _followed(maps: GridMaps, points: Array, w: Array, b: Array, q0: float, layers: int = 2000) -> Array:
    """Where iterating V leads where V falls somewhere; NaN where it does not settle."""
    q = np.full(len(w), float(q0))
    for _ in range(layers):
        with np.errstate(invalid="ignore"):
            after = maps.variance(np.clip(q, 2e-12, 5e10), w, b)
        done = np.abs(after - q) <= 1e-13 * q
        q = after
        if done.all():
            break
    distance = np.abs(points / q[:, None] - 1)
    nearest = np.nanargmin(np.where(np.isnan(distance), np.inf, distance), 1)
    settled = np.take_along_axis(distance, nearest[:, None], 1)[:, 0] < 1e-6
    at = np.take_along_axis(points, nearest[:, None], 1)[:, 0]
    return np.select([settled, q < 1e-11, q > ENDLESS], [at, 0.0, np.inf], np.nan)


def correlations(maps: GridMaps, q: Array, w: Array, b: Array) -> tuple[Array, Array]:
    """c* < 1 and C'(c*) at fixed points with chi > 1: safeguarded Newton steps in t = sqrt(1 - c).

    NaN where the maps have a method `resolves_pairs` that says no.
    """
    resolved = maps.resolves_pairs(q, w, b) if hasattr(maps, "resolves_pairs") else np.ones(len(q), bool)
    if not resolved.all():
        found, slopes = np.full(len(q), np.nan), np.full(len(q), np.nan)
        found[resolved], slopes[resolved] = correlations(maps, q[resolved], w[resolved], b[resolved])
        return found, slopes
    if not len(q):
        return np.empty(0), np.empty(0)
    ratio = maps.contraction(q, w, b)
    low, high = np.zeros(len(q)), np.ones(len(q))
    t = np.full(len(q), 0.5)
    busy = np.arange(len(q))
    value, slope = ratio(busy, np.ones(len(q)))
    t[value >= 1 - 1e-13] = 1.0  # C(0) = 0: the correlation dies
    busy = busy[value < 1 - 1e-13]
    for _ in range(60):
        if not len(busy):
            break
        here = t[busy]
        value, slope = ratio(busy, here)
        too_small = value > 1
        low[busy] = np.where(too_small, here, low[busy])
        high[busy] = np.where(too_small, high[busy], here)
        with np.errstate(divide="ignore", invalid="ignore"):
            change = 2 * (slope - value) / here  # d/dt of (1 - C)/t^2
            step = here - (value - 1) / change
        good = (step > low[busy]) & (step < high[busy])
        new = np.where(good, step, (low[busy] + high[busy]) / 2)
        t[busy] = new
        busy = busy[(np.abs(new - here) > 1e-14 * here) & (high[busy] - low[busy] > 1e-15)]
    _, slope = ratio(np.arange(len(q)), t)
    return 1 - t * t, slope


def depth_scale(slope: Array) -> Array:
    """-1/ln|slope|: inf at 1, 0 at 0, NaN where there is no decay."""
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.abs(slope)
        return np.where(np.abs(size - 1) < CRITICAL, np.inf, -1 / np.log(size))
