"""The parts of a one-variable integral: a piece between two points, next to a singular end, a cut in doubt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import flint
from flint import acb, arb

from derive.gaussian.enclosure.budget import check
from derive.gaussian.enclosure.corners import Approach, corner_integral

if TYPE_CHECKING:
    from derive.gaussian.enclosure.prepared import Analysed

EVALUATIONS = 40_000


@dataclass(frozen=True)
class Line:
    """f(mean + sigma z) p(z) exp(-z**2/2), p with the coefficients `weight` in ascending powers of z."""

    f: Analysed
    sigma: arb
    mean: arb
    weight: list[arb]

    @property
    def places(self) -> list[arb]:
        """The breaks in z."""
        return [(edge - self.mean) / self.sigma for edge in self.f.breaks]

    def factor(self, z):
        """p(z) exp(-z**2/2)."""
        return (-(z * z) / 2).exp() * polynomial(self.weight, z)

    def x(self, z):
        """The argument of f."""
        return self.sigma * z if self.mean == 0 else self.sigma * z + self.mean


def polynomial(weight: list[arb], z):
    """The polynomial with these coefficients in ascending powers."""
    value = weight[-1]
    for coefficient in reversed(weight[:-1]):
        value = value * z + coefficient
    return value


def part(line: Line, piece: int, left: arb, right: arb, tolerance: arb) -> arb:
    """The integral of one piece over left < z < right; next to a singular end in the logarithm of the distance."""
    total, places = arb(0), line.places
    for side, k in ((1, piece - 1), (-1, piece)):
        edge = left if side > 0 else right
        if piece in line.f.undecided or not 0 <= k < len(places) or places[k].mid() != edge:
            continue
        near = line.f.corner(piece, side)
        if near is None:
            continue
        width = ((right - left) / 2).min(arb(1)).mid()
        total = total + _next_to_end(line, near, places[k], side, width, tolerance)
        left, right = (left + width, right) if side > 0 else (left, right - width)
        if places[k].rad() > 0:  # the end is a ball, the cut is exact
            cut = places[k] + side * width
            doubt = line.f.value(piece, acb(line.x(cut)), False) * line.factor(cut)
            total = total + arb(0, (cut.rad() * doubt.abs_upper()).upper())
    return total + _smooth(line, piece, left, right, tolerance)


def _next_to_end(line: Line, near: Approach, place: arb, side: int, width: arb, tolerance: arb) -> arb:
    """The integral from a singular end at `place` over a width in z."""

    def weight(share: acb) -> acb:
        return line.factor(place + side * width * share)

    bound = abs(line.factor(place.union(place + side * width))).upper()
    return corner_integral(near, weight, bound, width * line.sigma, tolerance * line.sigma) / line.sigma


def _smooth(line: Line, piece: int, left: arb, right: arb, tolerance: arb) -> arb:
    check("an interval of the line")
    f = line.f
    if piece in f.undecided:
        whole = left.union(right)
        return f.value(piece, acb(line.x(whole)), False).real * line.factor(whole) * (right - left)

    def integrand(z: acb, analytic: bool) -> acb:
        return f.value(piece, line.x(z), analytic) * line.factor(z)

    relative = arb(2) ** -(flint.ctx.prec - 24)
    nearest = arb(0) if left <= 0 <= right else min(abs(left), abs(right))
    # A tolerance of exactly zero is never met by a piece that is identically zero.
    tolerance = tolerance.max((-nearest * nearest / 2).exp() * arb(2) ** -1000)
    return acb.integral(
        integrand, acb(left), acb(right), rel_tol=relative, abs_tol=tolerance, eval_limit=EVALUATIONS
    ).real


def slivers(line: Line, ends: tuple[arb, arb], done) -> arb:
    """The error of cutting at the midpoint of a break that is known only as a ball.

    A piece with a corner there is integrated from the break itself; the other one ends at the midpoint.
    """
    total, f = arb(0), line.f
    for k, place in enumerate(line.places):
        middle = place.mid()
        new = done is None or middle < done[0] or middle > done[1]
        if place.rad() > 0 and ends[0] < middle < ends[1] and new:
            x = acb(line.x(place))
            values = [f.value(i, x, False) for i, side in ((k, -1), (k + 1, 1)) if _ends_at_cut(f, i, side)]
            jump = (values[0] - values[1] if len(values) == 2 else sum(values, acb(0))) * line.factor(place)
            total = total + arb(0, (place.rad() * jump.abs_upper()).upper())
    return total


def _ends_at_cut(f: Analysed, piece: int, side: int) -> bool:
    return piece in f.undecided or f.corner(piece, side) is None
