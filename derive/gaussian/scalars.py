"""Exact scalars of one question: rational functions of its symbols, and square roots of positive ones.

Every constant, covariance and threshold lives in Q(symbols), where equality, cancellation and zero
tests are exact. A constant that is no rational function of the symbols (log 2, Max(a, b)) becomes
one more symbol.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sympy import Add, Dummy, Expr, Integer, Mul, Pow, Symbol, factorint, pi, sqrt
from sympy.polys.domains import QQ
from sympy.polys.fields import field

from derive.program.symbols import DELTA, Q1, Q2, K

Radicals = frozenset  # of integers and ring polynomials, each under a square root


class Scalars:
    """The field Q(generators) of one question and its conversions from and to SymPy."""

    def __init__(self, constants: Iterable[Expr]) -> None:
        found: dict[Expr, None] = {pi: None}
        for constant in constants:
            _generators(constant, found)
        ordered = sorted(found, key=lambda e: (_rank(e), e.sort_key()))
        stand_ins = [e if isinstance(e, Symbol) else Dummy(f"g{i}", **_assumptions(e)) for i, e in enumerate(ordered)]
        self._back = {s: e for s, e in zip(stand_ins, ordered, strict=True) if s is not e}
        self.field, *elements = field(stand_ins, QQ)
        self._lifted = dict(zip(ordered, elements, strict=True))
        self.zero, self.one, self.pi = self.field.zero, self.field.one, self._lifted[pi]
        self._known: set = set()
        self._roots: dict = {}
        self.delta = None
        if {K, Q1, Q2} <= set(ordered):
            k, q1, q2 = (self._lifted[s].numer for s in (K, Q1, Q2))
            self.delta = q1 * q2 - k**2
            self._known.add(self.delta)
            self._lifted[DELTA] = self.field(self.delta)

    def lift(self, expr: Expr):
        """The element equal to a SymPy constant."""
        if expr in self._lifted:
            return self._lifted[expr]
        if expr.is_Rational:
            return self.field(QQ(int(expr.p), int(expr.q)))
        if isinstance(expr, Add):
            return sum((self.lift(arg) for arg in expr.args), self.zero)
        if isinstance(expr, Mul):
            product = self.one
            for arg in expr.args:
                product = product * self.lift(arg)
            return product
        if isinstance(expr, Pow) and expr.exp.is_Integer:
            return self.lift(expr.base) ** int(expr.exp)
        raise KeyError(expr)

    def poly(self, polynomial) -> Expr:
        """A ring polynomial as a SymPy expression."""
        return polynomial.as_expr().xreplace(self._back)

    def lower(self, element) -> Expr:
        """An element as a SymPy expression, with q1*q2 - K**2 printed as Delta where it is a factor."""
        return self._with_delta(element.numer) / self._with_delta(element.denom)

    def _with_delta(self, polynomial) -> Expr:
        power, rest = self.split_delta(polynomial)
        return DELTA**power * self.poly(rest)

    def split_delta(self, polynomial) -> tuple[int, Any]:
        """(n, r) with polynomial = Delta**n * r and r not divisible by Delta."""
        power = 0
        while self.delta is not None and polynomial:
            quotient, remainder = divmod(polynomial, self.delta)
            if remainder:
                break
            polynomial, power = quotient, power + 1
        return power, polynomial

    def sign(self, element) -> int | None:
        """-1, 0 or 1 where the sign follows from the assumptions on the symbols, else None."""
        if not element:
            return 0
        product = 1
        for polynomial in (element.numer, element.denom):
            sign = self._sign(polynomial)
            if sign is None:
                return None
            product *= sign
        return product

    def _sign(self, polynomial) -> int | None:
        if polynomial in self._known:
            return 1
        if -polynomial in self._known:
            return -1
        for expr in (self.poly(polynomial), self._in_delta(polynomial)):
            if expr is not None and expr.is_positive:
                return 1
            if expr is not None and expr.is_negative:
                return -1
        coefficient, factors = polynomial.factor_list()
        if len(factors) == 1 and factors[0][1] == 1:
            return None
        product = 1 if coefficient > 0 else -1
        for factor, power in factors:
            sign = self._sign(factor) if power % 2 else 1
            if sign is None:
                return None
            product *= sign
        return product

    def _in_delta(self, polynomial) -> Expr | None:
        """A polynomial even in K, with K**2 = q1*q2 - Delta: it shows the sign of many determinants."""
        if self.delta is None:
            return None
        place = self.field.symbols.index(K)
        if not any(powers[place] for powers in polynomial) or any(powers[place] % 2 for powers in polynomial):
            return None
        total = Integer(0)
        for powers, coefficient in polynomial.items():
            rest = self.field.ring.from_dict({(*powers[:place], 0, *powers[place + 1 :]): coefficient})
            total += self.poly(rest) * (Q1 * Q2 - DELTA) ** (powers[place] // 2)
        return total.expand()

    def assume_positive(self, element) -> None:
        """Record that an element is positive: a variance, a determinant, a condition of convergence."""
        self.root(element)

    def root(self, element) -> tuple[Any, Radicals]:
        """(r, S) with sqrt(element) = r * prod sqrt(p), p in S, for an element known to be positive."""
        if element not in self._roots:
            self._roots[element] = self._root(element)
        return self._roots[element]

    def _root(self, element):
        number: Any = QQ(1)
        powers: dict[Any, int] = {}
        for polynomial, side in ((element.numer, 1), (element.denom, -1)):
            coefficient, factors = polynomial.factor_list()
            number = number * coefficient**side
            for factor, power in factors:
                if self._sign(factor) == -1:
                    factor, number = -factor, number * (-1) ** power
                powers[factor] = powers.get(factor, 0) + side * power
        odd = [p for p, power in powers.items() if power % 2 and self._sign(p) is None]
        if number < 0:
            if not odd:
                raise ArithmeticError(f"a square root of the negative {self.lower(element)}")
            flipped = odd[0]
            number, powers[-flipped] = -number, powers.pop(flipped)
            odd[0] = -flipped
        if len(odd) == 1:
            self._known.add(odd[0])
        outside, inside = self.one, set()
        group = None
        for p, power in powers.items():
            half, rest = divmod(power, 2)
            if rest and self._sign(p) == 1:
                inside.add(p)
            elif rest:
                group = p if group is None else group * p
            elif half % 2 and self._sign(p) is None:
                inside.add(p**2)  # sqrt(p**2) = |p|
                half -= 1
            outside = outside * self.field(p) ** half
        if group is not None:
            self._known.add(group)
            inside.add(group)
        factor, primes = _integer_root(int(number.numerator), int(number.denominator))
        return outside * self.field(factor), frozenset(inside | primes)

    def square(self, radical):
        """The element under a radical."""
        return self.field(radical)

    def root_expr(self, radical) -> Expr:
        """A radical as a SymPy expression."""
        return sqrt(radical if isinstance(radical, int) else self._with_delta(radical))

    def product(self, coefficient, radicals: Radicals) -> Expr:
        """coefficient * prod sqrt(p) with each radical kept where it cancels most of the denominator."""
        below = Integer(1)
        above = Integer(1)
        for p in sorted(radicals, key=str):
            if self.divides(p, coefficient.denom):
                coefficient = coefficient * p
                below *= self.root_expr(p)
            else:
                above *= self.root_expr(p)
        return self.lower(coefficient) * above / below

    @staticmethod
    def divides(radical, polynomial) -> bool:
        if isinstance(radical, int):
            return int(polynomial.content()) % radical == 0
        return not divmod(polynomial, radical)[1]


def _generators(expr: Expr, found: dict[Expr, None]) -> None:
    if expr.is_Rational:
        return
    if isinstance(expr, Add | Mul):
        for arg in expr.args:
            _generators(arg, found)
    elif isinstance(expr, Pow) and expr.exp.is_Integer:
        _generators(expr.base, found)
    else:
        found[expr] = None


def _rank(expr: Expr) -> int:
    return {Q1: 0, Q2: 1, K: 2}.get(expr, 3)


def _assumptions(expr: Expr) -> dict[str, bool]:
    if expr.is_positive:
        return {"positive": True}
    if expr.is_negative:
        return {"negative": True}
    return {"real": True}


def _integer_root(above: int, below: int) -> tuple[Any, set[int]]:
    """sqrt(above/below) = factor * prod sqrt(primes)."""
    outside, primes = QQ(1, below), set()
    for prime, power in factorint(above * below).items():
        outside = outside * int(prime) ** (power // 2)
        if power % 2:
            primes.add(int(prime))
    return outside, primes


__all__ = ["Radicals", "Scalars"]
