"""Certified integrals over a plane cut by straight lines: cells between lines, a product rule on each."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import flint
from flint import acb, arb

from derive.gaussian.enclosure.quadrature import best_bound, rule
from derive.gaussian.maxima.branches import unsettled

POINTS = 24
RHOS = (2.5, 3.5, 5.0, 8.0, 15.0, 30.0)
DEEPEST = 14
HEIGHTS = ("0", "0.8", "1.8", "3", "4.5", "6.5")


class Line(NamedTuple):
    """x = start + tilt y."""

    start: arb
    tilt: arb

    def at(self, y: Any) -> Any:
        """x at a height y, real or complex."""
        return self.start + self.tilt * y


class Plane(Protocol):
    """An integrand that is analytic between the lines.

    pieces(x, y)           what it is there, at a point inside of a cell
    row(y)                 what its values at one height share
    value(x, y, row, p)    the integrand
    size(x, y, p)          a bound of its modulus on complex boxes, inf where it is not analytic
    small(x, y, p)         a bound on real boxes that knows how it decays
    """

    def pieces(self, x: arb, y: arb) -> Any:
        """What the integrand is at a point."""

    def row(self, y: arb) -> Any:
        """What the values at one height share."""

    def value(self, x: arb, y: arb, row: Any, p: Any) -> arb:
        """The integrand."""

    def size(self, x: acb, y: acb, p: Any) -> float:
        """A bound of the modulus on complex boxes."""

    def small(self, x: arb, y: arb, p: Any) -> float:
        """A bound on real boxes."""


def integral(plane: Plane, heights: list[arb], lines: list[Line], goal: float) -> arb:
    """The integral over the heights and between the outermost lines; lines cross at heights only.

    Each cell is a rectangle in (share of the way from one line to the next, y): affine in each, so that the integrand
    stays analytic. The rule's remainder is bounded on ellipses in either variable, with the other one real.
    """
    total = arb(0)
    for low, high in pairwise(heights):
        middle = ((low + high) / 2).mid()
        ranked = sorted(lines, key=lambda line: float(line.at(middle).mid()))
        for left, right in pairwise(ranked):
            if not right.at(middle) > left.at(middle):
                continue
            wide = float((right.at(middle) - left.at(middle)).mid())
            parts = max(1, round(wide / 2))
            shares = [arb(i) / parts for i in range(parts + 1)]
            for start, end in pairwise(shares):
                total = total + _strip(plane, (low, high), (left, right), (start, end), goal)
    return total


def heights(lines: list[Line], far: arb) -> list[arb]:
    """Heights between -far and far, in steps, and where lines cross."""
    found = {float(t) * s: (arb(t) * s).mid() for t in HEIGHTS for s in (-1, 1)} | {float(far): far, -float(far): -far}
    for i, one in enumerate(lines):
        for other in lines[:i]:
            tilt = one.tilt - other.tilt
            if not tilt.contains(0):
                place = ((other.start - one.start) / tilt).mid()
                found.setdefault(float(place), place)
    return [found[key] for key in sorted(found) if -far <= found[key] <= far]


def _strip(plane: Plane, heights, lines, shares, goal: float) -> arb:
    total, stack = arb(0), [(heights, shares, 0)]
    while stack:
        (low, high), (start, end), depth = stack.pop()
        y0, dy = ((low + high) / 2).mid(), ((high - low) / 2).mid()
        t0, dt = ((start + end) / 2).mid(), ((end - start) / 2).mid()
        cell = _Cell(plane, lines, y0, dy, t0, dt)
        tiny = cell.small()
        if tiny <= goal:
            total = total + arb(0, tiny)
            continue
        across = best_bound(cell.across, POINTS, RHOS, goal)[0]
        along = best_bound(cell.along, POINTS, RHOS, goal)[0]
        if max(across, along) <= goal:
            total = total + cell.rule() + arb(0, 2 * (across + along))
        elif depth > DEEPEST:
            raise unsettled("the integrand varies too fast over the plane")
        elif across >= along:
            stack += [((low, high), part, depth + 1) for part in ((start, t0), (t0, end))]
        else:
            stack += [(part, (start, end), depth + 1) for part in ((low, y0), (y0, high))]
    return total


class _Cell:
    """One cell: y = y0 + dy eta, share = t0 + dt xi, both in [-1, 1]."""

    def __init__(self, plane: Plane, lines: tuple[Line, Line], y0: arb, dy: arb, t0: arb, dt: arb) -> None:
        self.plane, (self.left, self.right) = plane, lines
        self.y0, self.dy, self.t0, self.dt = y0, dy, t0, dt
        self.whole = arb(0, 1)
        self.pieces = plane.pieces(self._x(t0, y0), y0)

    def _x(self, share: Any, y: Any) -> Any:
        left = self.left.at(y)
        return left + (self.right.at(y) - left) * share

    def _bounded(self, share: acb, y: acb) -> tuple[float, float]:
        spread = (self.right.at(y) - self.left.at(y)) * self.dt * self.dy
        size = self.plane.size(self._x(share, y), y, self.pieces)
        return (size * float(abs(spread).upper()) if size < float("inf") else size), 0.0

    def across(self, box: acb) -> tuple[float, float]:
        """The integrand on an ellipse in the share, y real."""
        return self._bounded(self.t0 + self.dt * box, acb(self.y0 + self.dy * self.whole))

    def along(self, box: acb) -> tuple[float, float]:
        """The integrand on an ellipse in y, the share real."""
        return self._bounded(acb(self.t0 + self.dt * self.whole), self.y0 + self.dy * box)

    def small(self) -> float:
        """A bound of the integral from the decay of the integrand."""
        y, share = self.y0 + self.dy * self.whole, self.t0 + self.dt * self.whole
        spread = (self.right.at(y) - self.left.at(y)) * self.dt * self.dy * 4
        size = self.plane.small(self._x(share, y), y, self.pieces)
        return size * float(abs(spread).upper()) if size < float("inf") else size

    def rule(self) -> arb:
        """The product rule."""
        points, weights = rule(POINTS, flint.ctx.prec)
        total = arb(0)
        for eta, outer in zip(points, weights, strict=True):
            y = self.y0 + self.dy * eta
            left = self.left.at(y)
            width, row, line = self.right.at(y) - left, self.plane.row(y), arb(0)
            for xi, inner in zip(points, weights, strict=True):
                x = left + width * (self.t0 + self.dt * xi)
                line = line + inner * self.plane.value(x, y, row, self.pieces)
            total = total + outer * line * width
        return total * self.dt * self.dy
