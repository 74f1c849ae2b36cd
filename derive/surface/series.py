"""Results whose open expectations are finite sums of closed forms with a proved bound."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
from sympy import Derivative, Expr, Symbol

from derive.gaussian import numbers
from derive.gaussian.answer import answer
from derive.gaussian.diagonal import diagonal
from derive.gaussian.node import GaussianE
from derive.gaussian.series import SeriesAnswer, series_answer
from derive.program.symbols import DELTA, Q1, Q2, K, Q
from derive.records import Enclosure, EocError, Kind
from derive.surface.results import Result, resolve

GUARD = 80


@dataclass(frozen=True, repr=False)
class SeriesResult(Result):
    """A result in which tanh, the logistic function and their kin are mixtures of error functions.

    accuracy  of the mixture, uniform on the real line

    `.closed` is the finite sum, `.bound` what it may differ from the truth; `.number()` has the bound in its radius.
    Kind: SERIES.
    """

    accuracy: Fraction = Fraction(1, 10**14)

    @property
    def explicit(self) -> Expr:
        """The formula in nodes, the derivatives of open ones carried out."""
        parts = {part: _carried_out(part) for part in numbers.outermost(self.template) if isinstance(part, Derivative)}
        return self.template.xreplace(parts) if parts else self.template

    @property
    def nodes(self) -> tuple[GaussianE, ...]:
        """The expectations it is made of."""
        found = numbers.outermost(self.explicit)
        return tuple(part.expr if isinstance(part, Derivative) else part for part in found)

    @property
    def sums(self) -> dict[GaussianE, SeriesAnswer]:
        """The finite sum of each open expectation."""
        found = {}
        for node in numbers.outermost(self.explicit):
            if isinstance(node, GaussianE) and answer(numbers.canonical(node)).closed is None:
                found[node] = series_answer(numbers.canonical(node), self.accuracy)
        return found

    @property
    def kind(self) -> Kind:
        """SERIES where a sum stands for an expectation."""
        exact = [answer(numbers.canonical(n)).kind for n in self._all_nodes() if n not in self.sums]
        return Kind.EXACT.worst(*exact, *(Kind.SERIES for _ in self.sums))

    @property
    def blockers(self) -> tuple[str, ...]:
        """Nothing is left open."""
        return ()

    @property
    def closed(self) -> Expr:
        """The formula with every sum written out, in K and Delta = q1*q2 - K**2."""
        return resolve(self.explicit.xreplace({node: in_law(node, found.closed) for node, found in self.sums.items()}))

    @property
    def bounds(self) -> tuple[Expr, ...]:
        """For each open expectation, in the order of `.sums`: an expression above the error of its sum."""
        return tuple(resolve(in_law(node, found.bound)) for node, found in self.sums.items())

    def number(self, values: dict[str, Any] | None = None, /, *, digits: int = 16, **named: Any) -> Enclosure:
        """A certified number; the bound of the series is part of its radius."""
        given = self._checked({**(values or {}), **named})
        replaced: dict[Expr, Expr] = {}
        balls: dict[str, Any] = {}
        with flint.ctx.workprec(int(3.33 * digits) + GUARD):
            for i, (node, found) in enumerate(self.sums.items()):
                replaced[node] = Symbol(f"_series{i}", real=True)
                balls[f"_series{i}"] = _ball(node, found, given, digits, self.accuracy)
        return numbers.number(self.explicit.xreplace(replaced), {**given, **balls}, digits)


def as_series(result: Result, accuracy: Any) -> Result:
    """The result with each open expectation of the logistic family as a finite sum.

    Raises EocError for an accuracy that is none, Blocked or Unsupported naming what is not of the family.
    """
    try:
        exact = Fraction(str(accuracy))
    except (ValueError, ZeroDivisionError):
        raise EocError(f"accuracy = {accuracy!r} is no number", instead='accuracy="1e-14"') from None
    made = SeriesResult(
        result.template, result.arguments, result.domains, result.title, result.symbol, result.notes, exact
    )
    return made if made.sums else result


def in_law(node: GaussianE, expr: Expr) -> Expr:
    """An expression in the canonical law's symbols, in those of the node's own law."""
    if numbers.canonical(node) == node:
        return expr
    if node.cov.rows == 1:
        return expr.subs(Q, node.cov[0, 0])
    q1, q2, k = node.cov[0, 0], node.cov[1, 1], node.cov[0, 1]
    delta = DELTA if (q1, q2, k) == (Q1, Q2, K) else q1 * q2 - k**2
    return expr.subs({Q1: q1, Q2: q2, K: k, DELTA: delta}, simultaneous=True)


def _carried_out(part: Derivative) -> Expr:
    if numbers.closed_form(part.expr) is not None:
        return part
    return numbers.price(part) or part.doit()


def _ball(node: GaussianE, found: SeriesAnswer, given: Mapping[str, Any], digits: int, accuracy: Fraction) -> flint.arb:
    law = numbers.numeric_law(node, given, digits)
    values = {**given, **{name: value for name, value in law.items() if name != "edge"}}
    total = found.ball(values)
    if not total.is_finite() and abs(values.get("c", 0)) == 1:  # a formula of two variables, where the law has one
        line = diagonal(found.node, int(values["c"]), equal=False)
        return _ball(line, series_answer(line, accuracy), values, digits, accuracy)
    bounds = [numbers.evaluate(bound, values, digits)[0].upper() for bound in found.bounds]
    return total + flint.arb(0, min(bounds))


__all__ = ["SeriesResult", "as_series"]
