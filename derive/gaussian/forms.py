"""Nodes and their closed forms in the symbols of their own law."""

from __future__ import annotations

from functools import lru_cache

from sympy import (
    Derivative,
    Expr,
    Integer,
    Mul,
    Pow,
    Rational,
    Symbol,
    acos,
    atan2,
    cancel,
    cosh,
    count_ops,
    exp,
    expand_mul,
    factor_terms,
    gcd_terms,
    sinh,
    sqrt,
)

from derive.activation.normal_form import Term, derivative, normal_form, to_piecewise
from derive.gaussian.answer import answer
from derive.gaussian.decompose import KINKS
from derive.gaussian.enclosure.stable import stable
from derive.gaussian.node import GaussianE, pair, single
from derive.gaussian.tidy import cost
from derive.program.symbols import DELTA, Q1, Q2, K, Q, U, V, X

FAR_OUT, LARGEST_POWER = 40000, 80
"""Where samples stand at the largest variances, and what e may be raised to in single precision."""
FEW = 60
"""Operations up to which a form in a special law is gathered anew."""


@lru_cache(maxsize=1024)
def canonical(node: GaussianE) -> GaussianE:
    """The node with the reserved symbols for its law: a centred single in q, a centred pair in (q1, q2, K)."""
    if not node.mean.is_zero_matrix:
        return node
    if node.cov.rows == 1:
        return single(node.body.subs(node.variables[0], X), Q)
    if node.cov.rows == 2:
        first, second = node.variables
        if any(power.exp.is_negative and power.has(first) and power.has(second) for power in node.body.atoms(Pow)):
            return node  # a quotient in both: what can be said of it rests on the symmetries of its own law
        body = node.body.subs({first: U, second: V}, simultaneous=True)
        return GaussianE(type(node.integrand)((U, V), body), pair(X, X).cov)
    return node


def closed_form(node: GaussianE) -> Expr | None:
    """The closed form of a node in its own law's symbols, or None."""
    if node.cov.rows == 2 and node.cov.det().expand() == 0:
        return answer(node).closed  # one variable in truth: a formula of two means nothing there
    return _in_law(node, answer(canonical(node)).closed)


def partial_form(node: GaussianE) -> Expr | None:
    """A node of one variable without a closed form as a closed part and a simpler node, or None.

    Simpler: some of its pieces are gone, or its integrand is shorter; (1 - tanh(x)**2)**2 is better left alone.
    """
    partial = answer(canonical(node)).partial if node.cov.rows == 1 else None
    if partial is None:
        return None
    if not node.body.has(*KINKS) and any(count_ops(p.body) >= count_ops(node.body) for p in partial.atoms(GaussianE)):
        return None
    return _in_law(node, partial)


def cancels(node: GaussianE) -> bool:
    """Whether the closed form of a node loses digits in floating point, so that code had better integrate."""
    return answer(canonical(node)).cancels


@lru_cache(maxsize=512)
def _in_law(node: GaussianE, closed: Expr | None) -> Expr | None:
    """An expression in the reserved symbols in those of a node's own law."""
    if closed is None or canonical(node) == node:
        return closed
    if node.cov.rows == 1:
        return closed.subs(Q, node.cov[0, 0])
    q1, q2, k = node.cov[0, 0], node.cov[1, 1], node.cov[0, 1]
    delta = DELTA if (q1, q2, k) == (Q1, Q2, K) else q1 * q2 - k**2
    moved = closed.subs({Q1: q1, Q2: q2, K: k, DELTA: delta}, simultaneous=True)
    return moved if {q1, q2, k} <= {Q1, Q2, K, -K} else _gathered(moved)


def _gathered(expr: Expr) -> Expr:
    """Terms that a special law made alike taken together: sqrt(q) + sqrt(2 q) -> sqrt(q) (1 + sqrt(2))."""
    expr = expr.xreplace({angle: _angle(*angle.args) or angle for angle in expr.atoms(atan2)})
    if count_ops(expr) > FEW:
        return expr
    return min((expr, gcd_terms(expr), factor_terms(expand_mul(expr))), key=cost)


def _angle(y: Expr, x: Expr) -> Expr | None:
    """atan2(y, x) = arccos(x/r) where y >= 0 and r = sqrt(x^2 + y^2) has no root: atan2(q sqrt(1 - c^2), -c q)."""
    r = sqrt(factor_terms(expand_mul(y**2 + x**2)))
    above = all(f.is_nonnegative or (f.is_Pow and f.exp == Rational(1, 2)) for f in Mul.make_args(y))
    if r.atoms(Pow) or not (r.is_positive and above):
        return None
    return acos(cancel(x / r))


def differentiate_closed(closed: Expr, part: Derivative) -> Expr:
    """The derivative of a closed form, through Delta = q1*q2 - K**2 as well."""
    for symbol, count in part.variable_count:
        for _ in range(int(count)):
            closed = closed_partial(closed, symbol)
    return closed


@lru_cache(maxsize=256)
def slope_form(part: Derivative, closed: Expr) -> Expr:
    """A derivative of a node with that closed form, as short as is known.

    d/dq E f is also E[x f'(x)]/(2 q) where f has no jump (x = sqrt(q) z): an expectation of its own, derived and
    tested like any other, and often much shorter than a differentiated form.
    """
    differentiated = differentiate_closed(closed, part)
    node = part.expr
    if part.variables != (Q,) or node != single(node.body):
        return differentiated
    slope, jumps = derivative(normal_form(node.body))
    other = None if jumps else closed_form(single(X * to_piecewise(slope)))
    if other is None:
        return differentiated
    return min((differentiated, other / (2 * Q), expand_mul(other / (2 * Q))), key=cost)


def open_slope(part: Derivative) -> Expr | None:
    """d/dq E f as E f''/2, or as E x f'/(2 q) where f' jumps; None where f jumps or it is another derivative.

    E (x^2 - q) f/(2 q^2), which always holds, loses all digits at small q unless f(0) = 0.
    """
    node = part.expr
    if part.variables != (Q,) or node != single(node.body):
        return None
    slope, jumps = derivative(normal_form(stable(node.body)))
    if jumps:
        return None
    bend, kinks = derivative(slope)
    form = slope if kinks else bend
    if any(_overflows(term) for term in form.terms):
        return None
    return single(X * to_piecewise(form)) / (2 * Q) if kinks else single(to_piecewise(form)) / 2


def _overflows(term: Term) -> bool:
    """Whether an exponential in a term may leave the range of numbers where the term stands, far out at least."""
    sides = [term.side] if term.side else [-1, 1]
    found = term.value.atoms(exp)
    reach = [e.args[0].subs(X, side * FAR_OUT) for e in found for side in sides]
    return term.value.has(sinh, cosh) or any(not (power - LARGEST_POWER).is_negative for power in reach)


def closed_partial(closed: Expr, symbol: Symbol) -> Expr:
    """d/ds of a closed form in (q1, q2, K, Delta), Delta being q1*q2 - K**2."""
    inner = {Q1: Q2, Q2: Q1, K: -2 * K}.get(symbol, Integer(0))
    return closed.diff(symbol) + closed.diff(DELTA) * inner


__all__ = [
    "cancels",
    "canonical",
    "closed_form",
    "closed_partial",
    "differentiate_closed",
    "partial_form",
    "slope_form",
]
