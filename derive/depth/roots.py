"""Roots of a function of the variance, certified by their sign changes."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import flint
import numpy as np

from derive.records import Unsupported

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


def refine(f: Function, a: Fraction, b: Fraction, sign_a: int, digits: int = 16) -> flint.arb:
    """A ball around a root of f in [a, b]: secant steps, then signs decided in balls on both sides.

    The radius is about 10**-digits of the root where f can be decided there, wider otherwise; the sign of f differs
    at the two ends of what is returned.
    """
    with flint.ctx.workprec(int(3.4 * digits) + 60):
        lower, upper = (flint.arb(end.numerator) / end.denominator for end in (a, b))
        f_lower, f_upper = (f(end, digits + 4) for end in (lower, upper))
        width = flint.arb(10) ** (-digits)
        kept = 0
        for _ in range(60):
            if upper - lower < 2 * abs(upper) * width:
                break
            middle = _next_point(lower, upper, f_lower, f_upper)
            value = f(middle, digits + 4)
            close = abs(value) < (abs(f_lower) + abs(f_upper)) * flint.arb("1e-3")
            sign = _sign(value) * sign_a
            # the Illinois rule: an end that stays twice is given half its value
            if sign > 0:
                lower, f_lower, f_upper = middle, value, f_upper / 2 if kept > 0 else f_upper
            elif sign < 0:
                upper, f_upper, f_lower = middle, value, f_lower / 2 if kept < 0 else f_lower
            kept = sign
            if sign == 0 or close:
                closed, decided = _closed_in(f, middle, sign_a, digits, width, lower, upper)
                if closed is not None:
                    return closed
                width = width if decided else width * 100
        return lower.union(upper)


def _closed_in(
    f: Function, middle: flint.arb, sign_a: int, digits: int, width: flint.arb, lower: flint.arb, upper: flint.arb
) -> tuple[flint.arb | None, bool]:
    """The ball of relative radius `width` around a point, if f has the right signs at its ends; whether f has signs."""
    left, right = (middle * (1 - width)).mid(), (middle * (1 + width)).mid()
    signs = [sign_a if left <= lower else _sign(f(left, digits + 4))]
    if signs[0] == sign_a:
        signs.append(-sign_a if right >= upper else _sign(f(right, digits + 4)))
    if signs == [sign_a, -sign_a]:
        return max(left, lower).union(min(right, upper)), True
    return None, 0 not in signs


def _next_point(lower: flint.arb, upper: flint.arb, f_lower: flint.arb, f_upper: flint.arb) -> flint.arb:
    """The secant point, kept inside the bracket."""
    step = (f_lower / (f_lower - f_upper)).mid()
    if not step.is_finite() or not (step > flint.arb("1e-9")) or not (step < 1 - flint.arb("1e-9")):
        step = flint.arb("0.5")
    return (lower + (upper - lower) * step).mid()


def closed_in(f: Function, low: Fraction, high: Fraction, digits: int = 15, guard: int = 8) -> flint.arb:
    """A narrow ball around the one root in a bracket that holds exactly one: secant steps without a promise, then signs
    of f decided in balls on both sides. Raises Unsupported where no signs are decided.
    """
    with flint.ctx.workprec(160):
        a, b = (flint.arb(end.numerator) / end.denominator for end in (low, high))
        a, b = a.mid(), b.mid()
        fa, fb = f(a, digits + guard).mid(), f(b, digits + guard).mid()
        for _ in range(12):
            step = fb * (b - a) / (fb - fa) if fb != fa else flint.arb(0)
            middle = (b - step).mid()
            if not (middle > flint.arb(low.numerator) / low.denominator * flint.arb("0.999")) or not (
                middle < flint.arb(high.numerator) / high.denominator * flint.arb("1.001")
            ):
                break
            a, fa, b, fb = b, fb, middle, f(middle, digits + guard).mid()
            if abs(b - a) < abs(b) * flint.arb(10) ** (-digits - 2):
                break
        for k in range(digits, 3, -1):
            left, right = (b * (1 - flint.arb(10) ** -k)).mid(), (b * (1 + flint.arb(10) ** -k)).mid()
            if _sign(f(left, digits + guard)) * _sign(f(right, digits + guard)) < 0:
                return left.union(right)
    raise Unsupported("a root is not located by signs", where=f"between {float(low):.10g} and {float(high):.10g}")
