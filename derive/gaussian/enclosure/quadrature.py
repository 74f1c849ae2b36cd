"""Gauss-Legendre rules in ball arithmetic and their remainders from bounds on Bernstein ellipses."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import flint
from flint import acb, arb

COLUMNS = 6


@lru_cache(maxsize=64)
def rule(n: int, precision: int) -> tuple[tuple[arb, ...], tuple[arb, ...]]:
    """Nodes and weights of the n-point rule on [-1, 1], as balls of the given precision."""
    with flint.ctx.workprec(precision + 10):
        pairs = [arb.legendre_p_root(n, k, weight=True) for k in range(n)]
    return tuple(node for node, _ in pairs), tuple(weight for _, weight in pairs)


@lru_cache(maxsize=256)
def remainder(n: int, rho: float) -> float:
    """A factor k with |integral - rule| <= k M for f on [-1, 1], |f| <= M analytic in the ellipse with parameter rho.

    The Chebyshev coefficients obey |a_j| <= 2 M rho**-j; the n-point rule is exact to degree 2n - 1, odd degrees
    cancel, and both the integral and the rule of T_j are at most 2, the first at most 2/(j**2 - 1)
    (Trefethen, Approximation Theory and Approximation Practice, chapter 19).
    """
    return 4.0001 * (1 + 1 / (4 * n * n - 1)) * rho ** (-2 * n) / (1 - rho**-2)


@lru_cache(maxsize=64)
def ellipse(rho: float) -> tuple[acb, ...]:
    """Boxes that cover the upper half of the Bernstein ellipse of [-1, 1] with parameter rho, filled.

    The lower half is the mirror image: functions real on the real line have the same modulus there.
    """
    with flint.ctx.workprec(53):
        wide, tall = (rho + 1 / rho) / 2 * (1 + 1e-12), (rho - 1 / rho) / 2 * (1 + 1e-12)
        boxes = []
        for k in range(COLUMNS):
            left, right = (-wide + 2 * wide * j / COLUMNS for j in (k, k + 1))
            inner = 0.0 if left <= 0 <= right else min(abs(left), abs(right))
            height = tall * (1 - (inner / wide) ** 2) ** 0.5 * (1 + 1e-12)
            boxes.append(acb(arb(left).union(arb(right)), arb(0).union(arb(height))))
        return tuple(boxes)


def best_bound(
    sizes: Callable[[acb], tuple[float, float]], n: int, rhos: tuple[float, ...], enough: float
) -> tuple[float, float]:
    """The least remainder over the ellipses tried, and the supremum of the modulus that goes with it.

    `sizes(box)` bounds the modulus of the integrand and of the function alone on a box (inf if not analytic there).
    """
    best = float("inf"), float("inf")
    for rho in rhos:
        worst, plain = 0.0, 0.0
        for box in ellipse(rho):
            integrand, alone = sizes(box)
            worst, plain = max(worst, integrand), max(plain, alone)
            if not worst < float("inf"):
                break
        best = min(best, (remainder(n, rho) * worst, plain))
        if best[0] <= enough:
            break
    return best


def upper(x: acb | arb) -> float:
    """An upper bound of the modulus as a float (inf where it is not finite)."""
    if not x.is_finite():
        return float("inf")
    return float(x.abs_upper()) * (1 + 1e-15)
