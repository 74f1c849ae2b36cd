"""Roots of a function of the variance, certified by their sign changes."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import flint
import numpy as np

Function = Callable[[Any, int], flint.arb]
Guess = Callable[[list[float]], np.ndarray]


def grid(lowest: int = -8, highest: int = 8, per_decade: int = 6) -> list[Fraction]:
    """A logarithmic grid of exact variances."""
    points = []
    for i in range(lowest * per_decade, highest * per_decade + 1):
        points.append(Fraction(str(float(f"{10 ** (i / per_decade):.6g}"))))
    return points


def sign_changes(f: Function, guess: Guess) -> list[flint.arb]:
    """Balls around the roots of f at which its sign changes between points of the grid.

    `guess` (fast floats at many points) only says where to look: each root is certified by signs of f decided in
    balls, and a change of sign that f does not confirm is dropped.
    """
    points = [float(q) for q in grid()]
    roots = []
    for a, b in _brackets(points, guess(points)):
        left, right = (Fraction(end) for end in _narrowed(a, b, guess))
        with flint.ctx.workprec(120):
            signs = _sign(f(left, 20)), _sign(f(right, 20))
            if signs[0] * signs[1] >= 0:
                left, right = Fraction(a), Fraction(b)
                signs = _sign(f(left, 14)), _sign(f(right, 14))
        if signs[0] * signs[1] < 0:
            roots.append(refine(f, left, right, signs[0]))
    return roots


def _brackets(points: list[float], values: np.ndarray) -> list[tuple[float, float]]:
    """Neighbouring points at which the values change sign."""
    known = [(q, v > 0) for q, v in zip(points, values, strict=True) if np.isfinite(v) and v != 0]
    return [(a, b) for (a, left), (b, right) in pairwise(known) if left != right]


def _narrowed(a: float, b: float, guess: Guess) -> tuple[float, float]:
    """A bracket about 1e-9 wide around the change of sign of the guessed values, widened for their error."""
    for _ in range(5):
        points = list(np.linspace(a, b, 33))
        inner = _brackets(points, guess(points))
        if len(inner) != 1 or b - a < 1e-11 * b:
            break
        a, b = inner[0]
    return a * (1 - 1e-9), b * (1 + 1e-9)


def _sign(value: flint.arb) -> int:
    return 1 if value > 0 else -1 if value < 0 else 0


def refine(f: Function, a: Fraction, b: Fraction, sign_a: int, digits: int = 20) -> flint.arb:
    """A ball around a root of f in [a, b], by the Illinois method with signs decided in balls."""
    with flint.ctx.workprec(int(3.4 * digits) + 60):
        lower, upper = flint.arb(a.numerator) / a.denominator, flint.arb(b.numerator) / b.denominator
        f_lower, f_upper = f(lower, digits + 4), f(upper, digits + 4)
        for _ in range(200):
            if (upper - lower) < abs(upper) * flint.arb(10) ** (-digits):
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
    width = abs(middle) * flint.arb(10) ** (-digits - 4)
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
