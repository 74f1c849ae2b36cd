"""An expression for x -> +oo as powers plus what decays, so that the powers cancel in a difference."""

from __future__ import annotations

from sympy import Expr, Function, Pow, atan, cosh, erf, erfc, exp, expand, log, pi, tanh

from derive.gaussian.asymptotics.infinity import direction_of
from derive.gaussian.special import NormalCdf
from derive.program.operations.sigmoid import Sigmoid
from derive.program.operations.softplus import Softplus
from derive.program.symbols import X
from derive.records import Unsupported

FORMS = {
    (tanh, 1): lambda y: 1 - 2 * Sigmoid(-2 * y),
    (tanh, -1): lambda y: 2 * Sigmoid(2 * y) - 1,
    (erf, 1): lambda y: 1 - erfc(y),
    (erf, -1): lambda y: erfc(-y) - 1,
    (Sigmoid, 1): lambda y: 1 - Sigmoid(-y),
    (NormalCdf, 1): lambda y: 1 - NormalCdf(-y),
    (atan, 1): lambda y: pi / 2 - atan(1 / y),
    (atan, -1): lambda y: -pi / 2 - atan(1 / y),
    (Softplus, 1): lambda y: y + Softplus(-y),
}
"""Identities by function and the sign of its infinite argument."""


def decaying(expr: Expr) -> Expr:
    """The same function, tanh(y) written as 1 - 2 sigma(-2y) where y -> oo, and its kin alike."""
    return expand(_walk(_logistic(expr)))


def _walk(expr: Expr) -> Expr:
    if not expr.has(X) or not expr.args:
        return expr
    factor, rest = expr.args[0].as_independent(X, as_Add=False) if isinstance(expr, log) else (expr, expr)
    if isinstance(rest, cosh):
        y = rest.args[0]
        side = direction_of(y)
        return side * y + Softplus(-2 * side * y) + log(factor / 2) if side else expr
    expr = expr.func(*(_walk(arg) for arg in expr.args))
    if isinstance(expr, log) and (split := _constant_and_rest(expr.args[0])) is not None:
        return split
    if isinstance(expr, Function) and len(expr.args) == 1 and type(expr) in {head for head, _ in FORMS}:
        try:
            side = direction_of(expr.args[0])
        except Unsupported:
            return expr
        form = FORMS.get((type(expr), side))
        return form(expand(expr.args[0])) if form else expr
    return expr


def _constant_and_rest(inside: Expr) -> Expr | None:
    """log(c + r) as log(c) + log(1 + r/c) for r > 0, and log(c) - log(1 - r/(c + r)) for r < 0; c > 0, r -> 0."""
    constant, rest = inside.as_independent(X, as_Add=True)
    if not constant.is_positive or constant == 1 or not _vanishes(rest):
        return None
    if rest.is_positive:
        return log(constant) + log(1 + rest / constant)
    return log(constant) - log(1 - rest / inside) if rest.is_negative else None


def _vanishes(rest: Expr) -> bool:
    """Whether the expression is a multiple of a logistic function or an exponential whose argument goes to -oo."""
    factor = rest.as_independent(X, as_Add=False)[1]
    if not isinstance(factor, (Sigmoid, exp)):
        return False
    try:
        return direction_of(factor.args[0]) == -1
    except Unsupported:
        return False


def _logistic(expr: Expr) -> Expr:
    """1/(1 + exp(y)) = sigma(-y) and log(1 + exp(y)) = softplus(y)."""
    expr = expr.replace(
        lambda e: isinstance(e, Pow) and e.exp == -1 and _is_logistic(e.base), lambda e: Sigmoid(-_exponent(e.base))
    )
    return expr.replace(
        lambda e: isinstance(e, log) and _is_logistic(e.args[0]), lambda e: Softplus(_exponent(e.args[0]))
    )


def _is_logistic(base: Expr) -> bool:
    return bool(base.is_Add and isinstance(base - 1, exp))


def _exponent(base: Expr) -> Expr:
    return (base - 1).args[0]


__all__ = ["decaying"]
