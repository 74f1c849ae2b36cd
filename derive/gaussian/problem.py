"""One expectation inside the calculus, with exact coefficients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import comb
from typing import Any

from sympy import Add, Expr, Heaviside, Lambda, Mul, Rational, Symbol, cos, exp, sin

from derive.gaussian.linalg import Matrix
from derive.gaussian.node import GaussianE
from derive.gaussian.scalars import Scalars
from derive.gaussian.special import NormalCdf

Poly = tuple[tuple[tuple[int, ...], Any], ...]
"""Exponents and coefficients, in a fixed order."""


@dataclass(frozen=True, slots=True)
class Cdf:
    """P(xi < vector . z + offset) for xi ~ N(0, noise), independent of z."""

    vector: tuple
    offset: Any
    noise: Any


@dataclass(frozen=True, slots=True)
class Side:
    """The indicator of side * (z_index - threshold) > 0."""

    index: int
    side: int
    threshold: Any


@dataclass(frozen=True, slots=True)
class Problem:
    """E Re[(poly + i imag) e^(i(wave.z + phase))] e^(z'Az + b.z) prod cdfs prod spaces prod steps, z ~ N(mean, cov).

    quad    upper entries of A and b as a polynomial of degree 1 and 2 without a constant
    spaces  half-spaces (vector, side, threshold): side * (vector . z - threshold) > 0
    steps   half-spaces of single variables
    """

    names: tuple[Symbol, ...]
    cov: Matrix
    mean: tuple
    poly: Poly
    imag: Poly = ()
    quad: Poly = ()
    wave: tuple = ()
    phase: Any = None
    cdfs: tuple[Cdf, ...] = ()
    spaces: tuple[tuple, ...] = ()
    steps: tuple[Side, ...] = ()

    def measure(self) -> tuple:
        """What every rule lowers: unresolved factors, degrees (a multiset order), steps, variables."""
        unresolved = len(self.cdfs) + len(self.spaces) + bool(self.quad) + bool(self.wave)
        moved = any(self.mean)
        degrees = tuple(sorted((sum(key) for key, _ in self.poly + self.imag), reverse=True))
        return (unresolved + moved, degrees, len(self.steps), len(self.names))

    def node(self, scalars: Scalars, spell: Callable | None = None) -> Expr:
        """The same expectation as a SymPy node, for reading; `spell` turns field elements into expressions."""
        low = spell or scalars.lower
        z = self.names
        body = _poly_expr(low, z, self.poly)
        if self.wave:
            angle = Add(*[low(w) * x for w, x in zip(self.wave, z, strict=True)]) + low(self.phase)
            body = body * cos(angle) - _poly_expr(low, z, self.imag) * sin(angle)
        factors = [body]
        if self.quad:
            factors.append(exp(_poly_expr(low, z, self.quad)))
        for cdf in self.cdfs:
            affine = Add(*[low(a) * x for a, x in zip(cdf.vector, z, strict=True)]) + low(cdf.offset)
            factors.append(NormalCdf(affine / low(cdf.noise) ** Rational(1, 2)))
        for vector, side, threshold in self.spaces:
            affine = Add(*[low(a) * x for a, x in zip(vector, z, strict=True)])
            factors.append(Heaviside(side * (affine - low(threshold))))
        factors += [Heaviside(s.side * (z[s.index] - low(s.threshold))) for s in self.steps]
        cov = [[low(entry) for entry in row] for row in self.cov]
        return GaussianE(Lambda(z, Mul(*factors)), cov, [[low(m)] for m in self.mean])

    def describe(self, scalars: Scalars) -> str:
        """The problem in words, for the list of blockers."""
        if self.steps and not (self.quad or self.wave or self.cdfs or self.spaces):
            where = "at the origin" if not any(step.threshold for step in self.steps) else "away from the origin"
            return f"the probability of an orthant of dimension {len(self.steps)} {where}"
        if self.wave:
            return f"a wave correlated with a half-space: {self.node(scalars).body}"
        return str(self.node(scalars).body)


def _poly_expr(low: Callable, z, poly: Poly) -> Expr:
    return Add(*[low(c) * Mul(*[x**k for x, k in zip(z, key, strict=True)]) for key, c in poly])


def frozen(poly: dict) -> Poly:
    """A polynomial in its fixed order, without zeros."""
    return tuple(sorted(((key, c) for key, c in poly.items() if c), key=lambda item: item[0], reverse=True))


def restrict(problem: Problem, keep: list[int]) -> Problem:
    """The problem in the variables `keep`; the others must not occur in the integrand."""
    place = {old: new for new, old in enumerate(keep)}

    def pick(vector):
        return tuple(vector[i] for i in keep)

    def cut(poly: Poly) -> Poly:
        return tuple((pick(key), c) for key, c in poly)

    return replace(
        problem,
        names=pick(problem.names),
        cov=tuple(pick(problem.cov[i]) for i in keep),
        mean=pick(problem.mean),
        poly=cut(problem.poly),
        imag=cut(problem.imag),
        quad=cut(problem.quad),
        wave=pick(problem.wave) if problem.wave else (),
        cdfs=tuple(replace(cdf, vector=pick(cdf.vector)) for cdf in problem.cdfs),
        spaces=tuple((pick(vector), side, t) for vector, side, t in problem.spaces),
        steps=tuple(replace(step, index=place[step.index]) for step in problem.steps),
    )


def used(problem: Problem) -> list[int]:
    """The variables that occur in the integrand."""
    size = range(len(problem.names))
    found = {step.index for step in problem.steps}
    for key, _ in problem.poly + problem.imag + problem.quad:
        found |= {i for i in size if key[i]}
    vectors = [cdf.vector for cdf in problem.cdfs] + [vector for vector, _, _ in problem.spaces]
    for vector in (*vectors, problem.wave):
        found |= {i for i in size if vector and vector[i]}
    return sorted(found)


def marginal(problem: Problem, scalars: Scalars) -> tuple[Any, Problem]:
    """(c, p) with E problem = c * E p: unused variables and those that equal 0 gone, a lone coefficient out."""
    if not (any(problem.mean) or problem.quad or problem.wave or problem.cdfs or problem.spaces):
        stepped = {step.index for step in problem.steps}
        zero = [i for i in range(len(problem.names)) if not problem.cov[i][i] and i not in stepped]
        if zero:
            problem = replace(problem, poly=tuple(item for item in problem.poly if not any(item[0][i] for i in zero)))
    keep = used(problem)
    if len(keep) < len(problem.names):
        problem = restrict(problem, keep)
    if len(problem.poly) == 1 and not problem.imag:
        key, coefficient = problem.poly[0]
        return coefficient, replace(problem, poly=((key, scalars.one),))
    return scalars.one, problem


def shifted(poly: Poly, shift: tuple, zero) -> Poly:
    """The polynomial in y where z = y + shift."""
    if not any(shift):
        return poly
    result: dict = {}
    for key, coefficient in poly:
        parts: list[tuple[tuple[int, ...], Any]] = [((), coefficient)]
        for power, s in zip(key, shift, strict=True):
            options = [(power, None)] if not s else [(k, comb(power, k) * s ** (power - k)) for k in range(power + 1)]
            parts = [((*done, k), c if f is None else c * f) for done, c in parts for k, f in options]
        for new, c in parts:
            result[new] = result.get(new, zero) + c
    return frozen(result)


def times(coefficient, poly: Poly) -> Poly:
    """coefficient * poly."""
    return tuple((key, coefficient * c) for key, c in poly) if coefficient else ()


def plus(first: Poly, second: Poly, zero) -> Poly:
    """first + second."""
    total = dict(first)
    for key, c in second:
        total[key] = total.get(key, zero) + c
    return frozen(total)


__all__ = ["Cdf", "Poly", "Problem", "Side", "frozen", "marginal", "plus", "restrict", "shifted", "times", "used"]
