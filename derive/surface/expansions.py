"""Expansions of results in the variance, and the limit of vanishing variance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath
from sympy import Derivative, Dummy, Expr, Integer, PoleError, Poly, PolynomialError, Rational, latex, oo

from derive.gaussian import numbers
from derive.gaussian.asymptotics import Expansion, expand_large, expand_small
from derive.gaussian.asymptotics.expansion import made
from derive.gaussian.asymptotics.moments import certified
from derive.gaussian.node import GaussianE
from derive.program.symbols import Q
from derive.records import Enclosure, Kind, Unsupported
from derive.surface.exact import exact

MOST_TERMS = 12


@dataclass(frozen=True, repr=False)
class ExpansionResult:
    """An expansion of a result in q.

    expansion  its terms and the order of its remainder
    title      of the result
    symbol     its LaTeX left-hand side

    The coefficients are exact; the remainder is an order, not a bound. Kind: SERIES.
    """

    expansion: Expansion
    title: str = ""
    symbol: str = ""

    kind = Kind.SERIES

    @property
    def expr(self) -> Expr:
        """The sum with its O-term."""
        return self.expansion.expr

    @property
    def terms(self) -> tuple[tuple[Rational, Expr], ...]:
        """(power of q, coefficient), from the leading term on."""
        return self.expansion.terms

    @property
    def remainder(self) -> Rational | None:
        """The power of q in the O-term; None where the expansion is the exact value."""
        return self.expansion.remainder

    def removeO(self) -> Expr:
        """The sum without its O-term."""
        return self.expansion.sum

    def coefficient(self, power: Any, values: Mapping[str, Any] | None = None, /, **named: Any) -> Enclosure:
        """The certified number of the coefficient of q^power, parameters (and q where log(q) occurs) given."""
        given = {name: exact(value, name) for name, value in {**(values or {}), **named}.items()}
        return certified(self.expansion.coefficient(power), given)

    def latex(self) -> str:
        """LaTeX of the expansion."""
        return f"{self.symbol} = {latex(self.expr)}" if self.symbol else latex(self.expr)

    def __repr__(self) -> str:
        return f"<SERIES {self.title + ': ' if self.title else ''}{self.expr}>"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"


def expand(template: Expr, at: Expr, order: int) -> Expansion:
    """The expansion of an expression in expectations E f(x), x ~ N(0, q): a polynomial in them, powers of q in front.

    At 0 all powers below `order`; at oo `order` successive powers of sqrt(q) from the leading one on.
    Raises Unsupported where it is no such polynomial, or an expectation has no expansion.
    """
    parts = {p: p.doit() for p in numbers.outermost(template) if isinstance(p, Derivative)}
    flat = template.xreplace(parts)
    stand_ins = {node: Dummy(f"e{i}") for i, node in enumerate(numbers.outermost(flat))}
    terms = _monomials(flat.xreplace(stand_ins), tuple(stand_ins.values()))
    lost = max([Rational(0), *(-power for _, power, _ in terms)])
    nodes = {}
    for node, stand_in in stand_ins.items():
        if not isinstance(node, GaussianE) or node.cov[0, 0] != Q:
            raise Unsupported("an expansion under a law that is not N(0, q)", where=str(node))
        nodes[stand_in] = (
            expand_small(node, order + lost) if at == 0 else expand_large(node, min(order + 4, MOST_TERMS))
        )
    total = Expansion((), at, None)
    for factor, power, powers in terms:
        part = made({Rational(0): Integer(1)}, at, None)
        for symbol, count in powers:
            for _ in range(count):
                part = part * nodes[symbol]
        total = total + part.times(factor, power)
    return _cut(total, order)


def _monomials(expr: Expr, symbols: tuple[Dummy, ...]) -> list[tuple[Expr, Rational, list[tuple[Dummy, int]]]]:
    """(factor free of q, power of q, powers of the symbols) of each summand."""
    found = []
    try:
        polynomial = Poly(expr, *symbols).terms() if symbols else [((), expr)]
    except PolynomialError as error:
        raise Unsupported("no polynomial in its expectations", where=str(expr)) from error
    for powers, coefficient in polynomial:
        for summand in coefficient.expand().as_coefficients_dict():
            factor, power = (coefficient.expand().as_coefficients_dict()[summand] * summand).as_coeff_exponent(Q)
            if factor.has(Q, *symbols):
                raise Unsupported("a coefficient that is no power of q", where=str(coefficient))
            found.append((factor, Rational(power), [(s, n) for s, n in zip(symbols, powers, strict=True) if n]))
    return found


def _cut(total: Expansion, order: int) -> Expansion:
    if total.at == 0 or not total.terms:
        rest = total.remainder if total.at == oo or total.remainder is None else min(total.remainder, Rational(order))
        return made(dict(total.terms), total.at, rest, total.log_remainder)
    last = total.terms[0][0] - Rational(order, 2)
    beyond = [c for p, c in total.terms if p <= last]
    if total.remainder is None and not beyond:
        return total
    rest = last if total.remainder is None else max(total.remainder, last)
    logs = (
        total.log_remainder
        if rest == total.remainder
        else bool(beyond and dict(total.terms).get(last, Integer(0)).has(Q))
    )
    return made(dict(total.terms), oo, rest, logs)


def limit_at_zero(template: Expr, values: Mapping[str, Any], digits: int) -> Enclosure:
    """The value for q -> 0 from above: node by node, and by the expansion where that is 0/0.

    Raises Unsupported where neither decides.
    """
    value = numbers.number(template, values, digits)
    if mpmath.isfinite(value.mid) and mpmath.isfinite(value.rad):
        return value
    if "q" not in values:
        raise Unsupported(
            "the limit of vanishing variance of this quantity is not available", instead="small variances"
        )
    found = expand(template, Integer(0), 1)
    given = {name: v for name, v in values.items() if name != "q"}
    lead = found.terms[0] if found.terms else None
    if lead is not None and lead[0] < 0:
        size = certified(lead[1], given, digits)
        return Enclosure(mpmath.inf if size.lower > 0 else -mpmath.inf, mpmath.mpf(0))
    return certified(found.coefficient(0), given, digits)


def formal(expr: Expr, symbol: Expr, place: Expr, order: int) -> Expr:
    """SymPy's series of a closed formula. Raises Unsupported where SymPy knows none."""
    try:
        return expr.series(symbol, place, order)
    except (PoleError, NotImplementedError, ValueError) as error:
        raise Unsupported(f"no expansion in {symbol}", where=str(expr)[:80], why=str(error).strip()) from None


def point(at: Any) -> Expr:
    """The point of an expansion as SymPy's 0, oo, or a rational."""
    if at in ("oo", "inf", oo) or at == float("inf"):
        return oo
    number = Fraction(exact(at, "at"))
    return Rational(number.numerator, number.denominator)


__all__ = ["ExpansionResult", "expand", "formal", "limit_at_zero", "point"]
