"""Intervals with ends that may be infinite, rounded outward."""

from __future__ import annotations

from dataclasses import dataclass

from flint import arb

INF, NEG_INF = arb.pos_inf(), arb.neg_inf()


@dataclass(frozen=True, slots=True)
class Range:
    """low <= f(x) <= high for every x of an interval at which f is finite; the ends are exact numbers or ±inf."""

    low: arb
    high: arb

    def __neg__(self) -> Range:
        return Range(-self.high, -self.low)

    def __add__(self, other: Range) -> Range:
        return outward(self.low + other.low, self.high + other.high)

    def __mul__(self, other: Range) -> Range:
        ends = [_times(a, b) for a in (self.low, self.high) for b in (other.low, other.high)]
        lows, highs = [end.lower() for end in ends], [end.upper() for end in ends]
        return Range(min(lows), max(highs))

    def finite(self) -> bool:
        """Whether both ends are finite."""
        return bool(self.low.is_finite() and self.high.is_finite())

    def magnitude(self) -> Range:
        """The range of |f|."""
        if self.low >= 0:
            return self
        return -self if self.high <= 0 else Range(arb(0), max(-self.low, self.high))

    def ball(self) -> arb:
        """A ball that contains a finite range."""
        return self.low.union(self.high)


WHOLE = Range(NEG_INF, INF)


def outward(low: arb, high: arb) -> Range:
    """The interval between two bounds, rounded outward; what is undefined is unbounded."""
    return Range(NEG_INF if low.is_nan() else low.lower(), INF if high.is_nan() else high.upper())


def _times(a: arb, b: arb) -> arb:
    """A product of end points: 0 times an end point at infinity is 0, because every value is finite."""
    return arb(0) if a.is_zero() or b.is_zero() else a * b


def intersect(first: Range, second: Range) -> Range:
    """What two enclosures of one function share."""
    return Range(max(first.low, second.low), min(first.high, second.high))


def integer_power(base: Range, n: int) -> Range:
    """base**n; unbounded where a negative power meets zero."""
    if n < 0:
        power = integer_power(base, -n)
        if power.low > 0 or power.high < 0:
            ends = Range(_reciprocal(power.high), _reciprocal(power.low))
            return Range(ends.low.lower(), ends.high.upper())
        if power.low >= 0:
            return Range(_reciprocal(power.high).lower(), INF)
        return Range(NEG_INF, _reciprocal(power.low).upper()) if power.high <= 0 else WHOLE
    if n == 0:
        return Range(arb(1), arb(1))
    if n % 2 == 0:
        base = base.magnitude()
    return Range(_ends_power(base.low, n).lower(), _ends_power(base.high, n).upper())


def _ends_power(end: arb, n: int) -> arb:
    """end**n by products, which Arb's general power is not for zero and infinite numbers."""
    result = end
    for _ in range(n - 1):
        result = result * end
    return result


def _reciprocal(end: arb) -> arb:
    return 1 / end if end.is_finite() else arb(0)


def positive_power(end: arb, power: arb) -> arb:
    """end**power of an end >= 0 that may be infinite, for power > 0."""
    return end if end.is_zero() or not end.is_finite() else end**power
