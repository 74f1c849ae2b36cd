"""Powers of tanh as combinations of its derivatives: tanh^2 = 1 - tanh', tanh^3 = tanh + tanh''/2, ..."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

Coefficients = tuple[Fraction, ...]
"""Of a polynomial, in ascending powers."""


@lru_cache(maxsize=64)
def derivative_in_tanh(order: int) -> Coefficients:
    """The polynomial Q with tanh^(order) = Q(tanh): Q_0 = T, Q_(j+1) = Q_j'(T) (1 - T^2)."""
    if order == 0:
        return (Fraction(0), Fraction(1))
    below = derivative_in_tanh(order - 1)
    slope = [n * c for n, c in enumerate(below)][1:]
    result = [Fraction(0)] * (len(slope) + 2)
    for n, c in enumerate(slope):
        result[n] += c
        result[n + 2] -= c
    return tuple(result)


@lru_cache(maxsize=64)
def power_in_derivatives(power: int) -> tuple[Fraction, Coefficients]:
    """(c, (c_0, ..., c_(power-1))) with tanh^power = c + sum_j c_j tanh^(j)."""
    rest = [Fraction(0)] * power + [Fraction(1)]
    found = [Fraction(0)] * power
    for order in range(power - 1, -1, -1):
        polynomial = derivative_in_tanh(order)
        found[order] = rest[order + 1] / polynomial[order + 1]
        for n, c in enumerate(polynomial):
            rest[n] -= found[order] * c
    return rest[0], tuple(found)


def largest_derivative(order: int) -> Fraction:
    """A bound of |tanh^(order)| on the real line."""
    return sum((abs(c) for c in derivative_in_tanh(order)), Fraction(0))


def derivative_at_zero(order: int) -> Fraction:
    """tanh^(order)(0)."""
    return derivative_in_tanh(order)[0]


__all__ = ["derivative_at_zero", "derivative_in_tanh", "largest_derivative", "power_in_derivatives"]
