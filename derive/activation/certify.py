"""Inequalities on intervals of the line, decided by ranges on ever smaller parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import gcd, lcm

from flint import arb
from sympy import Dummy, Expr, Rational, cos, sin

from derive.activation.interval import Range
from derive.activation.ranges import Ranges
from derive.activation.tail import Tail
from derive.program.symbols import X

PARTS = 400
NARROW = arb(2) ** -40
FAR = arb(2) ** 40


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is known about u > 0 ("positive"), u >= 0 ("nonnegative") or u != 0 ("nonzero") on an interval.

    holds  True if proved everywhere, False if disproved somewhere, None if undecided
    at     a rational point or a small interval where it fails or is undecided
    """

    holds: bool | None
    at: Fraction | tuple[arb, arb] | None = None


def certify(
    u: Expr, relation: str, low: arb, high: arb, values: Mapping[str, arb | Range], parts: int = PARTS
) -> Verdict:
    """Whether u stands in the relation to zero for all x in [low, high]; the ends may be infinite.

    u must be continuous there. Undecided parts are halved until they are 2**-40 wide or `parts` were seen; at a narrow
    part a zero is sought at its simplest rational point, exactly, or by a change of sign.
    """
    names = {symbol.name for symbol in u.free_symbols}
    values = {name: value for name, value in values.items() if name in names}
    length = period(u)
    if length is not None and not (low.is_finite() and high.is_finite()):
        low, high = arb(0), length.upper()
    todo, undecided = list(_starting_parts(low, high)), None
    for _ in range(parts):
        if not todo:
            return Verdict(True) if undecided is None else Verdict(None, undecided)
        left, right = todo.pop(0)
        verdict = _decide(Ranges(left, right, values)(u), relation)
        if verdict is None:
            verdict = _decide_far_out(u, relation, left, right, values)
        if verdict is True:
            continue
        if verdict is False:
            return Verdict(False, _inside(left, right))
        middle = _middle(left, right)
        if middle is None:
            zero = _zero(u, relation, left, right, values)
            if zero is not None:
                return Verdict(False, zero)
            undecided = (left, right)
            continue
        if _decide(Ranges(middle, middle, values)(u), relation) is False:
            return Verdict(False, _fraction(middle))
        if relation == "nonzero" and left.is_finite() and right.is_finite():
            signs = {_sign(Ranges(end, end, values)(u)) for end in (left, middle, right)}
            if {1, -1} <= signs:
                return Verdict(False, _root(u, left, middle, right, values))
        todo += [(left, middle), (middle, right)]
    return Verdict(None, todo[0] if todo else undecided)


def _starting_parts(low: arb, high: arb):
    cuts = [c for c in (arb(-1), arb(0), arb(1)) if low < c < high]
    ends = [low, *cuts, high]
    return pairwise(ends)


def _decide(found: Range, relation: str) -> bool | None:
    if found.low > 0 or (relation == "nonnegative" and found.low >= 0):
        return True
    if found.high < 0:
        return relation == "nonzero"
    if relation == "positive" and found.high <= 0:
        return False
    return False if relation == "nonzero" and found.low.is_zero() and found.high.is_zero() else None


def _decide_far_out(u: Expr, relation: str, left: arb, right: arb, values) -> bool | None:
    """On an infinite part: a function bounded away from zero has one sign, that at the start."""
    if (left.is_finite() and right.is_finite()) or any(isinstance(value, Range) for value in values.values()):
        return None
    side, start = (1, left) if left.is_finite() else (-1, -right)
    if not start >= 1 or Tail(side, start, values).below(u) is None:
        return None
    return _decide(Ranges(side * start, side * start, values)(u), relation)


def period(u: Expr) -> arb | None:
    """A period of a function of x that depends on x by sines and cosines of rational multiples of x only."""
    waves = [part for part in u.atoms(sin, cos) if part.has(X)]
    if not waves or u.xreplace({part: Dummy() for part in waves}).has(X):
        return None
    rates = [part.args[0].diff(X) for part in waves]
    if not all(rate.is_Rational for rate in rates):
        return None
    steps = gcd(*(int(rate.p) for rate in rates)), lcm(*(int(rate.q) for rate in rates))
    return 2 * arb.pi() * steps[1] / steps[0]


def _sign(found: Range) -> int:
    return 1 if found.low > 0 else -1 if found.high < 0 else 0


def _middle(left: arb, right: arb) -> arb | None:
    """Where to cut an undecided part; None if it is small enough, or too far out."""
    if left.is_finite() and right.is_finite():
        return None if right - left < NARROW * (1 + abs(left)) else ((left + right) / 2).mid()
    end = left if left.is_finite() else right
    size = abs(end) * 2
    if size > FAR:
        return None
    return size if left.is_finite() else -size


def _inside(left: arb, right: arb) -> Fraction:
    if left.is_finite() and right.is_finite():
        return _fraction(((left + right) / 2).mid())
    return (
        _fraction(left * 2 + 1) if left.is_finite() else _fraction(right * 2 - 1) if right.is_finite() else Fraction(0)
    )


def _fraction(point: arb) -> Fraction:
    man, power = point.mid().man_exp()
    return Fraction(int(man)) * Fraction(2) ** int(power)


def _zero(u: Expr, relation: str, left: arb, right: arb, values) -> Fraction | None:
    """The simplest rational point of a small part, if u is exactly zero there and that violates the relation."""
    if relation == "nonnegative" or not (left.is_finite() and right.is_finite()):
        return None
    point = simplest(_fraction(left), _fraction(right))
    return point if u.subs(X, Rational(point.numerator, point.denominator)).is_zero else None


def _root(u: Expr, left: arb, middle: arb, right: arb, values) -> Fraction | tuple[arb, arb]:
    """A zero between two points of opposite sign: a rational one if the simplest in a small part is exact."""
    sign = {end: _sign(Ranges(end, end, values)(u)) for end in (left, middle, right)}
    a, b = (
        (left, middle)
        if sign[left] * sign[middle] < 0
        else (middle, right)
        if sign[middle] * sign[right] < 0
        else (left, right)
    )
    first = _sign(Ranges(a, a, values)(u))
    for _ in range(60):
        centre = ((a + b) / 2).mid()
        here = _sign(Ranges(centre, centre, values)(u))
        if here == 0:
            break
        a, b = (centre, b) if here == first else (a, centre)
    point = simplest(_fraction(a), _fraction(b))
    return point if u.subs(X, Rational(point.numerator, point.denominator)).is_zero else (a, b)


def simplest(low: Fraction, high: Fraction) -> Fraction:
    """The rational number with the smallest denominator in [low, high]."""
    if low <= 0 <= high:
        return Fraction(0)
    if high < 0:
        return -simplest(-high, -low)
    whole = -(-low.numerator // low.denominator)
    if whole <= high:
        return Fraction(whole)
    base = low.numerator // low.denominator
    return base + 1 / simplest(1 / (high - base), 1 / (low - base))
