"""Second moments as polynomials in log q with proved errors: E f(x), x ~ N(0, q), f >= 0, is analytic in a strip."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import flint
from flint import arb, arb_poly
from sympy import Expr

from derive.activation.pieces import piece_function
from derive.depth.panels import BITS, Panels, panels
from derive.gaussian.answer import answer
from derive.gaussian.enclosure.stable import stable
from derive.gaussian.node import single
from derive.gaussian.numbers import node_ball
from derive.records import Unsupported

DEGREE = 24
ANGLES = (1.3, 0.9, 0.4)


@dataclass(frozen=True, slots=True)
class Model:
    """A function of s in [-1, 1] as a polynomial, with bounds of the error of it, its first and second derivative.

    scale  about the size of what it is a sum of: no digit below 1e-14 of it is to be had
    """

    poly: arb_poly
    errors: tuple[arb, arb, arb]
    scale: arb

    def __add__(self, other: Model) -> Model:
        return Model(self.poly + other.poly, _sum(self.errors, other.errors), self.scale.max(other.scale))

    def scaled(self, factor: arb) -> Model:
        """factor times the function."""
        size = abs(factor).upper()
        errors = (size * self.errors[0], size * self.errors[1], size * self.errors[2])
        return Model(self.poly * factor, errors, size * self.scale)

    def slope(self) -> Model:
        """The derivative; a bound of the error of its second derivative is not known."""
        return Model(self.poly.derivative(), (self.errors[1], self.errors[2], arb("inf")), self.scale)

    def __mul__(self, other: Model) -> Model:
        (f0, f1, f2), (g0, g1, g2) = (self.sizes(), other.sizes())
        (e0, e1, e2), (d0, d1, d2) = self.errors, other.errors
        # (f + e)(g + d) - f g and its derivatives; an infinite bound stays infinite
        zeroth = f0 * d0 + g0 * e0 + e0 * d0
        first = f1 * d0 + f0 * d1 + g1 * e0 + g0 * e1 + e1 * d0 + e0 * d1
        second = f2 * d0 + 2 * f1 * d1 + f0 * d2 + g2 * e0 + 2 * g1 * e1 + g0 * e2 + e2 * d0 + 2 * e1 * d1 + e0 * d2
        return Model(self.poly * other.poly, (zeroth, first, second), self.scale * other.scale)

    def sizes(self) -> tuple[arb, arb, arb]:
        """Bounds of the polynomial and its first two derivatives on [-1, 1]."""
        first = self.poly.derivative()
        return _size(self.poly), _size(first), _size(first.derivative())

    def on(self, centre: arb, half: arb) -> tuple[arb, arb, arb, arb]:
        """On [centre - half, centre + half]: value and slope (in s) at the centre as balls with their errors, and how
        much value and slope vary."""
        local = self.poly(arb_poly([centre, half]))
        rest = slope_rest = arb(0)
        for k in range(1, local.degree() + 1):
            size = abs(local[k])
            rest += size
            slope_rest += k * size if k > 1 else arb(0)
        value = local[0] + arb(0, self.errors[0].upper())
        slope = (local[1] if local.degree() > 0 else arb(0)) / half + arb(0, self.errors[1].upper())
        return value, rest, slope, slope_rest / half


def _size(poly: arb_poly) -> arb:
    return sum((abs(poly[k]) for k in range(poly.degree() + 1)), arb(0)).upper()


def _sum(a: tuple[arb, ...], b: tuple[arb, ...]) -> tuple[arb, arb, arb]:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@dataclass(frozen=True, eq=False)
class Moment:
    """q -> E f(x), x ~ N(0, q), with numbers for the parameters of f; its models on intervals of log q.

    signed  whether f may be negative: |E f| is then bounded by the root of E f^2
    """

    body: Expr
    values: Mapping[str, Any]
    signed: bool = False
    memo: dict = field(default_factory=dict, repr=False)

    def at(self, q: arb) -> arb:
        """The ball at one variance. Raises Unsupported where there is none."""
        node = single(self.body)
        if answer(node).closed is not None:
            value = node_ball(node, {**self.values, "q": q}, 20)
        else:
            value = self._panels().at(q)
        if not value.is_finite():
            raise Unsupported("the expectation is not finite at this variance", where=q.str(5))
        return value

    def _size(self, q: arb) -> arb:
        """A bound of E |f| at one variance."""
        if not self.signed:
            return self.at(q)
        return moment(self.body**2, tuple(self.values.items())).at(q).upper().sqrt()

    def _panels(self) -> Panels:
        if "panels" not in self.memo:
            self.memo["panels"] = panels(piece_function(stable(self.body), self.values))
        return self.memo["panels"]

    def model(self, start: float, end: float) -> Model:
        """The model on log q in [start, end], s from -1 to 1.

        In the strip |Im log q| < pi/2 the expectation is analytic and at most E f under N(0, |q|/cos arg q) over
        sqrt(cos arg q): the interpolation in Chebyshev points errs by at most 4 M rho^(1 - n)/(rho - 1), M its bound
        on the Bernstein ellipse with parameter rho (Trefethen, Approximation Theory and Approximation Practice,
        theorem 8.2, whose coefficient bound gives the derivatives too).
        """
        key = start, end
        if key not in self.memo:
            with flint.ctx.workprec(BITS):
                self.memo[key] = self._model(arb(start), arb(end))
        return self.memo[key]

    def _model(self, start: arb, end: arb) -> Model:
        centre, half = (start + end) / 2, (end - start) / 2
        values = [self.at((centre + half * u).exp()) for u in _points()]
        bound, rho = self._majorant(centre, half)
        noise = 4 * max(v.rad() for v in values)
        size = max(abs(v).mid() for v in values)
        return Model(_interpolant([v.mid() for v in values]), _errors(bound, 1 / rho, noise), size)

    def _majorant(self, centre: arb, half: arb) -> tuple[arb, arb]:
        """(M, rho): the bound on an ellipse inside the strip."""
        refusal: Unsupported | None = None
        for angle in ANGLES:
            height = arb(angle) / half
            rho = height + (1 + height * height).sqrt()
            reach = half * (rho + 1 / rho) / 2
            widest = (centre + reach).exp() / arb(angle).cos()
            try:
                top = self._size(widest.upper())
            except Unsupported as error:
                refusal = error
                continue
            return (top * (widest / (centre - reach).exp()).sqrt()).upper(), rho.lower()
        assert refusal is not None
        raise refusal


def _errors(bound: arb, x: arb, noise: arb) -> tuple[arb, arb, arb]:
    """Bounds of the interpolation error and two derivatives, x = 1/rho; `noise` that of the values times Lebesgue's
    constant (below 4 for fewer than 100 points), with Markov's inequality for derivatives."""
    n, lead = arb(DEGREE), 4 * bound * x**DEGREE
    sums = (1 / (1 - x), n**2 * (1 + x) / (1 - x) ** 3, n**4 / 3 * (1 + 11 * x + 11 * x**2 + x**3) / (1 - x) ** 5)
    factors = (arb(1), n**2, n**4 / 3)
    errors = [(lead * s + noise * f).upper() for s, f in zip(sums, factors, strict=True)]
    return errors[0], errors[1], errors[2]


