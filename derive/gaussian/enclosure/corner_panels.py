"""Panels next to a singular end on the grid of two variables: product integration with the function as weight."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, exp, floor, inf, log2
from typing import TYPE_CHECKING

import flint
from flint import arb

from derive.gaussian.enclosure.corners import Approach, beyond, corner_integral, depth, is_integrable
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
    widest = min(width * float(setting.sigma.lower()), float((-depth(near)).exp().lower()))
    length = arb(2) ** floor(log2(widest))
    for _ in range(HALVINGS):
        half = length / setting.sigma / 2
        factor = _best_approximation(setting, place + side * half, half)
        mass = float((beyond(near, -length.log()) / setting.sigma).upper()) * UP
        if factor * mass * 3 <= goal:
            weights = _weights(setting, near, (piece, side), length, goal)
            total = sum(float(abs(w).upper()) for w in weights) * UP
            error = factor * (mass + total) + sum(float(w.rad()) for w in weights)
            if error <= goal:
                size = max(mass, total) / float(2 * half) * UP
                return Panel(place + side * half, half, piece, size, error, weights=weights)
        length = length / 2
    return None


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


def _weights(setting: Setting, near: Approach, place: tuple[int, int], length: arb, goal: float) -> tuple[arb, ...]:
    """The weights of the rule, the change of variable included."""
    nodes, weights = rule(setting.n, flint.ctx.prec)
    moments = _legendre_moments(setting, near, place, length, goal)
    found = []
    for node, weight in zip(nodes, weights, strict=True):
        before, now, total = arb(0), arb(1), arb(0)
        for k, moment in enumerate(moments):
            total += (2 * k + 1) * now * moment
            before, now = now, ((2 * k + 1) * node * now - k * before) / (k + 1)
        found.append(total * weight / (2 * setting.sigma))
    return tuple(found)


def _legendre_moments(
    setting: Setting, near: Approach, place: tuple[int, int], length: arb, goal: float
) -> tuple[arb, ...]:
    """The integrals of f(e + side*t) P_k(x) over 0 < t < length, x = side*(2t/length - 1), for k < n.

    P_k(2r - 1) = sum_j (-1)^(k + j) binom(k, j) binom(k + j, j) r^j; the powers of r = t/length keep the integrands
    positive multiples of f, and the digits that the sum cancels are carried in addition.
    """
    f, n, (piece, side) = setting.f, setting.n, place
    mirrored = f.parity != 0 and side < 0 and len(f.breaks) % 2 == 1 and 2 * piece == len(f.breaks) - 1
    if mirrored:
        near, sign = f.corner(piece + 1, 1) or near, f.parity
    key = "moments", piece + mirrored, 1 if mirrored else side, length.man_exp(), n, flint.ctx.prec
    memo = getattr(f, "memo", {})
    if key not in memo or memo[key][0] > goal:
        tolerance = arb(goal) * setting.sigma / (100 * n) / 6**n
        with flint.ctx.extraprec(int(2.6 * n) + 10):
            powers = [corner_integral(near, _power(j), arb(1), length, tolerance) for j in range(n)]
            memo[key] = goal, [_combined(powers, k) for k in range(n)]
    moments = memo[key][1]
    if mirrored:
        moments = [sign * moment for moment in moments]
    return tuple(moment if side > 0 or k % 2 == 0 else -moment for k, moment in enumerate(moments))


def _power(j: int):
    return lambda share: share**j


def _combined(powers: list[arb], k: int) -> arb:
    return sum(((-1) ** (k + j) * comb(k, j) * comb(k + j, j) * powers[j] for j in range(k + 1)), arb(0))
