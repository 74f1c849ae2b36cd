"""Truncated Laurent series with SymPy coefficients."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, Integer, Rational, binomial, expand

from derive.gaussian.enclosure import budget
from derive.records import Unsupported


@dataclass(frozen=True)
class Laurent:
    """sum_n coefficients[n] t^(start + n) + O(t^end); the first coefficient is not zero unless there is none."""

    start: int
    coefficients: tuple[Expr, ...]
    end: int

    @property
    def is_zero(self) -> bool:
        """Whether no term is known."""
        return not self.coefficients

    @property
    def leading(self) -> Expr:
        """The first coefficient."""
        return self.coefficients[0]

    def at(self, power: int) -> Expr:
        """The coefficient of a power."""
        place = power - self.start
        return self.coefficients[place] if 0 <= place < len(self.coefficients) else Integer(0)

    def __add__(self, other: Laurent) -> Laurent:
        end = min(self.end, other.end)
        start = min(self.start, other.start)
        return make(start, [self.at(n) + other.at(n) for n in range(start, end)], end)

    def scaled(self, factor: Expr) -> Laurent:
        """factor times the series."""
        return make(self.start, [factor * c for c in self.coefficients], self.end)

    def __mul__(self, other: Laurent) -> Laurent:
        end = min(self.start + other.end, other.start + self.end)
        start = self.start + other.start
        sums = [Integer(0)] * max(0, end - start)
        for i, a in enumerate(self.coefficients):
            for j, b in enumerate(other.coefficients):
                if i + j < len(sums):
                    sums[i + j] += a * b
        return make(start, sums, end)

    def power(self, exponent: Expr) -> Laurent:
        """The series to a rational (or, where it starts with a constant, any constant) power."""
        if self.is_zero:
            raise blocked("a power of a function that vanishes to the order that is looked at")
        start = self.start * exponent
        if not start.is_Integer:
            raise blocked(f"the power {exponent} of a function that starts with t**{self.start}")
        unit = make(0, [c / self.leading for c in self.coefficients], self.end - self.start)
        small = unit + constant(Integer(-1), unit.end)
        total, term = constant(Integer(1), unit.end), constant(Integer(1), unit.end)
        for n in range(1, unit.end):
            term = term * small
            if term.is_zero:
                break
            total = total + term.scaled(binomial(exponent, n) if not exponent.is_Rational else _choose(exponent, n))
        total = total.scaled(self.leading**exponent)
        return Laurent(total.start + int(start), total.coefficients, total.end + int(start))

    def derivative(self) -> Laurent:
        """d/dt of the series."""
        slopes = [(self.start + n) * c for n, c in enumerate(self.coefficients)]
        return make(self.start - 1, slopes, self.end - 1)

    def integral(self) -> Laurent:
        """The integral from 0 of a series without negative powers."""
        terms = [c / (self.start + n + 1) for n, c in enumerate(self.coefficients)]
        return make(self.start + 1, terms, self.end + 1)

    def cut(self, end: int) -> Laurent:
        """The series to a lower order."""
        return make(self.start, list(self.coefficients), min(end, self.end))


def make(start: int, coefficients: list[Expr], end: int) -> Laurent:
    """A series, its leading zeros left out. Raises OutOfTime under `budget.limited`."""
    budget.check("its coefficients", "the expansion")
    kept = [expand(c) for c in coefficients][: max(0, end - start)]
    while kept and _vanishes(kept[0]):
        kept, start = kept[1:], start + 1
    while kept and kept[-1] == 0:
        kept.pop()
    return Laurent(start if kept else end, tuple(kept), end)


def constant(value: Expr, end: int) -> Laurent:
    """A constant."""
    return make(0, [value], end)


def variable(end: int, power: int = 1) -> Laurent:
    """A power of the variable."""
    return Laurent(power, (Integer(1),), end)


def _choose(exponent: Expr, n: int) -> Expr:
    value = Rational(1)
    for k in range(n):
        value = value * (exponent - k) / (k + 1)
    return value


def _vanishes(c: Expr) -> bool:
    if c == 0:
        return True
    if c.is_number:
        return bool(c.is_zero or (abs(c.evalf(30)) < Rational(1, 10**20) and c.equals(0)))
    return bool(c.is_zero)


def blocked(part: str) -> Unsupported:
    """The error that names a part without an expansion."""
    return Unsupported("no expansion in powers is known", where=part, why="a part is not analytic there")


__all__ = ["Laurent", "blocked", "constant", "make", "variable"]
