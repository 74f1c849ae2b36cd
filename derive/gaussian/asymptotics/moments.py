"""Certified numbers for coefficients: integrals over intervals and half-lines by balls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import flint
from flint import acb, arb
from sympy import EulerGamma, Expr, Symbol, oo

from derive.activation.pieces import PieceFunction, piece_function
from derive.gaussian import numbers
from derive.gaussian.asymptotics.line_integral import LineIntegral
from derive.records import Enclosure, Unsupported

FARTHEST = 4096


def certified(expr: Expr, values: Mapping[str, Any], digits: int = 16) -> Enclosure:
    """The number of an expression with integrals in it, every symbol given an exact number.

    Raises Unsupported where the decay of an integrand is not proved.
    """
    with flint.ctx.workprec(int(3.33 * digits) + 60):
        replaced: dict[Expr, Expr] = {}
        balls = {}
        for i, part in enumerate(sorted(expr.atoms(LineIntegral), key=str)):
            replaced[part] = Symbol(f"_integral{i}", real=True)
            balls[replaced[part]] = _integral(part, values, digits + 4)
        if expr.has(EulerGamma):
            replaced[EulerGamma] = Symbol("_gamma", real=True)
            balls[replaced[EulerGamma]] = arb.const_euler()
        return numbers.to_enclosure(numbers.plain_ball(expr.xreplace(replaced), values, balls))


def _integral(part: LineIntegral, values: Mapping[str, Any], digits: int) -> arb:
    integrand, lower, upper = part.integrand, part.lower, part.upper
    function = piece_function(integrand, values)
    low = numbers.plain_ball(lower, values)
    goal = arb(10) ** -digits
    if upper != oo:
        return _finite(function, low, numbers.plain_ball(upper, values), goal)
    reach = arb(8).max((2 * low.upper()).ceil())
    rest = _beyond(function, reach)
    while not rest < goal:
        reach = 2 * reach
        if reach > FARTHEST:
            raise Unsupported("the decay of an integrand is not proved", where=str(integrand), why="it is too slow")
        rest = _beyond(function, reach)
    return _finite(function, low, reach, goal) + arb(0, rest.upper())


def _finite(function: PieceFunction, low: arb, high: arb, goal: arb) -> arb:
    """The integral over an interval, cut where powers of two from its start on are passed."""
    total, left, width = arb(0), low, arb(1)
    while left < high:
        right = (left + width).min(high)
        index = sum(1 for edge in function.breaks if edge < (left + right) / 2)

        def value(z: acb, analytic: bool, piece: int = index) -> acb:
            return function.value(piece, z, analytic)

        part = acb.integral(value, acb(left), acb(right), rel_tol=arb(2) ** (20 - flint.ctx.prec), abs_tol=goal / 16)
        total, left, width = total + part.real, right, 2 * width
    return total


def _beyond(function: PieceFunction, reach: arb) -> arb:
    """A bound of the integral of |f| from `reach` on; infinite where the growth bound is not decaying."""
    growth = function.tail(1, reach)
    rate = -(growth.b + growth.s.min(arb(0)) * reach) if growth.s <= 0 else arb(-1)
    # (1 + x)^n exp(-rate x/2) falls from x = 2n/rate - 1 on
    if not rate > 0 or not reach + 1 >= 2 * growth.n / rate:
        return arb("inf")
    return (growth.a - rate * reach).exp() * (1 + reach) ** growth.n * 2 / rate


__all__ = ["certified"]
