"""Rigorous bounds of Gaussian tails from the growth of a function."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from flint import acb, arb, fmpq

from derive.gaussian.enclosure.corners import is_bounded
from derive.gaussian.enclosure.corners import supremum as near_supremum
from derive.records import Unsupported

if TYPE_CHECKING:
    from derive.activation.pieces import PieceFunction
    from derive.gaussian.enclosure.corners import Approach


class Bound(NamedTuple):
    """|f(x)| <= exp(a + b|x| + s x**2) (1 + |x|)**n."""

    a: arb
    b: arb
    s: arb
    n: arb

    def __mul__(self, other: Bound) -> Bound:  # type: ignore[override]
        return Bound(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


def ball(value) -> arb:
    """An exact number, a float or a ball as a ball at the working precision."""
    if isinstance(value, Fraction):
        return arb(fmpq(value.numerator, value.denominator))
    return value if isinstance(value, arb) else arb(value)


def everywhere(f: PieceFunction, corner: Callable[[int, int], Approach | None] = lambda i, side: None) -> Bound:
    """A growth bound of f on the whole line, with b, s, n >= 0: beyond the breaks by proof, before them by boxes.

    Next to an end where a piece is not analytic `corner(i, side)` bounds it; where it is not bounded there, the
    bound holds outside of that neighbourhood only.

    Raises:
        Unsupported: f grows too fast, or is not bounded on a finite interval.
    """
    reach = arb(1)
    for edge in f.breaks:
        reach = reach.max(abs(edge).upper().ceil() + 1)
    reach = reach.mid()
    sides = [_entries(f.tail(side, reach)) for side in (-1, 1)]
    merged = [x.max(y) for x, y in zip(*sides, strict=True)]
    merged[0] = merged[0].max(_supremum(f, reach, corner).log())
    if not all(entry.is_finite() for entry in merged):
        raise Unsupported("the growth of the function is not known", why="no bound exp(a + b|x| + s x^2) was found")
    return Bound(*merged)


def _entries(growth) -> tuple[arb, arb, arb, arb]:
    a, b, s, n = (ball(entry).upper() for entry in (growth.a, growth.b, growth.s, growth.n))
    return a, b.max(arb(0)), s.max(arb(0)), n.max(arb(0))


def tail(bound: Bound, scale: arb, start: arb, offset: arb | None = None, degree: int = 0) -> arb:
    """A bound of the integral of |f(y)| (1 + z)**degree exp(-z**2/2) dz over z >= start, y = scale*z + offset >= 0.

    The logarithm h of the bounded integrand is concave in z if s*scale**2 < 1/2, so that
    h(z) <= h(start) + h'(start)(z - start) and the integral is at most exp(h(start))/|h'(start)|.

    Raises:
        Unsupported: if s*scale**2 < 1/2 cannot be certified.
    """
    if not bound.s * scale * scale < arb(0.5):
        raise Unsupported(
            "the Gaussian expectation cannot be certified to exist",
            why=f"it grows like exp({bound.s.str(5)}*x^2), too fast for the variance {(scale * scale).str(5)}",
        )
    y = scale * start if offset is None else scale * start + offset
    a, b, s, n = bound
    height = a + b * y + s * y * y + n * (1 + y).log() + degree * (1 + start).log() - start * start / 2
    slope = b * scale + 2 * s * scale * y + n * scale / (1 + y) + degree / (1 + start) - start
    return (height.exp() / -slope).upper() if slope < 0 else arb.pos_inf()


def _supremum(f: PieceFunction, reach: arb, corner) -> arb:
    """An upper bound of max(|f|, 1) on [-reach, reach], by boxes that are halved until they are finite."""
    edges, best = [-reach, *f.breaks, reach], arb(1)
    for piece, (left, right) in enumerate(pairwise(edges)):
        for side in (-1, 1):
            near = corner(piece, side)
            if near is None:
                continue
            best = best.max(near_supremum(near)) if is_bounded(near) else best
            left, right = (left + (-near.start).exp(), right) if side > 0 else (left, right - (-near.start).exp())
        if not left < right:
            continue
        parts = [(left + (right - left) * k / 8, left + (right - left) * (k + 1) / 8, 0) for k in range(8)]
        while parts:
            low, high, depth = parts.pop()
            size = f.value(piece, acb(low.union(high)), False).abs_upper()
            if size.is_finite():
                best = best.max(size)
            elif depth < 24:
                middle = (low + high) / 2
                parts += [(low, middle, depth + 1), (middle, high, depth + 1)]
            else:
                where = ((low + high) / 2).str(5, radius=False)
                raise Unsupported("the function has no proved bound", where=f"near x = {where}")
    return best
