"""Rigorous ranges of expressions over intervals of x that may reach to infinity."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from flint import acb, arb, fmpz_poly
from sympy import Add, CRootOf, Expr, Max, Min, Mul, Poly, Pow, Symbol

from derive.activation.interval import INF, NEG_INF, WHOLE, Range, integer_power, intersect, outward, positive_power
from derive.program.evaluate import run_balls
from derive.program.gate import freeze
from derive.program.program import Program
from derive.program.registry import by_head, operations
from derive.program.symbols import X
from derive.records import Unsupported

INCREASING = {
    "exp": (arb(0), INF),
    "tanh": (arb(-1), arb(1)),
    "erf": (arb(-1), arb(1)),
    "atan": (arb(-2), arb(2)),
    "sinh": (NEG_INF, INF),
    "asinh": (NEG_INF, INF),
    "sigmoid": (arb(0), arb(1)),
    "normal_cdf": (arb(0), arb(1)),
    "softplus": (arb(0), INF),
    "expm1": (arb(-1), INF),
    "log": (NEG_INF, INF),
    "log1p": (NEG_INF, INF),
    "acosh": (arb(0), INF),
    "asin": (arb(-2), arb(2)),
    "atanh": (NEG_INF, INF),
}
"""Increasing functions with bounds of their values, by operation."""

DECREASING = {"erfc": (arb(0), arb(2)), "erfcx": (arb(0), INF), "acos": (arb(0), arb(4))}

RECIPROCAL = {"coth": "tanh", "csch": "sinh"}
"""Reciprocals of increasing functions."""

EVEN = {"cosh": (1, arb(1), INF), "sech": (-1, arb(0), arb(1)), "normal_pdf": (-1, arb(0), arb(1))}
"""Even functions: +1 increasing or -1 decreasing in |u|, with bounds of their values."""

BOUNDED = {"sin": (arb(-1), arb(1)), "cos": (arb(-1), arb(1)), "sinc": (arb(-1), arb(1)), "owens_t": (arb(-1), arb(1))}


class Ranges:
    """Ranges over low <= x <= high, for parameters with the given enclosures.

    values  name of a parameter -> a ball, or the Range of its domain
    """

    def __init__(self, low: arb, high: arb, values: Mapping[str, arb | Range]) -> None:
        self.x = Range(low, high)
        self.values = {name: value for name, value in values.items() if not isinstance(value, Range)}
        self.boxes = {name: value for name, value in values.items() if isinstance(value, Range)}
        self.known: dict[Expr, Range] = {X: self.x}

    def __call__(self, expr: Expr) -> Range:
        """The range of an expression without kinks; (-inf, inf) where nothing better is known."""
        if expr not in self.known:
            self.known[expr] = self._range(expr)
        return self.known[expr]

    def _range(self, expr: Expr) -> Range:
        if isinstance(expr, Symbol) and expr.name in self.boxes:
            return self.boxes[expr.name]
        boxed = bool(self.boxes) and any(s.name in self.boxes for s in expr.free_symbols)
        if not expr.has(X) and not boxed:
            value = constant(expr, self.values)
            return outward(value.lower(), value.upper()) if value.is_finite() else WHOLE
        if isinstance(expr, (Add, Pow, Mul)) and not boxed and (coefficients := _coefficients(expr)) is not None:
            return self._polynomial(expr, [constant(c, self.values) for c in coefficients])
        if isinstance(expr, Add):
            return self._sum(expr)
        if isinstance(expr, Mul):
            return self._product(expr)
        if isinstance(expr, Pow):
            return self._power(expr.base, expr.exp)
        if isinstance(expr, (Max, Min)):
            parts = [self(part) for part in expr.args]
            pick = max if isinstance(expr, Max) else min
            return Range(pick(part.low for part in parts), pick(part.high for part in parts))
        return self._function(expr)

    def _sum(self, expr: Add) -> Range:
        total = Range(arb(0), arb(0))
        for term in expr.args:
            total = total + self(term)
        return total

    def _product(self, expr: Mul) -> Range:
        total = Range(arb(1), arb(1))
        for factor in expr.args:
            total = total * self(factor)
        return total

    def _polynomial(self, expr: Expr, coefficients: list[arb]) -> Range:
        """A polynomial in x: near infinity as x**n times a polynomial in 1/x."""
        if isinstance(expr, Pow) and expr.base == X:
            return integer_power(self.x, int(expr.exp))
        low, high = self.x.low, self.x.high
        if self.x.finite():
            return intersect(self._plain(expr), taylor_range(coefficients, self.x.ball()))
        if low > 0 or high < 0:
            end = low if low > 0 else high
            inverse = (1 / end).union(arb(0))
            tail = arb(0)
            for c in reversed(coefficients):
                tail = tail * inverse + c
            lead = integer_power(self.x, len(coefficients) - 1)
            return intersect(lead * Range(tail.lower(), tail.upper()), self._plain(expr))
        return self._plain(expr)

    def _plain(self, expr: Expr) -> Range:
        if isinstance(expr, Pow):
            return integer_power(self(expr.base), int(expr.exp))
        return self._sum(expr) if isinstance(expr, Add) else self._product(expr)

    def _power(self, base: Expr, exponent: Expr) -> Range:
        if exponent.is_Integer:
            return integer_power(self(base), int(exponent))
        inside = self(base)
        if exponent.free_symbols and not {s.name for s in exponent.free_symbols} <= set(self.values):
            if inside.low <= 0:
                return WHOLE
            return increasing("exp", increasing("log", inside) * self(exponent))
        if inside.high < 0:
            return WHOLE
        inside = Range(max(inside.low, arb(0)), inside.high)  # where the power is real, the base is >= 0
        power = constant(exponent, self.values)
        if power > 0:
            return Range(positive_power(inside.low, power).lower(), positive_power(inside.high, power).upper())
        if power < 0:
            return integer_power(
                Range(positive_power(inside.low, -power).lower(), positive_power(inside.high, -power).upper()), -1
            )
        return WHOLE

    def _function(self, expr: Expr) -> Range:
        operation = by_head().get(type(expr))
        if operation is None:
            return WHOLE
        if len(expr.args) == 1:
            inside = self(expr.args[0])
            if operation.name in INCREASING:
                return increasing(operation.name, inside)
            if operation.name in RECIPROCAL:
                return integer_power(increasing(RECIPROCAL[operation.name], inside), -1)
            if operation.name in DECREASING:
                return monotone(operation.name, Range(inside.high, inside.low), DECREASING[operation.name])
            if operation.name in EVEN:
                direction, lowest, highest = EVEN[operation.name]
                size = inside.magnitude()
                ends = size if direction > 0 else Range(size.high, size.low)
                return monotone(operation.name, ends, (lowest, highest))
        return self._by_ball(operation, expr)

    def _by_ball(self, operation, expr: Expr) -> Range:
        inside = [self(part) for part in expr.args[: operation.arity] if operation.arity > 0]
        bounds = Range(*BOUNDED.get(operation.name, (NEG_INF, INF)))
        if not inside or not all(part.finite() for part in inside):
            return bounds
        value = operation.ball([acb(part.ball()) for part in inside], True)
        if not value.is_finite() or not value.imag.contains(0):
            return bounds
        return intersect(Range(value.real.lower(), value.real.upper()), bounds)


@lru_cache(maxsize=1024)
def _coefficients(expr: Expr) -> tuple[Expr, ...] | None:
    """The coefficients of a polynomial in x, highest first; None for another function."""
    return tuple(Poly(expr, X).all_coeffs()) if expr.is_polynomial(X) else None


@lru_cache(maxsize=1024)
def _frozen(expr: Expr, symbols: tuple[Symbol, ...]) -> Program:
    return freeze({"value": expr}, symbols)


def constant(expr: Expr, values: Mapping[str, arb]) -> arb:
    """The enclosure of an expression free of x."""
    if expr.has(CRootOf):
        named = {root: Symbol(f"root_{i}") for i, root in enumerate(sorted(expr.atoms(CRootOf), key=str))}
        balls = {symbol.name: algebraic(root) for root, symbol in named.items()}
        return constant(expr.xreplace(named), {**values, **balls})
    symbols = tuple(sorted(expr.free_symbols, key=str))
    missing = [s.name for s in symbols if s.name not in values]
    if missing:
        raise Unsupported(
            "a numeric question needs a number for every parameter",
            where=", ".join(missing),
            instead="give it a value",
        )
    result = run_balls(_frozen(expr, symbols), {s.name: values[s.name] for s in symbols})["value"]
    return result.real if result.imag.is_zero() else arb.nan()


def increasing(name: str, inside: Range) -> Range:
    """The range of an increasing operation."""
    return monotone(name, inside, INCREASING[name])


def monotone(name: str, ends: Range, bounds: tuple[arb, arb]) -> Range:
    """The range of a monotone operation from its values at two ends, inside known bounds."""
    ball = operations()[name].ball
    values = []
    for end, bound, side in ((ends.low, bounds[0], "lower"), (ends.high, bounds[1], "upper")):
        value = ball([acb(end)], False) if end.is_finite() else acb(arb.nan())
        real = value.is_finite() and value.imag.is_zero()
        values.append(getattr(value.real, side)() if real else bound)
    return intersect(Range(*values), Range(*bounds))


def taylor_range(coefficients: list[arb], x: arb) -> Range:
    """A polynomial over a ball, expanded about its centre."""
    centre, shift = arb(x.mid()), x - arb(x.mid())
    row, step = list(coefficients), Range(shift.lower(), shift.upper())
    total = Range(arb(0), arb(0))
    for k in range(len(row)):
        for i in range(1, len(row) - k):
            row[i] = row[i] + centre * row[i - 1]
        term = row[len(row) - 1 - k]
        if not term.is_finite():
            return WHOLE
        total = total + Range(term.lower(), term.upper()) * integer_power(step, k)
    return total


def algebraic(root: CRootOf) -> arb:
    """The enclosure of a real root of an integer polynomial; real roots come first, ascending."""
    coefficients = [int(c) for c in Poly(root.expr).all_coeffs()[::-1]]
    roots: list = fmpz_poly(coefficients).complex_roots()  # pairs (ball, multiplicity)
    real = sorted((z.real for z, _ in roots if z.imag.is_zero()), key=float)
    return real[root.index] if root.index < len(real) else arb.nan()
