"""Analytic functions of truncated series, by the differential equations that the functions satisfy."""

from __future__ import annotations

from sympy import (
    Add,
    Expr,
    Function,
    Integer,
    Mul,
    Pow,
    Symbol,
    cos,
    cosh,
    exp,
    factorial,
    log,
    nan,
    oo,
    sin,
    sinc,
    sinh,
    tan,
    tanh,
    zoo,
)

from derive.gaussian.asymptotics.laurent import Laurent, blocked, constant
from derive.program.operations.sigmoid import Sigmoid

Y = Symbol("_y", real=True)
SIMPLE = (exp, sin, cos, sinh, cosh)
"""Functions whose derivatives do not swell."""
EQUATIONS = {
    tanh: lambda y: constant(Integer(1), y.end) + (y * y).scaled(Integer(-1)),
    tan: lambda y: constant(Integer(1), y.end) + y * y,
    Sigmoid: lambda y: y + (y * y).scaled(Integer(-1)),
}
"""F with g' = F(g)."""


def substituted(expr: Expr, series: Laurent, variable: Expr) -> Laurent:
    """An expression with a series for its variable. Raises Unsupported where it is not analytic."""
    if not expr.has(variable):
        return constant(expr, series.end)
    if expr == variable:
        return series
    if isinstance(expr, Add | Mul):
        total = substituted(expr.args[0], series, variable)
        for arg in expr.args[1:]:
            other = substituted(arg, series, variable)
            total = total + other if isinstance(expr, Add) else total * other
        return total
    if isinstance(expr, Pow) and not isinstance(expr, exp) and not expr.exp.has(variable):
        base = substituted(expr.base, series, variable)
        if expr.exp.is_Integer and expr.exp > 0:
            total = base
            for _ in range(int(expr.exp) - 1):
                total = total * base
            return total
        return base.power(expr.exp)
    if isinstance(expr, sinc):
        return substituted(sin(expr.args[0]) / expr.args[0], series, variable)
    if isinstance(expr, Function) and len(expr.args) == 1:
        return composed(expr.func, substituted(expr.args[0], series, variable))
    raise blocked(str(expr))


def composed(head: type, inner: Laurent) -> Laurent:
    """head(inner), for a function that is analytic at the constant term."""
    if not inner.is_zero and inner.start < 0:
        raise blocked(f"{head.__name__} of a function without a finite limit")
    value = inner.at(0)
    first = constant(_constant(head(Y), value), inner.end)
    if head in EQUATIONS:
        return _solved(head, first, inner.derivative())
    if head in SIMPLE:
        return _by_derivatives(head, inner, value)
    slope = head(Y).diff(Y)
    if slope.has(head):
        raise blocked(head.__name__)
    return first + (inner.derivative() * substituted(slope, inner, Y)).integral()


def _solved(head: type, first: Laurent, speed: Laurent) -> Laurent:
    """y with y' = speed F(y): each round of Picard's iteration adds one order at least."""
    right, y = EQUATIONS[head], first
    for end in range(2, first.end + 1):
        y = first.cut(end) + (speed.cut(end - 1) * right(y.cut(end - 1))).integral()
    return y


def _by_derivatives(head: type, inner: Laurent, value: Expr) -> Laurent:
    small = inner + constant(-value, inner.end)
    outer = head(Y)
    total, term = constant(_constant(outer, value), inner.end), constant(Integer(1), inner.end)
    for n in range(1, inner.end):
        term, outer = term * small, outer.diff(Y)
        if term.is_zero:
            break
        total = total + term.scaled(_constant(outer, value) / factorial(n))
    return total


def _constant(expr: Expr, value: Expr) -> Expr:
    """An expression at a point; tanh(log(2)) and its kin are algebraic, tanh(a*log(2)) stays an atom."""
    result = expr.subs(Y, value)
    if result.has(nan, zoo, oo, -oo):
        raise blocked(f"{expr} at {Y} = {value}")
    algebraic = value.has(log) and not value.free_symbols and result.has(tanh, Sigmoid)
    return result.rewrite(exp) if algebraic else result


__all__ = ["Y", "composed", "substituted"]