@lru_cache(maxsize=1)
def _points() -> tuple[arb, ...]:
    with flint.ctx.workprec(BITS + 32):
        return tuple((arb.pi() * (2 * j + 1) / (2 * DEGREE)).cos() for j in range(DEGREE))


@lru_cache(maxsize=1)
def _cosines() -> tuple[tuple[arb, ...], ...]:
    with flint.ctx.workprec(BITS + 32):
        return tuple(
            tuple((arb.pi() * k * (2 * j + 1) / (2 * DEGREE)).cos() for j in range(DEGREE)) for k in range(DEGREE)
        )


@lru_cache(maxsize=1)
def _chebyshev() -> tuple[arb_poly, ...]:
    found = [arb_poly([1]), arb_poly([0, 1])]
    while len(found) < DEGREE:
        found.append(arb_poly([0, 2]) * found[-1] - found[-2])
    return tuple(found)


def _interpolant(values: list[arb]) -> arb_poly:
    """The polynomial through the values at the Chebyshev points."""
    total = arb_poly([0])
    for k, row in enumerate(_cosines()):
        coefficient = sum((c * v for c, v in zip(row, values, strict=True)), arb(0)) * (arb(2 if k else 1) / DEGREE)
        total += _chebyshev()[k] * coefficient
    return total


@lru_cache(maxsize=128)
def variance_model(start: float, end: float) -> Model:
    """The model of q = exp(t) on t in [start, end]."""
    with flint.ctx.workprec(BITS):
        centre, half = (arb(start) + arb(end)) / 2, (arb(end) - arb(start)) / 2
        terms, rest = [], arb(1)
        for k in range(24):
            terms.append(centre.exp() * rest)
            rest = rest * half / (k + 1)
        # the remainder of the series and of its first two derivatives, for a half-width below 2
        error = (centre.exp() * rest * 24**2 * 8).upper()
        return Model(arb_poly(terms), (error, error, error), (centre + half).exp().mid())


@lru_cache(maxsize=64)
def moment(body: Expr, values: tuple[tuple[str, Any], ...], signed: bool = False) -> Moment:
    """The moment of a function with the given parameters, kept between questions."""
    return Moment(body, dict(values), signed)


Family = Callable[[float, float], Model]
"""A function of log q as its model on any interval."""


def in_log(model: Model, start: float, end: float) -> Model:
    """The derivative in log q of a model on [start, end]."""
    return model.slope().scaled(2 / (arb(end) - arb(start)))


__all__ = ["Family", "Model", "Moment", "in_log", "moment", "variance_model"]
