"""A pair of maxima at c = -1: the largest of the units at one input is the smallest at the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flint import acb, arb

from derive.gaussian.enclosure.growth import tail
from derive.gaussian.enclosure.quadrature import upper
from derive.gaussian.maxima.cells import Line, heights, integral
from derive.gaussian.maxima.mehler import normal_cdf
from derive.gaussian.maxima.rotated import Side, scaled


@dataclass(frozen=True, eq=False)
class Opposite:
    """f(y) g(-x) k (k - 1) phi(x) phi(y) (Phi(y) - Phi(x))^(k-2) over x < y: smallest and largest of k units.

    The joint density of the extremes is that of David & Nagaraja 2003, Order Statistics, eq. 2.2.1.
    """

    first: Side
    second: Side
    k: int

    def pieces(self, x: arb, y: arb) -> tuple[int, int] | None:
        """The pieces of both functions; None where x > y."""
        at = self.first.sigma * y, -self.second.sigma * x
        found = [sum(1 for e in side.h.breaks if e.mid() < z.mid()) for side, z in zip(self._sides, at, strict=True)]
        return (found[0], found[1]) if x < y else None

    @property
    def _sides(self) -> tuple[Side, Side]:
        return self.first, self.second

    def row(self, y: arb) -> arb:
        """phi(y) Phi-values that the row shares."""
        return normal_cdf(y)

    def value(self, x: arb, y: arb, row: arb, p: Any) -> arb:
        """The integrand."""
        if p is None:
            return arb(0)
        f = self.first.h.value(p[0], acb(self.first.sigma * y), False).real
        g = self.second.h.value(p[1], acb(-self.second.sigma * x), False).real
        between = (row - normal_cdf(x)) ** (self.k - 2)
        return f * g * between * self.k * (self.k - 1) * (-(x * x + y * y) / 2).exp() / (2 * arb.pi())

    def size(self, x: acb, y: acb, p: Any) -> float:
        """A bound on complex boxes: |Phi(x + i g)| <= exp(g^2/2)."""
        if p is None:
            return 0.0
        f = upper(self.first.h.value(p[0], self.first.sigma * y, True))
        g = upper(self.second.h.value(p[1], -self.second.sigma * x, True))
        if not f * g < float("inf"):
            return float("inf")
        up, down = (((z.imag) ** 2 / 2).exp().upper() for z in (y, x))
        grown = up * down * (up + down) ** (self.k - 2) * self.k * (self.k - 1)
        return f * g * float((grown * (-(x.real**2 + y.real**2) / 2).exp()).upper()) / 6.28

    def small(self, x: arb, y: arb, p: Any) -> float:
        """A bound on real boxes."""
        if p is None:
            return 0.0
        f = upper(self.first.h.value(p[0], acb(self.first.sigma * y), False))
        g = upper(self.second.h.value(p[1], acb(-self.second.sigma * x), False))
        square = abs(x).lower() ** 2 + abs(y).lower() ** 2
        if not f * g < float("inf"):
            return float("inf")
        return f * g * self.k * (self.k - 1) * float((-square / 2).exp().upper()) / 6.28


def opposite(first: Side, second: Side, k: int, reach: float, goal: float) -> arb:
    """E f(max u) g(max v) for v = -u (in units of the standard deviations). Raises Unsupported."""
    far, flat = arb(reach), arb(0)
    lines = [Line(-far, flat), Line(arb(0), arb(1))]
    lines += [Line(-e / second.sigma, flat) for e in second.h.breaks if abs(e / second.sigma) < far]
    levels = {float(h): h for h in heights(lines, far)}
    for edge in first.h.breaks:
        place = (edge / first.sigma).mid()
        if abs(place) < far:
            levels.setdefault(float(place), place)
    found = integral(Opposite(first, second, k), [levels[key] for key in sorted(levels)], lines, goal)
    beyond = 2 * k * (k - 1) * tail(scaled(first) * scaled(second), arb(1), far, degree=1)
    return found + arb(0, beyond.upper())


__all__ = ["Opposite", "opposite"]
