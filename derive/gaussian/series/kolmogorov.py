"""The density of the logarithm of a Kolmogorov variable, on complex balls, and its size on lines of a strip."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import flint
from flint import acb, arb

LEFT, RIGHT = -4, 4
"""Beyond these the density is bounded in closed form."""
PANELS = 400


def density(t: acb) -> acb:
    """p(t) = k f(k), k = exp(t), f the density of the Kolmogorov distribution, for |Im t| < pi/4.

    f(k) = 8 k sum_n (-1)^(n-1) n^2 exp(-2 n^2 k^2), or by Jacobi's transformation
    sqrt(2 pi) sum over odd m of (m^2 pi^2/(4 k^4) - 1/k^2) exp(-m^2 pi^2/(8 k^2)), whichever converges faster.
    """
    k = t.exp()
    return _from_large(k) if t.real.mid() > 0 else _from_small(k)


def _from_large(k: acb) -> acb:
    square = k * k
    rate = 2 * square.real.lower()
    total, n = acb(0), 0
    while True:
        n += 1
        total = total + (-1) ** (n - 1) * n * n * (-2 * n * n * square).exp()
        # the ratio of two terms falls with n
        rest = (n + 1) ** 2 * (-((n + 1) ** 2) * rate).exp()
        ratio = arb(n + 2) ** 2 / (n + 1) ** 2 * (-(2 * n + 3) * rate).exp()
        if _done(rest, ratio, n):
            return 8 * square * (total + _disc(rest / (1 - ratio)))


def _from_small(k: acb) -> acb:
    inverse = 1 / (k * k)
    base = arb.pi() ** 2 / 8
    rate, size = base * inverse.real.lower(), inverse.abs_upper()
    total, n = acb(0), 0
    while True:
        m = 2 * n + 1
        total = total + (2 * base * m * m * inverse - 1) * inverse * (-base * m * m * inverse).exp()
        n, m = n + 1, m + 2
        rest = (2 * base * m * m * size + 1) * size * (-m * m * rate).exp()
        ratio = arb(m + 2) ** 2 / m**2 * (-(4 * m + 4) * rate).exp()
        if _done(rest, ratio, n):
            return k * (2 * arb.pi()).sqrt() * (total + _disc(rest / (1 - ratio)))


def _done(rest: arb, ratio: arb, n: int) -> bool:
    if n > 400:
        raise ArithmeticError("the Kolmogorov density was asked for too near to its natural boundary")
    return bool(ratio < 0.5 and rest < arb(2) ** (-flint.ctx.prec))


def _disc(radius: arb) -> acb:
    ball = arb(0, radius.upper())
    return acb(ball, ball)


@lru_cache(maxsize=256)
def line_integral(angle: float, power: int) -> arb:
    """A number above the integral of |exp(-power t) p(t + i angle)| over the real line, 0 < angle < pi/4."""
    with flint.ctx.workprec(53):
        total, height = arb(0), arb(angle)
        for t, size in zip(_panels(), _sizes(angle), strict=True):
            total = total + size * (-power * t).exp().upper()
        total = total * (RIGHT - LEFT) / PANELS
        return (total + _beyond_right(height, power) + _beyond_left(height, power)).upper()


@lru_cache(maxsize=8)
def _sizes(angle: float) -> tuple[arb, ...]:
    """Bounds of |p| on the panels of the line."""
    return tuple(density(acb(t, arb(angle))).abs_upper() for t in _panels())


def _panels() -> list[arb]:
    ends = [LEFT + arb(RIGHT - LEFT) * j / PANELS for j in range(PANELS + 1)]
    return [left.union(right) for left, right in pairwise(ends)]


def _beyond_right(height: arb, power: int) -> arb:
    # with y = exp(2t): |p| dt <= 4 sum n^2 exp(-2 n^2 y cos(2 height)) dy
    cosine, y = (2 * height).cos(), arb(2 * RIGHT).exp()
    return (-power * arb(RIGHT)).exp() * 2 / cosine * (-2 * y * cosine).exp() / (1 - (-6 * y * cosine).exp())


def _beyond_left(height: arb, power: int) -> arb:
    # with y = exp(-2t): |p| dt <= sqrt(2 pi)/2 sum (y^(-1/2) + m^2 pi^2/4 y^(1/2)) exp(-m^2 rate y) dy, and
    # y^a exp(-rate y/2) falls from y = 2 a/rate on
    y, rate = arb(-2 * LEFT).exp(), arb.pi() ** 2 / 8 * (2 * height).cos()
    highest = arb(power + 1) / 2
    if not y > 2 * highest / rate:
        raise ArithmeticError(f"the power {power} is too high")
    sizes = y ** (arb(power - 1) / 2) + arb.pi() ** 2 / 4 * y**highest
    return (arb.pi() / 2).sqrt() * sizes * 2 / rate * (-rate * y).exp() / (1 - (-8 * rate * y).exp())


__all__ = ["density", "line_integral"]
