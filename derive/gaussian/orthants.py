"""What the orthant rules share: a polynomial of degree 0 on half-spaces, sides turned to 'greater than'."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sympy import Expr, asin, pi

from derive.gaussian.closed import Closed, constant, monomial
from derive.gaussian.problem import Problem
from derive.gaussian.scalars import Scalars


@dataclass(frozen=True, slots=True)
class Orthant:
    """weight * P(w > thresholds), w ~ N(0, cov)."""

    weight: Any
    cov: tuple
    thresholds: tuple


def orthant(problem: Problem, scalars: Scalars, dimension: int) -> Orthant | None:
    """The problem as an orthant of this dimension, or None."""
    steps = problem.steps
    if problem.wave or len(steps) != dimension or len({step.index for step in steps}) != dimension:
        return None
    if any(any(key) for key, _ in problem.poly):
        return None
    weight = sum((c for _, c in problem.poly), scalars.zero)
    cov = tuple(tuple(a.side * b.side * problem.cov[a.index][b.index] for b in steps) for a in steps)
    return Orthant(weight, cov, tuple(step.side * step.threshold for step in steps))


def ratio(value, variance, scalars: Scalars) -> Expr:
    """value / sqrt(variance)."""
    factor, radicals = scalars.root(scalars.one / variance)
    return scalars.product(value * factor, radicals) if value else scalars.lower(value)


def correlation(cov, i: int, j: int, scalars: Scalars) -> Expr:
    """The correlation of two variables."""
    return ratio(cov[i][j], cov[i][i] * cov[j][j], scalars)


def angle(weight, rho: Expr, scalars: Scalars) -> Closed:
    """weight * asin(rho), with the sign of rho taken out, a multiple of pi as such."""
    value = asin(rho)
    turns = value / pi
    if turns.is_Rational:
        return constant(scalars, weight * scalars.pi * scalars.lift(turns))
    if rho.could_extract_minus_sign():
        return monomial(scalars, -weight, special=asin(-rho))
    return monomial(scalars, weight, special=value)


__all__ = ["Orthant", "angle", "correlation", "orthant", "ratio"]
