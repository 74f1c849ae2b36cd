"""A function of x with numbers for its parameters: pieces on complex balls, values, tails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise

from flint import acb, arb, fmpq
from sympy import Expr, Rational, S, Symbol

from derive.activation import parity as symmetry
from derive.activation.bounds import bound, largest
from derive.activation.cells import Cell
from derive.activation.growth import Growth
from derive.activation.interval import INF, NEG_INF
from derive.activation.normal_form import normal_form
from derive.activation.ranges import constant
from derive.activation.removable import Removable, removable
from derive.activation.terms import NormalForm, from_cells
from derive.program.evaluate import plan
from derive.program.gate import freeze
from derive.program.program import Program
from derive.program.symbols import X
from derive.records import DomainError, EocError, Unsupported


@dataclass(frozen=True)
class PieceFunction:
    """A function with finitely many breakpoints, each piece an expression without kinks.

    form          its cells, ascending and not empty
    exact_breaks  each breakpoint as a Fraction where it is rational, else None
    values        enclosures of the parameters that are no exact numbers, by name
    """

    form: NormalForm
    exact_breaks: tuple[Fraction | None, ...]
    values: Mapping[str, arb] = field(default_factory=dict)

    @property
    def breaks(self) -> tuple[arb, ...]:
        """The breakpoints, ascending, enclosed at the current precision."""
        return tuple(
            ball(exact) if exact is not None else constant(cell.lower, self.values)
            for exact, cell in zip(self.exact_breaks, self.form.cells[1:], strict=True)
        )

    @cached_property
    def programs(self) -> tuple[Program, ...]:
        """One program a piece, in x and the parameters that are balls."""
        symbols = (X, *_symbols(self.form, self.values))
        return tuple(freeze({"value": cell.value}, symbols) for cell in self.form.cells)

    @cached_property
    def singularities(self) -> tuple[tuple[Removable, ...], ...]:
        """The removable singularities of each piece, such as that of tanh(x)/x at 0."""
        return tuple(removable(cell, self.values) for cell in self.form.cells)

    @cached_property
    def parity(self) -> str | None:
        """ "odd", "even" or None, proved on the normal form."""
        return symmetry.parity(self.form)

    def value(self, i: int, z: acb, analytic: bool = False) -> acb:
        """The i-th piece (from the left, from 0) at a complex ball; also outside its interval.

        With `analytic` the result is non-finite unless the piece is analytic on the whole ball.
        """
        program = self.programs[i]
        arguments = [acb(z), *(acb(self.values[name]) for name in program.inputs[1:])]
        result = plan(program)(arguments, analytic)[0]
        if not result.is_finite():
            for singularity in self.singularities[i]:
                filled = singularity.value(acb(z), self.values, analytic)
                if filled.is_finite():
                    return filled
        return result

    def at(self, x: Fraction | int | arb) -> arb:
        """The value at a real point; at a breakpoint the mean of both sides.

        A ball that may contain a breakpoint gives the hull of all pieces it may meet.
        """
        point = x if isinstance(x, arb) else ball(Fraction(x))
        breaks = self.breaks
        for i, (end, exact) in enumerate(zip(breaks, self.exact_breaks, strict=True)):
            if (not isinstance(x, arb) and exact == Fraction(x)) or (end.is_exact() and point == end):
                return (self._real(i, point) + self._real(i + 1, point)) / 2
        first = next((i for i, end in enumerate(breaks) if not point > end), len(breaks))
        last = next((i for i in range(len(breaks), 0, -1) if not point < breaks[i - 1]), 0)
        result = self._real(first, point)
        for i in range(first + 1, last + 1):
            result = result.union(self._real(i, point))
        return result

    def _real(self, i: int, point: arb) -> arb:
        result = self.value(i, acb(point))
        if not result.is_finite() or not result.imag.contains(0):
            return arb.nan()
        return result.real

    def tail(self, side: int, start: arb | Fraction | int) -> Growth:
        """|f(x)| <= exp(a + b|x| + s x^2) (1 + |x|)^n for |x| >= start >= 0 on a side (+1 right, -1 left).

        Raises Unsupported, naming the smallest part that cannot be bounded.
        """
        start = (start if isinstance(start, arb) else ball(Fraction(start))).lower()
        if not start >= 0:
            raise EocError("a tail starts at a distance >= 0 from the origin", where=str(start))
        ends = [NEG_INF, *self.breaks, INF]
        found = []
        for i, (cell, (left, right)) in enumerate(zip(self.form.cells, pairwise(ends), strict=True)):
            near, far = (left.lower(), right.upper()) if side > 0 else (-right.upper(), -left.lower())
            if far > start:
                evaluate = partial(self.value, i) if self.singularities[i] else None
                found.append(bound(cell.value, side, max(near, start), far, self.values, evaluate))
        return largest(found)


def piece_function(expr: Expr, parameters: Mapping[str, Fraction | int | arb] | None = None) -> PieceFunction:
    """The function with numbers for its parameters.

    Exact numbers (Fraction, int, exact arb) are put into the expression; inexact balls stay parameters.
    Raises EocError for a missing parameter, Unsupported where a breakpoint cannot be located.
    """
    exact, values = {}, {}
    for symbol in sorted(S(expr).free_symbols - {X}, key=str):
        number = (parameters or {}).get(symbol.name)
        if number is None:
            raise EocError(f"no value for the parameter {symbol}", where=str(symbol), instead=f"give {symbol} a number")
        if isinstance(number, arb) and not number.is_exact():
            values[symbol.name] = number
            exact[symbol] = _signed_symbol(symbol.name, number)
        else:
            exact[symbol] = rational(number)
    form = normal_form(S(expr).xreplace(exact))
    cells = [cell for cell in form.cells if not _certainly_empty(cell, values)]
    for left, right in pairwise(cells):
        if constant(left.upper - right.lower, values) != 0 and left.upper != right.lower:
            raise _unordered(left.upper)
    inner = [cell for cell in cells[1:-1] if not constant(cell.upper - cell.lower, values) > 0]
    if inner:
        raise _unordered(inner[0].lower)
    breaks = tuple(_exact(cell.lower) for cell in cells[1:])
    # cells that are known to be in order and not empty need no Max in their steps
    return PieceFunction(from_cells(cells), breaks, values)


def _certainly_empty(cell: Cell, values: Mapping[str, arb]) -> bool:
    if cell.lower == S.NegativeInfinity or cell.upper == S.Infinity:
        return False
    return bool(constant(cell.upper - cell.lower, values) <= 0)


def _unordered(end: Expr) -> Unsupported:
    return Unsupported(
        "the order of breakpoints is not decided by the given balls",
        where=str(end),
        why="the pieces of a function must follow each other",
        instead="give the parameters as exact numbers",
    )


def _symbols(form: NormalForm, values: Mapping[str, arb]) -> list[Symbol]:
    found = {s for cell in form.cells for s in cell.value.free_symbols if s != X and s.name in values}
    return sorted(found, key=str)


def _signed_symbol(name: str, number: arb) -> Symbol:
    if number > 0:
        return Symbol(name, positive=True)
    return Symbol(name, negative=True) if number < 0 else Symbol(name, real=True)


def _exact(end: Expr) -> Fraction | None:
    return Fraction(int(end.p), int(end.q)) if end.is_Rational else None


def ball(number: Fraction) -> arb:
    """The enclosure of a rational number."""
    return arb(fmpq(number.numerator, number.denominator))


def rational(number: Fraction | int | arb) -> Expr:
    """An exact number as a SymPy rational."""
    if isinstance(number, arb):
        if not number.is_finite():
            raise DomainError("a parameter must be finite", where=str(number))
        man, power = number.man_exp()
        return Rational(int(man)) * Rational(2) ** int(power)
    value = Fraction(number)
    return Rational(value.numerator, value.denominator)
