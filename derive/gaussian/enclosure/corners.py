"""Gaussian integrals next to an end where the function is not analytic: the variable y = -log(distance)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import flint
from flint import acb, arb

from derive.activation.growth import Growth, Log
from derive.gaussian.enclosure.budget import check
from derive.records import Unsupported

if TYPE_CHECKING:
    from derive.gaussian.enclosure.growth import Bound
    from derive.gaussian.enclosure.prepared import Analysed

EVALUATIONS = 60_000
DEEPEST = 1_000_000
STEPS_INWARD = 40


class Approach(Protocol):
    """f(e + side*exp(-y)) next to an end e of a piece, for y >= start (`derive.activation.corners.Corner`)."""

    @property
    def start(self) -> arb:
        """Where the bounds begin."""

    @property
    def growth(self) -> Growth:
        """|f| <= exp(a + b y + s y^2) (1 + y)^n for y >= start."""

    @property
    def below(self) -> Log | None:
        """A lower bound of |f| of the same form."""

    def value(self, y: acb, analytic: bool) -> acb:
        """The function at a complex ball."""


@dataclass(frozen=True, eq=False)
class Regular:
    """A function that is analytic at the end, as seen from next to it."""

    f: Analysed
    piece: int
    end: arb
    side: int
    begin: arb

    @cached_property
    def _reach(self) -> tuple[arb, acb]:
        """Where the bounds begin, and the values from there to the end."""
        start = self.begin
        for _ in range(STEPS_INWARD):
            hull = self.f.value(self.piece, acb(self.end.union(self.end + self.side * (-start).exp())), False)
            if hull.is_finite():
                return start, hull
            start = start + 1
        return start, acb("nan")

    @property
    def start(self) -> arb:
        return self._reach[0]

    @property
    def growth(self) -> Growth:
        size = self._reach[1].abs_upper().max(arb(2) ** -1000)
        return Growth(size.log().upper(), arb(0), arb(0), 0)

    @property
    def below(self) -> Log | None:
        low = self._reach[1].abs_lower()
        return Log(low.log()) if low > 0 else None

    def value(self, y: acb, analytic: bool) -> acb:
        return self.f.value(self.piece, self.end + self.side * (-y).exp(), analytic)


@dataclass(frozen=True, eq=False)
class Product:
    """The product of two functions next to a common end; the second sees the distance stretched by exp(-shift)."""

    first: Approach
    second: Approach
    shift: arb

    @property
    def start(self) -> arb:
        return self.first.start.max(self.second.start + self.shift).max(self.shift).upper()

    @property
    def growth(self) -> Growth:
        """The sum of the exponents; 1 + |y - m| <= (1 + |m|)(1 + y), and a negative square is dropped."""
        one, two, m = self.first.growth, self.second.growth, self.shift
        a = one.a + two.a - two.b * m + two.n * (1 + abs(m)).log()
        return Growth(a.upper(), (one.b + two.b).upper(), one.s.max(arb(0)) + two.s.max(arb(0)), one.n + two.n)

    @property
    def below(self) -> Log | None:
        one, two, m = self.first.below, self.second.below, self.shift
        if one is None or two is None or one.s < 0 or two.s < 0:
            return None
        return Log(one.a + two.a - two.b * m - abs(two.n) * (1 + abs(m)).log(), one.b + two.b, arb(0), one.n + two.n)

    def value(self, y: acb, analytic: bool) -> acb:
        return self.first.value(y, analytic) * self.second.value(y - self.shift, analytic)


def is_integrable(corner: Approach) -> bool:
    """Whether f is certainly integrable up to the end."""
    return bool(corner.growth.s <= 0 and corner.growth.b < 1)


def is_bounded(corner: Approach) -> bool:
    """Whether f is certainly bounded up to the end."""
    a, b, s, n = corner.growth.a, corner.growth.b, corner.growth.s, corner.growth.n
    return bool(a.is_finite() and s <= 0 and (b < 0 or (b <= 0 and n == 0)))


def diverges(corner: Approach) -> bool:
    """Whether the integral of |f| up to the end is certainly infinite: |f| >= const/(distance |log distance|)."""
    low = corner.below
    return low is not None and bool(low.s >= 0 and (low.s > 0 or low.b > 1 or (low.b >= 1 and low.n >= -1)))


def sign_next_to(corner: Approach) -> int:
    """The sign of a function that has no zero next to the end; 0 where a ball leaves it open."""
    value = corner.value(acb(corner.start + 2), False).real
    return 1 if value > 0 else -1 if value < 0 else 0


def supremum(corner: Approach) -> arb:
    """At least the largest value of the bound exp(a + b y)(1 + y)^n of a bounded function, whose peak is n/|b| - 1."""
    a, b, n = corner.growth.a, corner.growth.b, corner.growth.n
    peak = corner.start if n == 0 else corner.start.max(-n / b - 1).upper()
    return (a + b * corner.start + n * (1 + peak).log()).exp().upper()


def depth(corner: Approach) -> arb:
    """A y from which on the bound of an integrable function falls like exp(-(1 - b) y/2) at least."""
    return corner.start.max(2 * corner.growth.n / (1 - corner.growth.b.max(arb(0)))).upper()


def beyond(corner: Approach, y: arb) -> arb:
    """A bound of the integral of |f| over distances below exp(-y), y >= start.

    The logarithm h of exp(a + (b - 1) y)(1 + y)^n is concave: the integral is at most exp(h(y))/|h'(y)|.
    """
    a, b, n = corner.growth.a, corner.growth.b, corner.growth.n
    slope = b - 1 + n / (1 + y)
    height = a + (b - 1) * y + n * (1 + y).log()
    return (height.exp() / -slope).upper() if slope < 0 else arb.pos_inf()


def corner_integral(corner: Approach, weight: Callable[[acb], acb], bound: arb, length: arb, tolerance: arb) -> arb:
    """The integral of f(e + side*t) w(t/length) over 0 < t < length, w analytic with |w| <= bound on (0, 1).

    In y = -log t the integrand is f w exp(-y), analytic in a strip where f is a power of t times powers of log t;
    what lies beyond the last y is bounded by the growth of f. The radius aims at the tolerance.

    Raises:
        Unsupported: f is not certainly integrable up to the end.
    """
    if not is_integrable(corner):
        raise Unsupported(
            "the integrand is not certainly integrable up to a point where it is singular",
            why="|f| <= distance**-b with b < 1 is not proved there",
        )
    check("the neighbourhood of a singular point")
    start = -length.log()
    tolerance = tolerance.max(bound * length * arb(2) ** -600)  # a tolerance of zero is never met
    deep, step = (corner.start - start).max(arb(1)).ceil().mid(), arb(4)
    while not beyond(corner, start + deep) * bound <= tolerance / 8:
        deep, step = deep + step, (step * 5 / 4).floor().mid()
        if deep > DEEPEST:
            return arb("nan")
    rest = (beyond(corner, start + deep) * bound).upper()

    def integrand(y: acb, analytic: bool) -> acb:
        share = (-y).exp()
        return corner.value(start + y, analytic) * weight(share) * share

    relative = arb(2) ** -(flint.ctx.prec - 24)
    value = acb.integral(
        integrand, acb(0), acb(deep), rel_tol=relative, abs_tol=tolerance / length, eval_limit=EVALUATIONS
    ).real
    return value * length + arb(0, rest)


def corners(f: Analysed) -> list[tuple[int, int, Approach]]:
    """(index of the break, side, corner) wherever a piece is not analytic at its end."""
    found = []
    for k in range(len(f.breaks)):
        for side, piece in ((-1, k), (1, k + 1)):
            near = f.corner(piece, side) if piece not in f.undecided else None
            if near is not None:
                found.append((k, side, near))
    return found


def poles(f: Analysed) -> tuple[arb, ...]:
    """The breaks next to which f is not bounded."""
    return tuple(f.breaks[k] for k in sorted({k for k, _, near in corners(f) if not is_bounded(near)}))


def clipped(f: Analysed, sigma: arb) -> tuple[Bound, arb]:
    """A bound of f(sigma z) outside of neighbourhoods of its poles, and of the integrals of |f(sigma z)| over them.

    The neighbourhoods are at most 1/2 wide in z. Next to a pole the bound rises with y = -log(distance).
    """
    bound, mass = f.bound, arb(0)
    for _, _, near in corners(f):
        if is_bounded(near):
            continue
        y = depth(near).max(-(sigma / 2).log()).upper()
        growth = near.growth
        height = growth.a + growth.b.max(arb(0)) * y + growth.n * (1 + y).log()
        bound = bound._replace(a=bound.a.max(height.upper()))
        mass = mass + beyond(near, y) / sigma
    return bound, mass.upper()
