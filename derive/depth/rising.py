"""All fixed points of the variance map of any block: V is shown to rise, or interval arithmetic decides each part."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import flint
from flint import arb
from sympy import Add, Expr, Integer, Mul, Pow, Rational, oo

from derive.depth.chart import Family, Model, in_log, moment
from derive.depth.conditions import nonnegative, positive_sum
from derive.depth.isolate import HIGHEST, LOWEST, Zeros, zeros
from derive.depth.limits import expansion
from derive.gaussian.asymptotics.moments import certified
from derive.gaussian.node import GaussianE, single
from derive.gaussian.numbers import ball, closed_form, differentiate, evaluate, outermost, plain_ball
from derive.program.symbols import SIGMA_B, Q, X
from derive.records import Unsupported

Values = Mapping[str, Any]
NARROW = 1e-4
"""Relative width below which a part of the line is asked for the slope of V there."""
NARROWEST = 1e-9
WIDEST = 0.7
MOST = 1500
ABOVE = "none missed: V(q) - q is a sum of positive terms at every q > 0"
RISES = (
    "none missed for q in [{:.3g}, {:.3g}]: V rises with q, term by term, so that V(a) > b or V(b) < a leaves no fixed "
    "point in [a, b]; in what is left the slope of V - q has one sign"
)
INTERVALS = (
    "none missed for q in [{:.3g}, {:.3g}]: interval arithmetic with the mean value form leaves no fixed point in a "
    "part of the line, or one where the slope of V - q has one sign"
)


def of_block(variance: Expr, values: Values, lowest: float = LOWEST, highest: float = HIGHEST) -> tuple[Zeros, str]:
    """The zeros of V(q) - q in [lowest, highest], and the sentence that says why none is missed.

    Raises Unsupported where V is not shown to rise and has expectations without a closed form, or where a part of the
    line stays undecided.
    """
    here = {k: v for k, v in values.items() if k != "q"}
    if here["sigma_w"] > 0 and positive_sum((variance - Q).expand(deep=False)):
        return Zeros(lowest, highest, (), (), (1, 1)), ABOVE
    try:
        demand_rising(variance, here, lowest, highest)
        rises, how = True, RISES
    except Unsupported:
        if any(not isinstance(n, GaussianE) or closed_form(n) is None for n in outermost(variance)):
            raise
        rises, how = False, INTERVALS
    found = _Search(variance, here, rises).run(lowest, highest)
    return found, how.format(lowest, highest)


class _Search:
    """Parts of the line, halved until each has no fixed point or one."""

    def __init__(self, variance: Expr, values: Values, rises: bool) -> None:
        self.variance, self.values, self.rises = variance, values, rises
        self.slope = differentiate(variance, Q)
        self.known: dict[Fraction, arb] = {}
        self.left = MOST

    def run(self, lowest: float, highest: float) -> Zeros:
        todo, brackets = [(Fraction(lowest), Fraction(highest))], []
        while todo:
            a, b = todo.pop()
            self.left -= 1
            if self.left < 0:
                raise Unsupported(
                    "the fixed points lie too close to the diagonal to be counted", where=f"near {float(a):.4g}"
                )
            kind = self._kind(a, b)
            if kind == 2:
                brackets.append((a, b))
            if kind is None:
                middle = Fraction(float(a * b) ** 0.5 * 1.0000123)
                if not a < middle < b or float(b / a) - 1 < NARROWEST:
                    raise Unsupported("a part of the line is not decided", where=f"q near {float(a):.10g}")
                todo += [(middle, b), (a, middle)]
        with flint.ctx.workprec(100):
            ends = [self._sign(Fraction(end)) or None for end in (lowest, highest)]
        return Zeros(lowest, highest, tuple(brackets), (), (ends[0], ends[1]))

    def _kind(self, a: Fraction, b: Fraction) -> int | None:
        """0 for no fixed point in [a, b], 2 for one, None where neither is decided."""
        with flint.ctx.workprec(100):
            if self.rises and (self._at(a) > ball(b) or self._at(b) < ball(a)):
                return 0
            width = float(b / a) - 1
            if width > (NARROW if self.rises else WIDEST):
                return None
            box = ball(a).union(ball(b))
            slope = evaluate(self.slope, {**self.values, "q": box}, 14)[0] - 1
            if not slope.is_finite():
                return None
            middle = Fraction(float(a + b) / 2)
            around = self._at(middle) - ball(middle) + slope * (box - ball(middle))
            if around > 0 or around < 0:
                return 0
            signs = self._sign(a), self._sign(b)
            if not (slope > 0 or slope < 0) or 0 in signs:
                return None
            return 2 if signs[0] != signs[1] else 0

    def _at(self, q: Fraction) -> arb:
        if q not in self.known:
            self.known[q] = evaluate(self.variance, {**self.values, "q": q}, 16)[0]
        return self.known[q]

    def _sign(self, q: Fraction) -> int:
        value = self._at(q) - ball(q)
        return 1 if value > 0 else -1 if value < 0 else 0


def demand_rising(expr: Expr, values: Values, low: float, high: float) -> None:
    """Refuse an expression that is not shown to rise with q on [low, high], from the rising of its parts.

    A sum of rising terms rises, and a product of rising factors that are not negative; E f(x), x ~ N(0, v), rises with
    v where its derivative in log v, a model with a proved error, is positive. Raises Unsupported.
    """
    if not expr.has(Q) or expr == Q:
        return
    if expr.is_Add:
        for arg in expr.args:
            demand_rising(arg, values, low, high)
        return
    if isinstance(expr, Mul):
        fixed, rest = expr.as_independent(Q, as_Add=False)
        with flint.ctx.workprec(80):
            good = plain_ball(fixed, values) >= 0 if not fixed.has(GaussianE) else bool(nonnegative(fixed))
        factors = Mul.make_args(rest)
        if good and (len(factors) == 1 or all(nonnegative(f) for f in factors)):
            for factor in factors:
                demand_rising(factor, values, low, high)
            return
    if isinstance(expr, Pow) and expr.exp == 2 and isinstance(expr.base, GaussianE):
        _demand_node(expr.base, values, low, high, squared=True)
        return
    if isinstance(expr, GaussianE):
        _demand_node(expr, values, low, high, squared=False)
        return
    raise Unsupported("a variance map that is not shown to rise", where=str(expr)[:80])


def _demand_node(node: GaussianE, values: Values, low: float, high: float, squared: bool) -> None:
    if node.cov.rows != 1 or not node.mean.is_zero_matrix or node.body.has(Q):
        raise Unsupported("a variance map with an expectation over several units")
    law = node.cov[0, 0]
    if law != Q:
        demand_rising(law, values, low, high)
        with flint.ctx.workprec(80):
            ends = [evaluate(law, {**values, "q": Fraction(end)}, 12)[0] for end in (low, high)]
        low, high = float(ends[0].lower()) * 0.999, float(ends[1].upper()) * 1.001
        if not 0 < low < high:
            raise Unsupported("a variance map whose inner variance is 0")
    body = node.body.xreplace({node.variables[0]: X})
    names = {s.name for s in body.free_symbols}
    given = tuple(sorted((k, v) for k, v in values.items() if k in names))
    kept = moment(body, given, signed=not nonnegative(node))
    found = zeros(_slope_of(kept.model, squared), low, high)
    if found.brackets or found.undecided or found.reason or found.signs != (1, 1):
        raise Unsupported("an expectation that is not shown to rise with the variance", where=str(single(body))[:80])


def at_the_ends(variance: Expr, values: Values) -> tuple[str, str]:
    """What happens at q -> 0 and q -> oo, by the leading terms of the expansions of V(q) - q."""
    here = {k: v for k, v in values.items() if k != "q"}
    return _end(variance, here, Integer(0)), _end(variance, here, oo)


def _end(variance: Expr, values: Values, at: Expr) -> str:
    exact = {
        s: Rational(v.numerator, v.denominator)
        for s in variance.free_symbols
        for v in [values.get(s.name)]
        if v is not None
    }
    parts = [part for term in Add.make_args(variance) for part in Mul.make_args(term)]
    if at == 0 and values["sigma_b"] > 0 and SIGMA_B**2 in Add.make_args(variance) and all(map(nonnegative, parts)):
        return "is no fixed point: V(q) >= sigma_b^2"
    try:
        terms = expansion((variance.xreplace(exact) - Q), at, 4).terms
        for power, coefficient in terms:
            size = certified(coefficient, values)
            if size.lower > 0 or size.upper < 0:
                grows = size.lower > 0
                if at == 0 and power <= 0:
                    return "is no fixed point: V(0) > 0"
                return f"{'repels' if grows == (at == 0) else 'attracts'}: V(q) - q ~ {size} q^({power})"
    except Unsupported as error:
        return f"undecided: {error.what}"
    return "undecided: the leading terms cancel"


def _slope_of(model: Family, squared: bool) -> Family:
    """The derivative in log q of the model, or half that of its square."""

    def family(start: float, end: float) -> Model:
        steep = in_log(model(start, end), start, end)
        return model(start, end) * steep if squared else steep

    return family


__all__ = ["at_the_ends", "demand_rising", "of_block"]
