"""An asymptotic expansion in powers of the variance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sympy import Add, Expr, Integer, Order, Rational, expand, log, oo

from derive.gaussian.asymptotics.moments import certified
from derive.program.symbols import Q
from derive.records import Enclosure, Kind


@dataclass(frozen=True)
class Expansion:
    """sum of coefficient * q^power, and an error of the order of q^remainder (log q times that where `log_remainder`).

    terms          (power, coefficient) from the leading term on; powers are multiples of 1/2, coefficients are free
                   of q but for log(q), and may hold convergent integrals
    at             0 (from above) or oo
    remainder      None where the expansion is exact
    """

    terms: tuple[tuple[Rational, Expr], ...]
    at: Expr
    remainder: Rational | None
    log_remainder: bool = False

    kind = Kind.SERIES

    @property
    def expr(self) -> Expr:
        """The sum with SymPy's O-term."""
        return self.sum + (Integer(0) if self.remainder is None else self.order_term)

    @property
    def sum(self) -> Expr:
        """The sum without its O-term."""
        return Add(*(coefficient * Q**power for power, coefficient in self.terms))

    @property
    def order_term(self) -> Expr:
        """The O-term."""
        size = Q**self.remainder * (log(Q) if self.log_remainder else 1)
        return Order(size, (Q, self.at)) if self.at is oo else Order(size, Q)

    def coefficient(self, power: Any) -> Expr:
        """The coefficient of a power of q (0 where there is none)."""
        return dict(self.terms).get(Rational(power), Integer(0))

    def certified(self, values: Mapping[str, Any] | None = None, digits: int = 16) -> dict[Rational, Enclosure]:
        """Each coefficient as an enclosure, parameters given as exact numbers.

        Raises Unsupported for log(q) in it, or an integral whose tail is not certified.
        """
        return {power: certified(coefficient, values or {}, digits) for power, coefficient in self.terms}

    def __add__(self, other: Expansion) -> Expansion:
        sums = dict(self.terms)
        for power, coefficient in other.terms:
            sums[power] = sums.get(power, Integer(0)) + coefficient
        return made(sums, self.at, *_worse(self, other))

    def times(self, factor: Expr, power: Rational) -> Expansion:
        """factor * q^power times the expansion, for a factor free of q."""
        terms = {p + power: factor * c for p, c in self.terms}
        rest = None if self.remainder is None else self.remainder + power
        return made(terms, self.at, rest, self.log_remainder)

    def __mul__(self, other: Expansion) -> Expansion:
        sums: dict[Rational, Expr] = {}
        for p, a in self.terms:
            for r, b in other.terms:
                sums[p + r] = sums.get(p + r, Integer(0)) + a * b
        rests = [Expansion((), self.at, None)]
        for one, two in ((self, other), (other, self)):
            if one.remainder is not None:
                lead = two.terms[0][0] if two.terms else (two.remainder if two.remainder is not None else Rational(0))
                logs = one.log_remainder or any(c.has(log(Q)) for _, c in two.terms)
                rests.append(Expansion((), self.at, one.remainder + lead, logs))
        worst = rests[0]
        for rest in rests[1:]:
            worst = Expansion((), self.at, *_worse(worst, rest))
        return made(sums, self.at, worst.remainder, worst.log_remainder)


def made(
    terms: Mapping[Rational, Expr], at: Expr, remainder: Rational | None, log_remainder: bool = False
) -> Expansion:
    """An expansion in order, without zeros and without what its remainder swallows."""
    small = at == 0
    kept = [(Rational(p), _gathered(c)) for p, c in terms.items()]
    kept = [(p, c) for p, c in kept if c != 0 and (remainder is None or (p < remainder if small else p > remainder))]
    kept.sort(key=lambda term: term[0], reverse=not small)
    return Expansion(tuple(kept), at, remainder, log_remainder)


def _gathered(coefficient: Expr) -> Expr:
    """The coefficient expanded, its integrals left as they are."""
    parts = Add.make_args(expand(coefficient, deep=False))
    return Add(*(expand(part, deep=False) for part in parts))


def _worse(one: Expansion, two: Expansion) -> tuple[Rational | None, bool]:
    """The larger of two remainders."""
    rests = [(e.remainder, e.log_remainder) for e in (one, two) if e.remainder is not None]
    if not rests:
        return None, False
    pick = min if one.at == 0 else max
    power = pick(r for r, _ in rests)
    return power, any(logs for r, logs in rests if r == power)


__all__ = ["Expansion", "made"]
