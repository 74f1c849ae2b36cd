"""A function next to an end of an interval where it is not analytic, in the variable y = -log(distance)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from flint import acb, arb
from sympy import Add, Expr, Mul, Pow, S, exp, expand, log

from derive.activation.bounds import bound
from derive.activation.cells import Cell, compare
from derive.activation.demands import demands
from derive.activation.growth import Growth, Log
from derive.activation.interval import INF
from derive.activation.pieces import PieceFunction
from derive.activation.tail import Tail
from derive.activation.terms import NormalForm, ascending
from derive.activation.zeros import real_zeros
from derive.program.evaluate import plan
from derive.program.gate import freeze
from derive.program.program import Program
from derive.program.symbols import X


@dataclass(frozen=True)
class Corner:
    """g(y) = f(e + side*exp(-y)) for y >= start: sqrt(x), x log(x), x**a are entire functions of y there.

    expr    g, with y written x
    start   where the bounds begin, at least 0
    growth  |g(y)| <= exp(a + b y + s y^2) (1 + y)^n for y >= start: next to the end f is at most distance**-b
    below   a lower bound of |g| of the same form for y >= max(start, 1), n of any sign; None where none is known
    """

    expr: Expr
    values: Mapping[str, arb]
    start: arb
    growth: Growth
    below: Log | None

    @cached_property
    def program(self) -> Program:
        """g in y and the parameters that are balls."""
        symbols = sorted((s for s in self.expr.free_symbols if s != X), key=str)
        return freeze({"value": self.expr}, (X, *symbols))

    def value(self, y: acb, analytic: bool) -> acb:
        """g at a complex ball; non-finite where `analytic` and g is not analytic on it."""
        return plan(self.program)([y, *(acb(self.values[name]) for name in self.program.inputs[1:])], analytic)[0]


def corner(value: Expr, end: Expr, side: int, length: arb, values: Mapping[str, arb]) -> Corner:
    """The function on the side of an end (+1: above it) of an interval of that length.

    Raises Unsupported where the structure of the formula gives no bound.
    """
    expr = approach(value, end, side)
    start = arb(0) if not length.is_finite() else (-length.log()).max(arb(0)).upper()
    named = {name: ball for name, ball in values.items() if name in {s.name for s in expr.free_symbols}}
    growth, low = bound(expr, 1, start, INF, named), Tail(1, start.max(arb(1)), named).below(expr)
    return Corner(expr, named, start, growth, low)


def split_at_poles(f: PieceFunction) -> PieceFunction:
    """The same function, with its pieces cut where a polynomial in a denominator or a logarithm vanishes inside.

    1/x has the pieces x < 0 and x > 0: next to 0 each has a corner. Removable singularities are no poles.
    """
    cells: list[Cell] = []
    for cell, filled in zip(f.form.cells, f.singularities, strict=True):
        known = {item.point for item in filled}
        inside = [
            point
            for demand in demands(cell.value)
            if demand.relation != "nonnegative" and demand.inner.is_polynomial(X) and demand.inner.has(X)
            for point in real_zeros(demand.inner) or ()
            if point not in known and compare(cell.lower, point) == -1 and compare(point, cell.upper) == -1
        ]
        ends = [cell.lower, *ascending(set(inside)), cell.upper]
        cells += [Cell(low, high, cell.value) for low, high in pairwise(ends)]
    if len(cells) == len(f.form.cells):
        return f
    places = tuple(Fraction(int(c.lower.p), int(c.lower.q)) if c.lower.is_Rational else None for c in cells[1:])
    return PieceFunction(NormalForm(f.form.terms, tuple(cells)), places, f.values)


def approach(value: Expr, end: Expr, side: int) -> Expr:
    """value at x = end + side*exp(-x), leading powers taken out of logarithms and roots.

    log(1 - x**2) next to 1 is log(2 exp(-y) - exp(-2y)) = -y + log(2 - exp(-y)).
    """
    return _leading(value.subs(X, end + side * exp(-X)))


def _leading(expr: Expr) -> Expr:
    if not expr.args or not expr.has(X):
        return expr
    expr = expr.func(*(_leading(part) for part in expr.args))
    if isinstance(expr, log):
        rate, rest = _lowest(expr.args[0])
        return -rate * X + log(rest) if rate != 0 else expr
    if isinstance(expr, Pow) and not expr.exp.is_Integer:
        rate, rest = _lowest(expr.base)
        return exp(-rate * expr.exp * X) * rest**expr.exp if rate != 0 else expr
    return expr


def _lowest(expr: Expr) -> tuple[Expr, Expr]:
    """(k, rest) with expr = exp(-k x) rest, k the slowest rate among the terms of a sum of exponentials."""
    terms = [(_rate(term), term) for term in Add.make_args(expand(expr))]
    rates = [rate for rate, _ in terms]
    if not all(rate.is_Rational for rate in rates):
        return S.Zero, expr
    slowest = min(rates, default=S.Zero)
    return slowest, Add(*(term * exp(slowest * X) for _, term in terms))


def _rate(term: Expr) -> Expr:
    """k of a term exp(-k x) times something that is no exponential."""
    rate = S.Zero
    for factor in Mul.make_args(term):
        if isinstance(factor, exp) and factor.args[0].is_polynomial(X):
            rate -= factor.args[0].coeff(X, 1)
    return rate


__all__ = ["Corner", "approach", "corner", "split_at_poles"]
