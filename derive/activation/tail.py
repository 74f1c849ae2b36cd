"""Bounds of expressions far out on one side, proved from the structure of the formula."""

from __future__ import annotations

from collections.abc import Mapping

from flint import arb
from sympy import Add, Expr, Integer, Mul, Poly, Pow, exp, expand, log

from derive.activation.growth import Growth, Log, best, log_of, product, total, worst
from derive.activation.interval import INF, Range, integer_power
from derive.activation.ranges import Ranges, constant
from derive.activation.tail_rules import ABOVE, BELOW
from derive.program.registry import by_head
from derive.program.symbols import X
from derive.records import Unsupported


class Tail:
    """The bounds of expressions without kinks for start <= |x| <= end on a side (+1: x > 0, -1: x < 0), start >= 0."""

    def __init__(self, side: int, start: arb, values: Mapping[str, arb], end: arb = INF) -> None:
        self.side, self.start, self.values = side, start, values
        self.ranges = Ranges(start, end, values) if side > 0 else Ranges(-end, -start, values)
        self.known: dict[tuple[str, Expr], Log | None] = {}

    def growth(self, expr: Expr) -> Growth:
        """The bound of |expr|; Unsupported names the smallest part that grows faster or is not understood."""
        bound = self.found(expr)
        if bound is None:
            part = self._blocker(expr)
            raise Unsupported(
                f"no Gaussian growth bound is known for {part} as x goes to {'+-'[self.side < 0]}infinity",
                where=str(part),
                why="a bound exp(a + b|x| + s x^2) (1 + |x|)^n is needed; this part is faster or not understood",
                instead="use a function that grows at most like exp(x^2)",
            )
        return bound

    def found(self, expr: Expr) -> Growth | None:
        """The bound of |expr|, or None."""
        bound = self.above(expr)
        if bound is None:
            return None
        whole = max(0, int(str(bound.n.ceil().unique_fmpz())))
        # a decaying power is at most its value at the start
        a = bound.a + (bound.n * (1 + self.start).log() if bound.n < 0 else 0)
        return Growth(a.upper() if a.is_finite() else a, bound.b, bound.s, whole)

    def _blocker(self, expr: Expr) -> Expr:
        for part in expr.args:
            if part.has(X) and self.above(part) is None:
                return self._blocker(part)
        return expr

    def above(self, expr: Expr) -> Log | None:
        """log|expr| <= the exponent."""
        return self._remember("above", expr, lambda: best(self._above(expr), self._constant_above(expr)))

    def below(self, expr: Expr) -> Log | None:
        """log|expr| >= the exponent."""
        return self._remember("below", expr, lambda: worst(self._below(expr), self._constant_below(expr)))

    def signed(self, expr: Expr) -> Log | None:
        """expr <= the exponent."""
        return self._remember("signed", expr, lambda: best(self._signed(expr), self._other_signed(expr)))

    def _remember(self, kind, expr, compute):
        key = (kind, expr)
        if key not in self.known:
            self.known[key] = None  # a question that leads back to itself has no answer
            self.known[key] = compute()
        return self.known[key]

    def _constant_above(self, expr):
        size = self.ranges(expr).magnitude()
        return Log(log_of(size.high)) if size.finite() else None

    def _constant_below(self, expr):
        low = self.ranges(expr).magnitude().low
        return Log(low.log()) if low > 0 and low.is_finite() else None

    # upper bounds of |expr|

    def _above(self, expr: Expr) -> Log | None:
        if not expr.has(X):
            return None
        if expr == X:
            return Log(arb(0), n=arb(1))
        if isinstance(expr, Add):
            return total([self.above(term) for term in expr.args])
        if isinstance(expr, Mul):
            return product([self.above(factor) for factor in expr.args])
        if isinstance(expr, Pow):
            return self._power(expr, self.above, self.below)
        if isinstance(expr, exp):
            return self.signed(expr.args[0])
        operation = by_head().get(type(expr))
        rule = ABOVE.get(operation.name) if operation is not None else None
        return rule(self, *expr.args) if rule is not None else None

    def _power(self, expr, same, opposite):
        if expr.exp.has(X):
            sign = 1 if same == self.above else -1
            exponent = self.signed(sign * expr.exp * log(expr.base))
            return exponent.scaled(arb(sign)) if exponent is not None else None
        power = constant(expr.exp, self.values)
        inner = same(expr.base) if power > 0 else opposite(expr.base)
        return inner.scaled(power) if inner is not None and power.is_finite() else None

    def is_positive(self, expr: Expr) -> bool:
        """Whether expr >= 0 on the whole tail."""
        return bool(self.ranges(expr).low >= 0)

    def is_negative(self, expr: Expr) -> bool:
        """Whether expr <= 0 on the whole tail."""
        return bool(self.ranges(expr).high <= 0)

    def size(self, expr: Expr) -> Expr | None:
        """|expr| as an expression, where the sign is known."""
        return expr if self.is_positive(expr) else -expr if self.is_negative(expr) else None

    def logarithm(self, inner: Expr) -> Log | None:
        """|log(inner)| <= C (1 + |x|)^m from both bounds of the argument."""
        high, low = self.above(inner), self.below(inner)
        if high is None or low is None or not high.a.is_finite():
            return None
        a, b, s, n = (
            max(abs(p), abs(q)) for p, q in ((high.a, low.a), (high.b, low.b), (high.s, low.s), (high.n, low.n))
        )
        degree = 2 if s > 0 else 1 if b > 0 or n > 0 else 0
        return Log(log_of(a + b + s + n), n=arb(degree))

    # lower bounds of |expr|

    def _below(self, expr: Expr) -> Log | None:
        if not expr.has(X):
            return None
        if expr == X:
            return Log((self.start / (1 + self.start)).log(), n=arb(1)) if self.start > 0 else None
        if isinstance(expr, Add):
            return self._dominant(expr)
        if isinstance(expr, Mul):
            return product([self.below(factor) for factor in expr.args])
        if isinstance(expr, Pow):
            return self._power(expr, self.below, self.above)
        if isinstance(expr, exp):
            exponent = self.signed(-expr.args[0])
            return exponent.scaled(arb(-1)) if exponent is not None else None
        operation = by_head().get(type(expr))
        rule = BELOW.get(operation.name) if operation is not None else None
        return rule(self, *expr.args) if rule is not None else None

    def _dominant(self, expr: Add) -> Log | None:
        """One summand bounds the sum from below where the summands of other sign are smaller."""
        found = []
        for term in expr.args:
            low = self.below(term)
            if low is None or not (self.is_positive(term) or self.is_negative(term)):
                continue
            helps = self.is_positive if self.is_positive(term) else self.is_negative
            rest = [self.above(other) for other in expr.args if other is not term and not helps(other)]
            if not rest:
                found.append(low)
                continue
            ratio = product([total(rest), low.scaled(arb(-1))])
            share = self._largest(ratio) if ratio is not None else None
            if share is not None and share < 1:
                found.append(low + Log((1 - share).log()))
        return worst(*found)

    def _largest(self, ratio: Log) -> arb | None:
        """exp of an exponent at the start, where it decreases from there on."""
        r = self.start
        slope = ratio.b + 2 * ratio.s * r + ratio.n / (1 + r)
        falls = ratio.s <= 0 and (slope <= 0 if ratio.n >= 0 else ratio.b <= 0)
        return (ratio.a + ratio.b * r + ratio.s * r * r + ratio.n * (1 + r).log()).exp() if falls else None

    # upper bounds of expr itself

    def _signed(self, expr: Expr) -> Log | None:
        if not expr.has(X):
            return Log(constant(expr, self.values))
        if expr.is_polynomial(X):
            return self._signed_polynomial(Poly(expr, X))
        if isinstance(expr, Add):
            return product([self.signed(term) for term in expr.args])
        if isinstance(expr, Mul):
            fixed, rest = expr.as_independent(X, as_Add=False)
            if isinstance(rest, Mul):
                return None
            if isinstance(rest, Add):
                return self.signed(Add(*(fixed * term for term in rest.args)))
            factor = constant(fixed, self.values)
            sign = Integer(1) if factor > 0 else Integer(-1)
            inner = self._rule_signed(rest, int(sign))
            return inner.scaled(abs(factor)) if inner is not None else None
        return self._rule_signed(expr, 1)

    def _rule_signed(self, expr: Expr, sign: int) -> Log | None:
        """sign*expr <= the exponent, for an expression that is no sum or product."""
        if expr == X or expr.is_polynomial(X):
            return self._signed_polynomial(Poly(sign * expr, X))
        if isinstance(expr, log):
            bound = self.above(expr.args[0]) if sign > 0 else self.below(expr.args[0])
            return bound.scaled(arb(sign)) if bound is not None else None
        if isinstance(expr, exp) and sign < 0 and expr.args[0].is_polynomial(X):
            u = expr.args[0]  # exp(u) >= 1 + u, and >= 1 + u + u^2/2 for u >= 0
            return self.signed(expand(-1 - u - u**2 / 2 if self.is_positive(u) else -1 - u))
        return None

    def _signed_polynomial(self, poly: Poly) -> Log | None:
        coefficients = [constant(c, self.values) for c in poly.all_coeffs()][::-1]
        if len(coefficients) > 3 and not self.start > 0:
            return None
        if len(coefficients) <= 3:
            c0, c1, c2 = [*coefficients, arb(0), arb(0)][:3]
            return Log(c0, self.side * c1, c2)
        # x^d q(1/x) = x^2 times x^(d-2) q(1/x), whose supremum is finite where the leading part is negative
        inverse = (1 / self.ranges.x.low if self.side > 0 else 1 / self.ranges.x.high).union(arb(0))
        tail = arb(0)
        for c in coefficients:
            tail = tail * inverse + c
        lead = integer_power(self.ranges.x, len(coefficients) - 3)
        top = (lead * Range(tail.lower(), tail.upper())).high
        return Log(arb(0), s=top) if top.is_finite() else None

    def _other_signed(self, expr: Expr) -> Log | None:
        """From the range, or from |expr| <= e^a (1 + |x|)^n with n <= 2."""
        high = self.ranges(expr).high
        bounded = Log(high) if high.is_finite() else None
        size = self.above(expr)
        powered = None
        if size is not None and size.s <= 0 and size.b <= 0 and size.n <= 2:
            c = size.a.exp()
            powered = Log(c) if size.n <= 0 else Log(c, c) if size.n <= 1 else Log(c, 2 * c, c)
        return best(bounded, powered)
