"""Piecewise analytic functions made of others: the product on a line, the one-sided limits at zero."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from flint import acb, arb

from derive.gaussian.enclosure.growth import Bound

if TYPE_CHECKING:
    from derive.gaussian.enclosure.prepared import Analysed


@dataclass(frozen=True, eq=False)
class LineProduct:
    """x -> f(x) g(slope*x) as a piecewise analytic function (slope not zero).

    Where it is undecided which of two breaks comes first, the interval that holds both becomes a piece of its own,
    listed in `undecided`, whose value is the hull of all combinations.
    """

    f: Analysed
    g: Analysed
    slope: arb

    @cached_property
    def _layout(self) -> tuple[tuple[arb, ...], tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]]:
        """Breaks, and for each piece the candidate pieces of f and of g."""
        up = self.slope > 0
        marks = [(edge, 0) for edge in self.f.breaks] + [(edge / self.slope, 1) for edge in self.g.breaks]
        marks.sort(key=lambda mark: float(mark[0].mid()))
        clusters: list[list[tuple[arb, int]]] = []
        for mark in marks:
            if clusters and any(mark[0].overlaps(other) for other, _ in clusters[-1]):
                clusters[-1].append(mark)
            else:
                clusters.append([mark])
        i, j, step = 0, (0 if up else len(self.g.breaks)), (1 if up else -1)
        breaks: list[arb] = []
        pieces: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((i,), (j,))]
        for cluster in clusters:
            before = i, j
            i += sum(1 for _, owner in cluster if owner == 0)
            j += step * sum(1 for _, owner in cluster if owner == 1)
            edges = [edge for edge, _ in cluster]
            if all(edge.is_exact() and edge == edges[0] for edge in edges) or len(cluster) == 1:
                breaks.append(edges[0])
            else:
                hull = edges[0]
                for edge in edges[1:]:
                    hull = hull.union(edge)
                breaks += [hull.lower(), hull.upper()]
                pieces.append((_span(before[0], i), _span(before[1], j)))
            pieces.append(((i,), (j,)))
        return tuple(breaks), tuple(pieces)

    @property
    def breaks(self) -> tuple[arb, ...]:
        return self._layout[0]

    @property
    def undecided(self) -> tuple[int, ...]:
        """Indices of the pieces that hold breaks in an unknown order."""
        return tuple(k for k, (first, second) in enumerate(self._layout[1]) if len(first) * len(second) > 1)

    @property
    def parity(self) -> int:
        return self.f.parity * self.g.parity

    def value(self, i: int, z: acb, analytic: bool) -> acb:
        first, second = self._layout[1][i]
        if len(first) * len(second) == 1:
            return self.f.value(first[0], z, analytic) * self.g.value(second[0], self.slope * z, analytic)
        if analytic:
            return acb("nan")
        left = _hull([self.f.value(k, z, False) for k in first])
        return left * _hull([self.g.value(k, self.slope * z, False) for k in second])

    @cached_property
    def bound(self) -> Bound:
        """A growth bound on the whole line."""
        stretch, (a, b, slope, n) = abs(self.slope), self.g.bound
        return self.f.bound * Bound(a + n * stretch.max(arb(1)).log(), b * stretch, slope * stretch * stretch, n)


@dataclass(frozen=True, eq=False)
class SideLimits:
    """The limit q -> 0+ of f(sqrt(q) x): the value of f on either side of zero."""

    f: Analysed
    undecided: tuple[int, ...] = ()
    breaks: tuple[arb, ...] = (arb(0),)
    parity: int = 0

    def value(self, i: int, z: acb, analytic: bool) -> acb:
        below = sum(1 for edge in self.f.breaks if edge < 0)
        touching = sum(1 for edge in self.f.breaks if edge.contains(0))
        return acb(self.f.value(below + (touching if i else 0), acb(0), False).real)

    @property
    def bound(self) -> Bound:
        """A bound by a constant."""
        size = self.value(0, acb(0), False).abs_upper().max(self.value(1, acb(0), False).abs_upper())
        return Bound(size.max(arb(1)).log(), arb(0), arb(0), arb(0))


@dataclass(frozen=True, eq=False)
class Shifted:
    """x -> f(x + shift)."""

    f: Analysed
    shift: arb
    undecided: tuple[int, ...] = ()
    parity: int = 0

    @property
    def breaks(self) -> tuple[arb, ...]:
        return tuple(edge - self.shift for edge in self.f.breaks)

    def value(self, i: int, z: acb, analytic: bool) -> acb:
        return self.f.value(i, z + self.shift, analytic)

    @cached_property
    def bound(self) -> Bound:
        """A growth bound on the whole line, by |x + m| <= |x| + |m| and (|x| + |m|)^n <= (1 + |m|)^n (1 + |x|)^n."""
        (a, b, s, n), m = self.f.bound, abs(self.shift)
        return Bound(a + b * m + s * m * m + n * (1 + m).log(), b + 2 * s * m, s, n)


def _span(first: int, last: int) -> tuple[int, ...]:
    return tuple(range(min(first, last), max(first, last) + 1))


def _hull(values: list[acb]) -> acb:
    hull = values[0]
    for value in values[1:]:
        hull = hull.union(value)
    return hull
