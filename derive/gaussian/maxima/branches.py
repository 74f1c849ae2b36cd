"""The monotone branches of a function that rises and falls, proved by the signs of its derivatives."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import flint
import numpy as np
from flint import acb, arb

from derive.gaussian.enclosure.prepared import Prepared
from derive.program.evaluate import plan
from derive.program.gate import freeze
from derive.program.symbols import X
from derive.records import Unsupported

DEEPEST = 40
SAMPLES = 1000
MOST_BOXES = 20_000
"""Parts on which the sign of a slope is asked: a second or two. Far out a slope may fall like a Gaussian."""
STEEPEST = 6
"""Orders of derivatives that may vanish at an end of a piece."""


def unsettled(why: str) -> Unsupported:
    """The refusal where the order of the values of a function is not settled."""
    return Unsupported("the largest of units behind a function that rises and falls was not enclosed", why=why)


@dataclass(frozen=True, eq=False)
class Branch:
    """A stretch left < x < right of one piece on which f rises (sign 1), falls (-1) or stays (0).

    first, last  f at its ends
    table        floats (f, x), ascending in f: first guesses of preimages
    """

    left: arb
    right: arb
    piece: int
    sign: int
    first: arb
    last: arb
    table: tuple[np.ndarray, np.ndarray] = field(repr=False)

    @property
    def low(self) -> arb:
        """The smallest value."""
        return self.first if self.sign >= 0 else self.last

    @property
    def high(self) -> arb:
        """The largest value."""
        return self.last if self.sign >= 0 else self.first


class Derivatives:
    """f' and f'' of the pieces of a function."""

    def __init__(self, f: Prepared) -> None:
        self.f, self.values = f, f.source.values
        names = tuple(sorted({s for cell in f.source.form.cells for s in cell.value.free_symbols} - {X}, key=str))
        first = [cell.value.diff(X) for cell in f.source.form.cells]
        self._slopes, self._names = first, names
        self._plans: dict[tuple[int, int], Any] = {}
        self.flat = [e == 0 for e in first]
        self.parameters = [acb(self.values[s.name]) for s in names]

    def slope(self, piece: int, z: acb, analytic: bool = False) -> acb:
        """f' of a piece."""
        return self.derivative(piece, 1, z, analytic)

    def bend(self, piece: int, z: acb) -> acb:
        """f'' of a piece."""
        return self.derivative(piece, 2, z)

    def derivative(self, piece: int, order: int, z: acb, analytic: bool = False) -> acb:
        """The derivative of a piece of an order from 1."""
        key = piece, order
        if key not in self._plans:
            formula = self._slopes[piece].diff(X, order - 1)
            self._plans[key] = plan(freeze({"value": formula}, (X, *self._names)))
        return self._plans[key]([z, *self.parameters], analytic)[0]


def branches(f: Prepared, of: Derivatives, reach: arb) -> list[Branch]:
    """The monotone branches of f on [-reach, reach], proved by the signs of f' and f''. Raises Unsupported."""
    inside = [edge for edge in f.breaks if abs(edge) < reach]
    first = sum(1 for edge in f.breaks if edge <= -reach)
    found = []
    for piece, (left, right) in enumerate(pairwise([-reach, *inside, reach]), first):
        if of.flat[piece]:
            found.append(_branch(f, piece, left, right, 0))
            continue
        turns = _turns(of, piece, left.mid(), right.mid())
        for low, high in pairwise([left, *turns, right]):
            middle = of.slope(piece, acb(((low + high) / 2).mid())).real
            found.append(_branch(f, piece, low, high, 1 if middle > 0 else -1))
    return found


def _branch(f: Prepared, piece: int, left: arb, right: arb, sign: int) -> Branch:
    first, last = (f.value(piece, acb(x), False).real for x in (left, right))
    if not (first.is_finite() and last.is_finite()):
        raise unsettled("the function is not finite everywhere")
    grid = np.linspace(float(left.mid()), float(right.mid()), SAMPLES)
    with flint.ctx.workprec(53):
        values = np.array([float(f.value(piece, acb(float(x)), False).real.mid()) for x in grid])
    order = np.argsort(values, kind="stable")
    return Branch(left, right, piece, sign, first, last, (values[order], grid[order]))


def _turns(of: Derivatives, piece: int, left: arb, right: arb) -> list[arb]:
    """The points between where f' changes its sign, as balls, ascending."""
    found, stack, boxes = [], [(left, right, 0)], 0
    while stack:
        low, high, depth = stack.pop()
        boxes += 1
        if boxes > MOST_BOXES:
            raise unsettled(f"its slope was not decided on {MOST_BOXES} parts of |x| < {float(right - left) / 2:.3g}")
        box = acb(low.union(high))
        slope = of.slope(piece, box).real
        if slope > 0 or slope < 0:
            continue
        ends = [of.slope(piece, acb(x)).real for x in (low, high)]
        bend = of.bend(piece, box).real
        certain = all(e > 0 or e < 0 for e in ends)
        if (bend > 0 or bend < 0) and certain:
            if (ends[0] > 0) != (ends[1] > 0):
                found.append(_root(of, piece, low, high, bool(ends[1] > 0)))
            continue
        if (low == left or high == right) and _flat_end(of, piece, low if low == left else high, box):
            continue
        if depth > DEEPEST:
            raise unsettled(f"a turning point next to x = {low.str(5, radius=False)} was not isolated")
        # cuts off the middle keep a turning point at a round number from being an end
        middle = (low + (high - low) * arb("0.4871")).mid()
        stack += [(low, middle, depth + 1), (middle, high, depth + 1)]
    return sorted(found, key=float)


def _flat_end(of: Derivatives, piece: int, end: arb, box: acb) -> bool:
    """Whether f' vanishes at the end of the piece and nowhere else in the box, by Taylor's formula there.

    With f', ..., f^(n-1) exactly 0 at the end, f'(x) = f^(n)(y) (x - end)^(n-1)/(n-1)! for a y in between.
    """
    for order in range(1, STEEPEST):
        if not of.derivative(piece, order, acb(end)).real.is_zero():
            return False
        whole = of.derivative(piece, order + 1, box).real
        if whole > 0 or whole < 0:
            return True
    return False


def _root(of: Derivatives, piece: int, low: arb, high: arb, rises: bool) -> arb:
    """The zero of f' between two points where f'' has one sign: bisection, and f'/f'' where f' is not decided."""
    for _ in range(flint.ctx.prec + 20):
        middle = ((low + high) / 2).mid()
        value = of.slope(piece, acb(middle)).real
        if not (value > 0 or value < 0):
            bend = abs(of.bend(piece, acb(low.union(high))).real).lower()
            return middle + arb(0, (abs(value).upper() / bend).upper())
        low, high = (low, middle) if bool(value > 0) == rises else (middle, high)
    return low.union(high)
