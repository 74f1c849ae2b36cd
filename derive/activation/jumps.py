"""The jumps of a piecewise function: the Dirac parts of its derivative."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

from sympy import Expr, Max, Min, Poly, Rational, S, minimal_polynomial

from derive.activation.terms import NormalForm, ascending, shorter
from derive.program.symbols import X


@dataclass(frozen=True, slots=True)
class Jump:
    """A Dirac part of a derivative: height times delta(x - at)."""

    at: Expr
    height: Expr


def jumps(form: NormalForm) -> tuple[Jump, ...]:
    """The jumps of f, ascending as far as that is decidable.

    Heights that are zero are dropped; symbolic heights that vanish for some parameters only are kept.
    Where the order of breakpoints is open the sum of all Dirac parts is right for every order, and the
    tuple is empty if they cancel in every order.
    """
    steps: dict[Expr, Expr] = {}
    for term in form.terms:
        if term.threshold is not None:
            steps[term.threshold] = steps.get(term.threshold, S.Zero) + term.side * term.value
    found = {at: shorter(value_at(step, at)) for at, step in steps.items() if not vanishes_at(step, at)}
    if any(at.has(Max, Min) for at in found) and _cancel_in_every_order(found):
        return ()
    return tuple(Jump(at, found[at]) for at in ascending(found))


def vanishes_at(value: Expr, at: Expr) -> bool:
    """Whether a function of x is certainly zero at a point."""
    height = shorter(value_at(value, at))
    if height == 0:
        return True
    if not height.is_number:
        return bool(height.is_zero)
    if height.is_finite is False or abs(height.evalf(30)) > Rational(1, 10**20):
        return False
    if at.is_algebraic and not at.is_rational and value.is_polynomial(X):
        poly = Poly(value, X)
        if poly.domain.is_ZZ or poly.domain.is_QQ:
            # a rational polynomial vanishes at an algebraic number iff its minimal polynomial divides it
            return bool(poly.rem(Poly(minimal_polynomial(at, X), X)).is_zero)
    return bool(height.is_zero or height.equals(0))


def value_at(value: Expr, at: Expr) -> Expr:
    """The value at a breakpoint, by continuity where substitution gives 0/0."""
    result = value.subs(X, at)
    return value.limit(X, at) if result is S.NaN or result.is_finite is False else result


def _cancel_in_every_order(heights: dict[Expr, Expr]) -> bool:
    points = sorted({leaf for at in heights for leaf in _leaves(at)}, key=str)
    if len(points) > 5:
        return False
    for order in permutations(points):
        merged: dict[Expr, Expr] = {}
        for at, height in heights.items():
            place = _in_order(at, order)
            merged[place] = merged.get(place, S.Zero) + _in_order(height, order)
        if not all(vanishes_at(total, S.Zero) for total in merged.values()):
            return False
    return True


def _leaves(at: Expr) -> list[Expr]:
    return [leaf for part in at.args for leaf in _leaves(part)] if isinstance(at, (Max, Min)) else [at]


def _in_order(expr: Expr, order: tuple[Expr, ...]) -> Expr:
    """The expression with Max and Min of the ordered points resolved."""
    if isinstance(expr, (Max, Min)):
        parts = [_in_order(part, order) for part in expr.args]
        if all(part in order for part in parts):
            pick = max if isinstance(expr, Max) else min
            return pick(parts, key=order.index)
    return expr.func(*(_in_order(part, order) for part in expr.args)) if expr.args else expr
