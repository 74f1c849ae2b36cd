"""Panels next to a singular end on the grid of two variables: product integration with the function as weight."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, floor, inf, log2
from typing import TYPE_CHECKING

import flint
from flint import acb, arb

from derive.gaussian.enclosure.corners import Approach, beyond, corner_integral, is_integrable
from derive.gaussian.enclosure.quadrature import ellipse, rule

if TYPE_CHECKING:
    from derive.gaussian.enclosure.prepared import Analysed

UP = 1 + 1e-9
RHOS = (8.0, 16.0, 32.0)
HALVINGS = 12


@dataclass(frozen=True)
class Panel:
    """An interval centre +- half of a standardised variable, the piece on it, a bound of |f| there, the remainder.

    A panel that is `tiny` (next to a singularity) has no nodes: its remainder bounds its whole contribution.
    One next to a corner has weights of its own, the function times the rule; its size is a bound of the mean of |f|.
    """

    centre: arb
    half: arb
    piece: int
    size: float
    remainder: float
    tiny: bool = False
    weights: tuple[arb, ...] = ()


@dataclass(frozen=True)
class Setting:
    """What panels depend on: f(sigma x) against densities at most exp(-a^2 damping + b^2/(2 s^2)) at a + ib."""

    f: Analysed
    sigma: arb
    n: int
    damping: float
    small_sq: float


def corner_panel(
    setting: Setting, near: Approach, place: arb, piece: int, side: int, width: float, goal: float
) -> Panel | None:
    """A panel from a singular end at `place` over at most the width, with a remainder under the goal, or None.

    The weights W_i = sum_k (k + 1/2) w_i P_k(x_i) m_k with the moments m_k of f against Legendre polynomials, k < n,
    integrate f times polynomials of degree < n exactly. A density G is its Chebyshev sum of degree n - 1 up to
    e <= 2 M rho**(1 - n)/(rho - 1), M its supremum on the ellipse with parameter rho (Trefethen, Approximation Theory
    and Approximation Practice, theorem 8.2); both the integral and the rule of the rest are at most e times the
    integral of |f| and the sum of |W_i|.
    """
    if not is_integrable(near):
        return None
    b, count = near.growth.b.max(arb(0)), near.growth.n
    deep = near.start.max(2 * count / (1 - b)).upper()  # from there on the bound of the integral of |f| is good
    widest = min(width / 2, float((-deep).exp() / setting.sigma / 2))
    half = arb(2) ** int(floor(log2(widest)))
    for _ in range(HALVINGS):
        factor = _best_approximation(setting, place + side * half, half)
        mass = float(_mass(setting, near, half)) * UP
        if factor * mass * 3 <= goal:
            weights = _weights(setting, near, side, half, goal)
            total = sum(float(abs(w).upper()) for w in weights) * UP
            error = factor * (mass + total) + sum(float(w.rad()) for w in weights)
            if error <= goal:
                size = max(mass, total) / float(2 * half) * UP
                return Panel(place + side * half, half, piece, size, error, weights=weights)
        half = half / 2
    return None


def _mass(setting: Setting, near: Approach, half: arb) -> arb:
    """A bound of the integral of |f(sigma x)| over the panel."""
    return beyond(near, (-(2 * half * setting.sigma).log()).lower()) / setting.sigma


def _best_approximation(setting: Setting, centre: arb, half: arb) -> float:
    """How well polynomials of degree < n approximate the densities on the panel, at least."""
    best = inf
    for rho in RHOS:
        largest = 0.0
        for box in ellipse(rho):
            z = centre + half * box
            a, b = float(z.real.abs_lower()), float(z.imag.abs_upper())
            exponent = -a * a * setting.damping / UP + b * b / (2 * setting.small_sq) * UP
            largest = max(largest, exp(exponent) * UP if exponent < 300 else inf)
        best = min(best, 2 * largest * rho ** (1 - setting.n) / (rho - 1) * UP)
    return best


def _weights(setting: Setting, near: Approach, side: int, half: arb, goal: float) -> tuple[arb, ...]:
    nodes, weights = rule(setting.n, flint.ctx.prec)
    length, tolerance = 2 * half * setting.sigma, arb(goal) * setting.sigma / (100 * setting.n)
    moments = []
    for k in range(setting.n):

        def legendre(share: acb, k: int = k) -> acb:
            return _legendre(k, side * (2 * share - 1))

        moments.append(corner_integral(near, legendre, arb(1), length, tolerance) / setting.sigma)
    found = []
    for node, weight in zip(nodes, weights, strict=True):
        total = arb(0)
        for k, moment in enumerate(moments):
            total += (arb(k) + arb(0.5)) * _legendre(k, node) * moment
        found.append(total * weight)
    return tuple(found)


def _legendre(k: int, x):
    """P_k by the recurrence (j + 1) P_{j+1} = (2j + 1) x P_j - j P_{j-1}."""
    before, now = x * 0, x * 0 + 1
    for j in range(k):
        before, now = now, ((2 * j + 1) * x * now - j * before) / (j + 1)
    return now
