"""Pieces of several variables: indicators of linear conditions, almost everywhere."""

from __future__ import annotations

from sympy import And, Eq, Expr, Heaviside, Integer, Mul, Ne, Not, Or, Piecewise, Symbol
from sympy.core.relational import Relational

from derive.gaussian.polynomials import as_affine
from derive.gaussian.stops import Blocked


def linear_pieces(expr: Piecewise, zs: tuple[Symbol, ...]) -> list[Expr]:
    """A Piecewise as products of its values and steps whose sum it is, but on the boundaries (a null set).

    Raises Blocked for a condition that is no half-space.
    """
    parts, before = [], Integer(1)
    for value, condition in expr.args:
        here = _indicator(condition, zs)
        parts.append(Mul(value, before, here))
        before = before * (1 - here)
    return [part for part in parts if part != 0]


def _indicator(condition, zs) -> Expr:
    if condition in (True, False):
        return Integer(bool(condition))
    if isinstance(condition, And):
        return Mul(*(_indicator(part, zs) for part in condition.args))
    if isinstance(condition, Or):
        return 1 - Mul(*(1 - _indicator(part, zs) for part in condition.args))
    if isinstance(condition, Not):
        return 1 - _indicator(condition.args[0], zs)
    if isinstance(condition, Relational) and not isinstance(condition, Eq | Ne):
        affine = as_affine(condition.gts - condition.lts, zs)
        if affine is not None and any(sum(key) for key in affine):
            return Heaviside(condition.gts - condition.lts)
    raise Blocked([condition])


__all__ = ["linear_pieces"]
