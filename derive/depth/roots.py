"""Roots of a function of the variance, certified by their sign changes."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint

Function = Callable[[Any, int], flint.arb]


def grid(lowest: int = -8, highest: int = 8, per_decade: int = 6) -> list[Fraction]:
    """A logarithmic grid of exact variances."""
    points = []
    for i in range(lowest * per_decade, highest * per_decade + 1):
        points.append(Fraction(str(float(f"{10 ** (i / per_decade):.6g}"))))
    return points


def sign_changes(f: Function, points: list[Fraction] | None = None) -> list[flint.arb]:
    """Balls around the roots of f at which its sign changes between neighbouring grid points."""
    points = points or grid()
    with flint.ctx.workprec(80):
        signs = [(q, _sign(f(q, 12))) for q in points]
    known = [(q, s) for q, s in signs if s != 0]
    return [refine(f, a, b, s) for (a, s), (b, t) in zip(known, known[1:], strict=False) if s != t]


def _sign(value: flint.arb) -> int:
    return 1 if value > 0 else -1 if value < 0 else 0


def refine(f: Function, a: Fraction, b: Fraction, sign_a: int, digits: int = 20) -> flint.arb:
    """A ball around a root of f in [a, b], by the Illinois method with signs decided in balls."""
    with flint.ctx.workprec(int(3.4 * digits) + 60):
        lower, upper = flint.arb(a.numerator) / a.denominator, flint.arb(b.numerator) / b.denominator
        f_lower, f_upper = f(lower, digits + 4), f(upper, digits + 4)
        for _ in range(200):
            if (upper - lower) < lower * flint.arb(10) ** (-digits):
                break
            middle = _next_point(lower, upper, f_lower, f_upper)
            value = f(middle, digits + 4)
            sign = _sign(value)
            if sign == 0:
                return _around(f, middle, sign_a, digits, lower, upper)
            if sign == sign_a:
                lower, f_lower, f_upper = middle, value, f_upper / 2
            else:
                upper, f_upper, f_lower = middle, value, f_lower / 2
        return lower.union(upper)


def _next_point(lower: flint.arb, upper: flint.arb, f_lower: flint.arb, f_upper: flint.arb) -> flint.arb:
    span = upper - lower
    step = (f_lower / (f_lower - f_upper)).mid()
    if not step.is_finite() or not (step > flint.arb("1e-6")) or not (step < 1 - flint.arb("1e-6")):
        step = flint.arb("0.5")
    return (lower + span * step).mid()


def _around(f: Function, middle: flint.arb, sign_a: int, digits: int, lower: flint.arb, upper: flint.arb) -> flint.arb:
    """Widen from a point where the sign is undecided until both sides are decided."""
    width = middle * flint.arb(10) ** (-digits - 4)
    for _ in range(80):
        left, right = (middle - width).mid(), (middle + width).mid()
        if left > lower and _sign(f(left, digits + 4)) == sign_a:
            lower = left
        if right < upper and _sign(f(right, digits + 4)) == -sign_a:
            upper = right
        if lower == left and upper == right:
            break
        width = width * 8
        if middle - width < lower and middle + width > upper:
            break
    return lower.union(upper)
