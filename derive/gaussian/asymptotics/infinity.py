"""Behaviour of an expression as x -> +oo: powers of 1/x, up to what is smaller than any power."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import (
    Add,
    Expr,
    Function,
    Integer,
    Mul,
    Pow,
    asinh,
    atan,
    cosh,
    erf,
    erfc,
    exp,
    log,
    pi,
    sech,
    sinh,
    tanh,
)

from derive.activation.cells import sign_of
from derive.gaussian.asymptotics.composition import Y, composed
from derive.gaussian.asymptotics.laurent import Laurent, constant, make, variable
from derive.gaussian.special import NormalCdf
from derive.program.operations.sigmoid import Sigmoid
from derive.program.operations.softplus import Softplus
from derive.program.symbols import X
from derive.records import Unsupported

SPARE = 6
"""Orders kept for what quotients lose."""


@dataclass(frozen=True)
class Growing:
    """coefficient * exp(exponent), up to a factor 1 + o(1/x^n) for all n; both Laurent series in 1/x.

    exponent  its terms with positive powers of x only; without terms the value is the coefficient itself, up to
              an error smaller than any power
    """

    coefficient: Laurent
    exponent: Laurent

    @property
    def algebraic(self) -> bool:
        """Whether there is no exponential in it."""
        return self.exponent.is_zero

    @property
    def direction(self) -> int:
        """1 where the exponential grows, -1 where it decays."""
        return _sign(self.exponent.leading)


def tail_powers(expr: Expr, end: int) -> Laurent:
    """The Laurent series in 1/x of an expression as x -> +oo, with an error of the order x^-end.

    Raises Unsupported for growth or oscillation that powers do not describe.
    """
    found = _value(expr, end + SPARE)
    if not found.algebraic:
        if found.direction > 0:
            raise Unsupported("exponential growth has no expansion in powers", where=str(expr))
        return Laurent(end, (), end)
    series = found.coefficient
    if series.end < end:
        raise Unsupported("no expansion to this order", where=str(expr))
    return make(series.start, [series.at(n) for n in range(series.start, end)], end)


def direction_of(expr: Expr) -> int:
    """1 or -1 where the expression goes to oo or -oo as x -> +oo, 0 where it stays finite."""
    found = _value(expr, SPARE)
    if found.algebraic:
        bounded = found.coefficient.is_zero or found.coefficient.start >= 0
    else:
        bounded = found.direction < 0
    return 0 if bounded else _sign(found.coefficient.leading)


def _power(series: Laurent) -> Growing:
    return Growing(series, Laurent(0, (), 0))


def _sign(value: Expr) -> int:
    sign = sign_of(value)
    if sign in (None, 0):
        raise Unsupported("the sign of a coefficient is open", where=str(value), instead="give the parameter a domain")
    return int(sign or 0)


def _value(expr: Expr, end: int) -> Growing:
    if not expr.has(X):
        return _power(constant(expr, end))
    if expr == X:
        return _power(variable(end, -1))
    if isinstance(expr, Add):
        return _sum([_value(arg, end) for arg in expr.args], expr)
    if isinstance(expr, Mul):
        values = [_value(arg, end) for arg in expr.args]  # raises where one grows like exp(exp(x))
        if any(_is_double_decay(arg, end) for arg in expr.args):
            return _nothing(end)
        total = values[0]
        for value in values[1:]:
            total = _times(total, value, expr)
        return total
    if isinstance(expr, exp):
        return _exponential(_value(expr.args[0], end), expr, end)
    if isinstance(expr, Pow) and not expr.exp.has(X):
        return _raised(_value(expr.base, end), expr.exp, end)
    if isinstance(expr, cosh | sinh | sech):
        return _value(expr.rewrite(exp), end)
    if isinstance(expr, Function) and len(expr.args) == 1:
        return _function(expr, _value(expr.args[0], end), end)
    raise Unsupported("its behaviour at infinity is not known", where=str(expr))


def _is_double_decay(expr: Expr, end: int) -> bool:
    """Whether the expression is a positive power of exp(-exp(...)): smaller than any exponential is large."""
    base, power = expr.as_base_exp() if not isinstance(expr, exp) else (expr, Integer(1))
    if not isinstance(base, exp) or not power.is_positive:
        return False
    inside = _value(base.args[0], end)
    return not inside.algebraic and inside.direction > 0 and _sign(inside.coefficient.leading) < 0


def _sum(parts: list[Growing], where: Expr) -> Growing:
    groups: dict[tuple, Growing] = {}
    for part in parts:
        key = part.exponent.coefficients, part.exponent.start if part.exponent.coefficients else 0
        old = groups.get(key)
        groups[key] = Growing(old.coefficient + part.coefficient, part.exponent) if old else part
    best: Growing | None = None
    for part in groups.values():
        if part.coefficient.is_zero and not part.algebraic and part.direction > 0:
            raise Unsupported("exponentials cancel", where=str(where), instead="the difference in one function")
        best = part if best is None or _dominates(part, best) else best
    assert best is not None
    return best


def _dominates(one: Growing, two: Growing) -> bool:
    return _sign(make(*_difference(one.exponent, two.exponent)).leading) > 0


def _difference(a: Laurent, b: Laurent) -> tuple[int, list[Expr], int]:
    start = min(a.start if a.coefficients else 0, b.start if b.coefficients else 0)
    return start, [a.at(n) - b.at(n) for n in range(start, 0)], 0


def _times(a: Growing, b: Growing, where: Expr) -> Growing:
    for one, two in ((a, b), (b, a)):
        lost = one.algebraic and one.coefficient.is_zero
        if lost and not two.algebraic and two.direction > 0:
            raise Unsupported("0 times infinity", where=str(where))
    start, terms, end = _difference(
        a.exponent, Laurent(b.exponent.start, tuple(-c for c in b.exponent.coefficients), 0)
    )
    return Growing(a.coefficient * b.coefficient, make(start, terms, end))


def _exponential(inside: Growing, where: Expr, end: int) -> Growing:
    if not inside.algebraic:
        if inside.direction > 0:
            if _sign(inside.coefficient.leading) > 0:
                raise Unsupported("a double exponential", where=str(where))
            return _nothing(end)
        return _power(constant(Integer(1), end))
    series = inside.coefficient
    polar = make(min(series.start, 0), [series.at(n) for n in range(min(series.start, 0), 0)], 0)
    rest = make(0, [series.at(n) for n in range(max(series.end, 0))], series.end)
    return Growing(composed(exp, rest), polar)


def _nothing(end: int) -> Growing:
    """0 up to what is smaller than any power."""
    return _power(Laurent(end, (), end))


def _raised(base: Growing, power: Expr, end: int) -> Growing:
    if base.algebraic and power.is_Integer and power > 0:
        total = base.coefficient
        for _ in range(int(power) - 1):
            total = total * base.coefficient
        return _power(total)
    return Growing(base.coefficient.power(power), base.exponent.scaled(power))


def _function(expr: Expr, inside: Growing, end: int) -> Growing:
    """A function of one argument, by its limits where the argument is infinite."""
    if inside.algebraic and (inside.coefficient.is_zero or inside.coefficient.start >= 0):
        return _power(composed(expr.func, inside.coefficient))
    if not inside.algebraic and inside.direction < 0:
        return _near_zero(expr, inside, end)
    side = _sign(inside.coefficient.leading)
    limits = {tanh: (1, -1), erf: (1, -1), erfc: (0, 2), Sigmoid: (1, 0), NormalCdf: (1, 0)}.get(type(expr))
    if limits is not None:
        return _power(constant(Integer(limits[0 if side > 0 else 1]), end))
    if isinstance(expr, atan):
        if not inside.algebraic:
            return _power(constant(side * pi / 2, end))
        inverse = composed(atan, inside.coefficient.power(Integer(-1)))
        return _power(constant(side * pi / 2, end) + inverse.scaled(Integer(-1)))
    if isinstance(expr, Softplus):
        if side > 0:
            return inside
        return _exponential(inside, expr, end)
    if isinstance(expr, log) and side > 0 and not inside.algebraic:
        if inside.coefficient.start != 0:
            raise Unsupported("a logarithm has no expansion in powers", where=str(expr))
        polar = Laurent(inside.exponent.start, inside.exponent.coefficients, end)
        return _power(polar + composed(log, inside.coefficient))
    if isinstance(expr, asinh) and not inside.algebraic:
        turned = Growing(inside.coefficient.scaled(Integer(2 * side)), inside.exponent)
        value = _function(log(Y), turned, end)
        return Growing(value.coefficient.scaled(Integer(side)), value.exponent)
    raise Unsupported("its behaviour at infinity is no power", where=str(expr))


def _near_zero(expr: Expr, inside: Growing, end: int) -> Growing:
    """f(small) with an exponentially small argument: f(0), or its first term where f(0) = 0."""
    value = expr.func(Integer(0))
    if value != 0:
        return _power(constant(value, end))
    slope = expr.func(Y).diff(Y).subs(Y, 0)
    if slope == 0 or not slope.is_finite:
        return _nothing(end)
    return Growing(inside.coefficient.scaled(slope), inside.exponent)


__all__ = ["Growing", "direction_of", "tail_powers"]
