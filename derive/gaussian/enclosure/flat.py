"""Where a function is a monomial to all digits: the part of a Gaussian integral that needs no quadrature.

tanh, the logistic function and what is made of them reach their asymptotes exponentially fast, and their poles stay
near the real axis: at a large variance an adaptive rule would spend thousands of panels on a constant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flint import acb, arb

from derive.activation.ranges import Ranges
from derive.program.symbols import X
from derive.records import Unsupported

LARGEST_POWER = 6
WORTH_IT = 40
"""Standard deviations below which quadrature is as fast."""


@dataclass(frozen=True, slots=True)
class FlatPart:
    """The integral of f(sigma z) exp(-z**2/2) over start < side*z < end."""

    start: arb
    value: arb


def flat_part(f, sigma: arb, side: int, end: arb, tolerance: arb, digits: int) -> FlatPart | None:
    """The outer part of the integral on one side, if f = r x**n there with an r known to the tolerance.

    r is enclosed by the range of f/x**n over the whole interval; its integral is r times a partial moment.
    """
    source: Any = getattr(f, "source", None)
    if not sigma > WORTH_IT or f.undecided or not hasattr(source, "form"):
        return None
    cell = source.form.cells[-1 if side > 0 else 0]
    edges = [abs(edge).upper() for edge in f.breaks]
    far = (sigma * end).upper()
    start = arb(5 * (digits + 4)) / 2
    for _ in range(4):
        if not start * 4 < far:
            return None
        if all(edge < start for edge in edges):
            found = _monomial(cell.value, source.values, side, start, far, sigma, end, tolerance)
            if found is not None:
                return FlatPart((start / sigma).mid(), found)
        start = start * 4
    return None


def _monomial(value, values, side: int, start: arb, far: arb, sigma: arb, end: arb, tolerance: arb) -> arb | None:
    low, high = (start, far) if side > 0 else (-far, -start)
    cut = (start / sigma).mid()
    for power in range(LARGEST_POWER + 1):
        try:
            found = Ranges(low, high, values)(value / X**power)
        except Unsupported:
            return None
        if not found.finite():
            continue
        moment = sigma**power * _partial_moment(power, cut, end) * (side**power)
        part = found.ball() * moment
        if part.rad() <= tolerance:
            return part
    return None


def _partial_moment(n: int, a: arb, b: arb) -> arb:
    """The integral of z**n exp(-z**2/2) over a < z < b."""
    root = arb(2).sqrt()
    if n == 0:
        return (arb.pi() / 2).sqrt() * (acb(a / root).erfc().real - acb(b / root).erfc().real)
    ends = a ** (n - 1) * (-a * a / 2).exp() - b ** (n - 1) * (-b * b / 2).exp()
    return ends if n == 1 else ends + (n - 1) * _partial_moment(n - 2, a, b)
