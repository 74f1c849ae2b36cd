"""Half-spaces of an integrand, and the merging of those of one direction."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, Integer, Max, Min, expand


@dataclass(frozen=True, slots=True)
class Half:
    """The half-space side * (direction . z - threshold) > 0.

    direction  one coefficient a variable; the first non-zero one is 1 where its sign is known
    """

    direction: tuple[Expr, ...]
    side: int
    threshold: Expr


Halves = tuple[Half, ...]


def half_space(affine: dict[tuple[int, ...], Expr], zs) -> Half:
    """The half-space {affine > 0} of an affine function that is not constant."""
    size = len(zs)
    units = [tuple(int(i == j) for j in range(size)) for i in range(size)]
    direction = [affine.get(unit, Integer(0)) for unit in units]
    offset = affine.get((0,) * size, Integer(0))
    lead = next(c for c in direction if c != 0)
    side = 1 if lead.is_positive else -1 if lead.is_negative else 0
    if side == 0:
        return Half(tuple(direction), 1, -offset)
    return Half(tuple(c / lead for c in direction), side, expand(-offset / lead))


def intersect(halves: Halves) -> list[tuple[int, Halves]]:
    """The indicator of an intersection as a signed sum of intersections with one half-space a direction.

    1{x > s} 1{x > t} = 1{x > max(s, t)} and 1{x > s} 1{x < t} = 1{x > s} - 1{x > max(s, t)}.
    """
    for i, first in enumerate(halves):
        for j in range(i + 1, len(halves)):
            second = halves[j]
            if first.direction == second.direction:
                rest = halves[:i] + halves[i + 1 : j] + halves[j + 1 :]
                return [
                    (weight * other, result)
                    for weight, merged in _merge(first, second)
                    for other, result in intersect((*rest, merged))
                ]
    return [(1, halves)]


def _merge(first: Half, second: Half) -> list[tuple[int, Half]]:
    direction = first.direction
    if first.side == second.side:
        choose = maximum if first.side == 1 else minimum
        return [(1, Half(direction, first.side, choose(first.threshold, second.threshold)))]
    low, high = (first, second) if first.side == 1 else (second, first)
    top = maximum(low.threshold, high.threshold)
    if top == low.threshold:
        return []
    return [(1, low), (-1, Half(direction, 1, top))]


def maximum(a: Expr, b: Expr) -> Expr:
    """max(a, b), decided where the assumptions allow."""
    difference = expand(a - b)
    if difference.is_nonnegative:
        return a
    return b if difference.is_nonpositive else Max(a, b)


def minimum(a: Expr, b: Expr) -> Expr:
    """min(a, b), decided where the assumptions allow."""
    difference = expand(a - b)
    if difference.is_nonnegative:
        return b
    return a if difference.is_nonpositive else Min(a, b)


__all__ = ["Half", "Halves", "half_space", "intersect", "maximum", "minimum"]
