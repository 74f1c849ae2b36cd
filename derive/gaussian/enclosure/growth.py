"""Rigorous bounds of Gaussian tails from the growth of a function."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from flint import acb, arb, fmpq

from derive.records import Unsupported

if TYPE_CHECKING:
    from derive.activation.pieces import PieceFunction


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


def one_sided(f: PieceFunction, side: int, start: arb) -> Bound:
    """The growth of f for side*x >= start >= 0."""
    growth = f.tail(side, start)
    return Bound(ball(growth.a), ball(growth.b), ball(growth.s), _positive(ball(growth.n)))


def everywhere(f: PieceFunction) -> Bound:
    """A growth bound of f on the whole line, with b, s, n >= 0.

    The growth at zero serves where it is finite; else the growth beyond the breaks and the supremum before them.
    """
    reach = arb(0)
    for attempt in range(2):
        sides = [one_sided(f, side, reach) for side in (-1, 1)]
        if all(entry.is_finite() for side in sides for entry in side):
            a = _larger(sides[0].a, sides[1].a)
            if attempt:
                a = _larger(a, _supremum(f, reach).log())
            return Bound(
                a, *(_larger(_positive(x), _positive(y)) for x, y in zip(sides[0][1:], sides[1][1:], strict=True))
            )
        reach = max((abs(edge).upper() for edge in f.breaks), default=arb(0), key=float) + 1
    raise Unsupported("the growth of the function is not known", why="no bound of the form exp(a + b|x| + s x^2)")


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


def _supremum(f: PieceFunction, reach: arb) -> arb:
    """An upper bound of |f| on [-reach, reach], by boxes."""
    edges = [-reach, *f.breaks, reach]
    best = arb(1)
    for piece, (left, right) in enumerate(pairwise(edges)):
        parts = 16
        for k in range(parts):
            low, high = left + (right - left) * k / parts, left + (right - left) * (k + 1) / parts
            best = _larger(best, f.value(piece, acb(low.union(high)), False).abs_upper())
    return best


def _positive(x: arb) -> arb:
    return _larger(x, arb(0))


def _larger(x: arb, y: arb) -> arb:
    return x.max(y)
