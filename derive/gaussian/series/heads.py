"""A function in which the logistic family occurs, as a sum of atoms times derivatives of tanh of affine arguments."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sympy import (
    Abs,
    Add,
    Dummy,
    Expr,
    Heaviside,
    Integer,
    Max,
    Min,
    Mul,
    Piecewise,
    Poly,
    PolynomialError,
    Pow,
    Rational,
    cosh,
    exp,
    expand,
    log,
    sech,
    sign,
    sinh,
    tanh,
)

from derive.activation.normal_form import normal_form
from derive.gaussian.series.tanh_powers import power_in_derivatives
from derive.gaussian.stops import Blocked
from derive.program.operations.sigmoid import Sigmoid
from derive.program.operations.softplus import Softplus
from derive.program.symbols import X
from derive.records import Unsupported

KINKS = (Abs, Max, Min, Heaviside, sign, Piecewise)
HIGHEST = 12
"""The highest power of tanh that is rewritten."""


@dataclass(frozen=True)
class Head:
    """tanh^(order)(argument), the argument affine in x; order -1 is log(cosh(argument))."""

    argument: Expr
    order: int


@dataclass(frozen=True)
class Part:
    """atom(x) times a product of heads."""

    atom: Expr
    heads: tuple[Head, ...]


StandIns = dict[Head, Dummy]
"""A symbol for each tanh or log cosh met."""


def parts(expr: Expr) -> tuple[Part, ...]:
    """The function of x as a sum of parts, equal to it almost everywhere.

    sigma(y) = (1 + tanh(y/2))/2, 1/(a + b exp(y)) = sigma(-y - log(b/a))/a, powers of tanh by its derivatives;
    log(1 + exp(y)) = y/2 + log(2) + log(cosh(y/2)).
    Raises Blocked where tanh or a logistic function has an argument that is not affine, or stands inside another
    function.
    """
    if not expr.has(*KINKS):
        return _collected(_smooth(expr))
    try:
        terms = normal_form(expr).terms
    except Unsupported as error:
        raise Blocked([expr]) from error
    found = []
    for term in terms:
        step = Heaviside(term.side * (X - term.threshold)) if term.side else Integer(1)
        found += [Part(step * part.atom, part.heads) for part in _smooth(term.value)]
    return _collected(found)


def _collected(found: Iterable[Part]) -> tuple[Part, ...]:
    sums: dict[tuple[Head, ...], Expr] = {}
    for part in found:
        sums[part.heads] = sums.get(part.heads, Integer(0)) + part.atom
    return tuple(Part(atom, heads) for heads, atom in sums.items() if atom != 0)


def _smooth(expr: Expr) -> list[Part]:
    """The parts of an expression without kinks."""
    stand_ins: StandIns = {}
    flat = _rewritten(expr, stand_ins)
    if not stand_ins:
        return [Part(expr, ())]
    symbols = list(stand_ins.values())
    meanings = {symbol: head for head, symbol in stand_ins.items()}
    try:
        polynomial = Poly(expand(flat), *symbols)
    except PolynomialError:
        raise Blocked([expr]) from None
    if any(symbol in coefficient.free_symbols for coefficient in polynomial.coeffs() for symbol in symbols):
        raise Blocked([expr])
    found = []
    for powers, coefficient in polynomial.terms():
        products = [Part(coefficient, ())]
        for symbol, power in zip(symbols, powers, strict=True):
            head = meanings[symbol]
            if power > HIGHEST:
                raise Blocked([tanh(head.argument) ** power])
            if head.order < 0:
                products = [Part(part.atom, part.heads + (head,) * power) for part in products]
            elif power:
                products = [_times(part, head, power, order) for part in products for order in range(-1, power)]
        found += [part for part in products if part.atom != 0]
    return found


def _times(part: Part, head: Head, power: int, order: int) -> Part:
    """The part times one summand of tanh(argument)^power: the constant (order -1) or that with tanh^(order)."""
    constant, coefficients = power_in_derivatives(power)
    if order < 0:
        return Part(part.atom * Rational(constant.numerator, constant.denominator), part.heads)
    c = coefficients[order]
    return Part(part.atom * Rational(c.numerator, c.denominator), (*part.heads, Head(head.argument, order)))


def _rewritten(expr: Expr, stand_ins: StandIns) -> Expr:
    """The expression with every tanh of the family as a symbol."""
    if not expr.has(X) or expr == X:
        return expr
    if isinstance(expr, tanh):
        return _tanh(expr.args[0], expr, stand_ins)
    if isinstance(expr, Sigmoid):
        return _sigma(expr.args[0], expr, stand_ins)
    if isinstance(expr, sech):
        raise Blocked([expr])
    if isinstance(expr, Softplus):
        return _softplus(expr.args[0], expr, stand_ins)
    if isinstance(expr, log):
        return _log(expr, stand_ins)
    if isinstance(expr, Mul):
        quotient = _quotient(expr, stand_ins)
        if quotient is not None:
            return quotient
    if isinstance(expr, Pow) and isinstance(expr.base, sech | cosh) and expr.exp.is_Integer:
        power = expr.exp if isinstance(expr.base, sech) else -expr.exp
        if power > 0 and power % 2 == 0:
            return (1 - _tanh(expr.base.args[0], expr, stand_ins) ** 2) ** (power // 2)
    if isinstance(expr, Pow) and expr.exp.is_Integer and expr.exp < 0:
        return _inverse(expr, stand_ins)
    if isinstance(expr, Add | Mul) or (isinstance(expr, Pow) and expr.exp.is_Integer and not isinstance(expr, exp)):
        return expr.func(*(_rewritten(arg, stand_ins) for arg in expr.args))
    if expr.has(tanh, Sigmoid, Softplus):
        raise Blocked([expr])
    return expr


def _tanh(argument: Expr, where: Expr, stand_ins: StandIns) -> Expr:
    turned, symbol = _stand_in(argument, 0, where, stand_ins)
    return turned * symbol


def _sigma(argument: Expr, where: Expr, stand_ins: StandIns) -> Expr:
    return (1 + _tanh(argument / 2, where, stand_ins)) / 2


def _softplus(argument: Expr, where: Expr, stand_ins: StandIns) -> Expr:
    return argument / 2 + log(2) + _stand_in(argument / 2, -1, where, stand_ins)[1]


def _log(expr: log, stand_ins: StandIns) -> Expr:
    """log of a logistic function, of cosh, or of a exp(y) + b exp(w)."""
    inside = expr.args[0]
    if isinstance(inside, Sigmoid):
        return -_softplus(-inside.args[0], expr, stand_ins)
    if isinstance(inside, Pow) and inside.exp.is_Rational and _two_exponentials(inside.base) is not None:
        return inside.exp * _log(log(inside.base), stand_ins)
    found = _two_exponentials(inside)
    if found is None or not found[0].is_positive:
        raise Blocked([expr])
    a, y, b, w = found
    return log(a) + y + _softplus(w - y + log(b / a), expr, stand_ins)


def _stand_in(argument: Expr, order: int, where: Expr, stand_ins: StandIns) -> tuple[int, Dummy]:
    """A symbol for tanh or log cosh of the argument, one for each pair y, -y; and the sign that turns y to it."""
    try:
        affine = Poly(argument, X).degree() == 1
    except PolynomialError:
        affine = False
    if not affine:
        raise Blocked([where])
    argument = expand(argument)
    turned = -1 if argument.could_extract_minus_sign() else 1
    head = Head(turned * argument, order)
    if head not in stand_ins:
        stand_ins[head] = Dummy("T", real=True)
    return turned, stand_ins[head]


def _two_exponentials(base: Expr) -> tuple[Expr, Expr, Expr, Expr] | None:
    """(a, y, b, w) with base = a exp(y) + b exp(w), b/a positive."""
    base = base.rewrite(exp) if base.has(cosh, sinh) else base
    terms = Add.make_args(expand(base))
    if len(terms) != 2:
        return None
    found: list[Expr] = []
    for term in terms:
        constant, rest = term.as_independent(X)
        if rest != 1 and not isinstance(rest, exp):
            return None
        found += [constant, Integer(0) if rest == 1 else rest.args[0]]
    return (found[0], found[1], found[2], found[3]) if (found[2] / found[0]).is_positive else None


def _inverse(expr: Pow, stand_ins: StandIns) -> Expr:
    """1/(a exp(y) + b exp(w))^n = (exp(-y) sigma(y - w - log(b/a))/a)^n."""
    found = _two_exponentials(expr.base)
    if found is None:
        if expr.has(tanh, Sigmoid, exp):
            raise Blocked([expr])
        return expr
    a, y, b, w = found
    return (exp(-y) * _sigma(y - w - log(b / a), expr, stand_ins) / a) ** (-expr.exp)


def _quotient(expr: Mul, stand_ins: StandIns) -> Expr | None:
    """A quotient by (a exp(y) + b exp(w))^n: each exponential of the numerator is taken up by a logistic function.

    With t = y - w - log(b/a): a exp(y)/base = sigma(t) and b exp(w)/base = sigma(-t).
    """
    for factor in expr.args:
        found = _two_exponentials(factor.base) if isinstance(factor, Pow) and factor.exp.is_negative else None
        if found is None or not factor.exp.is_Integer:
            continue
        rest = expr / factor
        rest = expand(rest.rewrite(exp) if rest.has(cosh, sinh) else rest)
        terms = [_taken_up(term, found, -int(factor.exp), expr, stand_ins) for term in Add.make_args(rest)]
        return Add(*terms)
    return None


def _taken_up(term: Expr, found: tuple, n: int, where: Expr, stand_ins: StandIns) -> Expr:
    a, y, b, w = found
    exponent = Add(*[f.args[0] for f in Mul.make_args(term) if isinstance(f, exp)])
    others = Mul(*[f for f in Mul.make_args(term) if not isinstance(f, exp)])
    count = next((m for m in range(n + 1) if _constant(exponent - m * y - (n - m) * w)), 0)
    left = exponent - count * y - (n - count) * w
    rising = _sigma(y - w - log(b / a), where, stand_ins)
    quotient = (rising / a) ** count * ((1 - rising) / b) ** (n - count)
    return _rewritten(others, stand_ins) * exp(expand(left)) * quotient


def _constant(expr: Expr) -> bool:
    return not expand(expr).has(X)


__all__ = ["Head", "Part", "parts"]
