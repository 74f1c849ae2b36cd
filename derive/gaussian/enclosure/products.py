"""Piecewise analytic functions made of others: the product on a line, the one-sided limits at zero."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from flint import acb, arb

from derive.gaussian.enclosure.corners import Approach, Product, Regular
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
            # f(x)^2: the breaks of both are the same numbers, though they may be known as balls only
            same = self.f is self.g and self.slope.is_exact() and self.slope == 1 and len(cluster) == 2
            if same or len(cluster) == 1 or all(edge.is_exact() and edge == edges[0] for edge in edges):
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

    def corner(self, i: int, side: int) -> Approach | None:
        """The product of the corners of both, or of one and a function that is analytic there."""
        if (i, side) not in self._corners:
            self._corners[i, side] = self._corner(i, side)
        return self._corners[i, side]

    def _corner(self, i: int, side: int) -> Approach | None:
        place = i - 1 if side > 0 else i
        first, second = self._layout[1][i]
        if len(first) * len(second) > 1 or not 0 <= place < len(self.breaks):
            return None
        end, turned = self.breaks[place], side if self.slope > 0 else -side
        one = _corner_at(self.f, first[0], side, end)
        two = _corner_at(self.g, second[0], turned, end * self.slope)
        if one is None and two is None:
            return None
        begin = (one.start if one is not None else two.start + abs(self.slope).log()).max(arb(0)).upper()  # type: ignore[union-attr]
        shift = abs(self.slope).log()
        one = one or Regular(self.f, first[0], end, side, begin)
        two = two or Regular(self.g, second[0], end * self.slope, turned, (begin - shift).max(arb(0)).upper())
        return Product(one, two, shift)

    @cached_property
    def _corners(self) -> dict:
        return {}

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
        return acb(side_value(self.f, below + (touching if i else 0), arb(0), 1 if i else -1))

    def corner(self, i: int, side: int) -> Approach | None:
        """Constants have none."""
        return None

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

    def corner(self, i: int, side: int) -> Approach | None:
        """The corner of f: distances do not change."""
        return self.f.corner(i, side)

    @cached_property
    def bound(self) -> Bound:
        """A growth bound on the whole line, by |x + m| <= |x| + |m| and (|x| + |m|)^n <= (1 + |m|)^n (1 + |x|)^n."""
        (a, b, s, n), m = self.f.bound, abs(self.shift)
        return Bound(a + b * m + s * m * m + n * (1 + m).log(), b + 2 * s * m, s, n)


def side_value(f: Analysed, piece: int, x: arb, side: int) -> arb:
    """The one-sided limit of a piece at its left (side +1) or right (-1) end x: 0 where a power of the distance is."""
    value = f.value(piece, acb(x), False)
    near = f.corner(piece, side) if not value.is_finite() else None
    return arb(0) if near is not None and near.growth.b < 0 and near.growth.s <= 0 else value.real


def _corner_at(f: Analysed, piece: int, side: int, end: arb) -> Approach | None:
    """The corner of a piece, if its end is the given point."""
    place = piece - 1 if side > 0 else piece
    if not 0 <= place < len(f.breaks) or not f.breaks[place].overlaps(end):
        return None
    return f.corner(piece, side)


def _span(first: int, last: int) -> tuple[int, ...]:
    return tuple(range(min(first, last), max(first, last) + 1))


def _hull(values: list[acb]) -> acb:
    hull = values[0]
    for value in values[1:]:
        hull = hull.union(value)
    return hull
