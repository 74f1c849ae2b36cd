"""Rigorous enclosures of Gaussian expectations: the numeric truth that every closed form is tested against."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import Any

import flint
from flint import arb
from sympy import Abs, Add, Expr, Heaviside, Max, Min, Mul, Piecewise, Symbol, cos, exp, expand, sin

from derive.activation.corners import split_at_poles
from derive.activation.pieces import piece_function, rational
from derive.gaussian.enclosure.budget import SECONDS, limited
from derive.gaussian.enclosure.growth import ball
from derive.gaussian.enclosure.hermite_coefficients import hermite
from derive.gaussian.enclosure.one import enclose_one
from derive.gaussian.enclosure.pair import enclose_pair
from derive.gaussian.enclosure.prepared import Analysed, Prepared, prepare
from derive.gaussian.enclosure.products import Shifted
from derive.gaussian.enclosure.stable import stable
from derive.gaussian.enclosure.waves import is_fast, mean_of_waves, waves
from derive.gaussian.node import GaussianE
from derive.program.evaluate import run_balls
from derive.program.gate import freeze
from derive.program.symbols import Q1, Q2, K, X
from derive.records import DomainError, EocError, Unsupported

KEPT_FUNCTIONS = 256

Number = Fraction | arb


def enclose(node: GaussianE, values: Mapping[str, Number | int], digits: int = 16) -> arb:
    """A ball that contains the expectation, with every symbol given a number.

    One variable: the law's variance and mean are evaluated from the values. Two variables: the body is split into
    a sum of products f(u) g(v); a covariance that is the symbol K takes its correlation from the value of `c`
    (exactly 0, 1, -1 where it is), any other is evaluated. Kind: ENCLOSURE.

    Args:
        node: the expectation
        values: exact numbers or balls by name: the parameters, and q, or q1, q2 and c
        digits: the radius aims at 10**-digits of the size of the integrand (root mean squares)

    Raises:
        EocError: a symbol without a value.
        DomainError: no such law.
        Unsupported: three or more variables that are not asked for their largest, a body that is no sum of
            products, a growth that does not certify a finite expectation, or the limit of processor time (longer
            for many digits) before any ball is reached.
    """
    with limited(SECONDS * max(1.0, digits / 16) ** 2):
        return _enclose(node, values, digits)


def _enclose(node: GaussianE, values: Mapping[str, Number | int], digits: int) -> arb:
    given = {str(name): value if isinstance(value, arb) else Fraction(value) for name, value in values.items()}
    given = _with_covariance(given, digits)
    size = node.cov.rows
    turning = _by_waves(node, given, digits)
    if turning is not None:
        return turning
    if size == 1:
        q, mean = (_number(entry, given, digits) for entry in (node.cov[0, 0], node.mean[0, 0]))
        if q < 0:
            raise DomainError("a variance is not negative", where=str(q))
        return enclose_one(_function(node.body, node.variables[0], given), q, mean, digits)
    from derive.gaussian.maxima.enclosed import enclose_maximum

    largest = enclose_maximum(node, given, digits, TOOLS)
    if largest is not None:
        return largest
    if size == 2:
        return _enclose_two(node, given, digits)
    raise Unsupported(
        f"an expectation over {size} dependent variables has no enclosure",
        where=str(node),
        why="rules stand for one and two variables, and for the largest of exchangeable units",
        instead="an expectation of one or two variables",
    )


def _by_waves(node: GaussianE, given: dict[str, Number], digits: int) -> arb | None:
    """The expectation of a sum of fast waves and exponentials, by completing the square; None for another body."""
    if not node.body.has(sin, cos, exp) or node.body.has(Piecewise, Heaviside, Abs, Max, Min):
        return None
    entries = [[_number(entry, given, digits) for entry in node.cov.row(i)] for i in range(node.cov.rows)]
    means = [_number(entry, given, digits) for entry in node.mean]
    with flint.ctx.workprec(_bits(digits)):
        cov = [[ball(entry) for entry in row] for row in entries]
        found = waves(node.body, node.variables, lambda e: ball(_number(e, given, digits)))
        if found is None or not is_fast(found, cov):
            return None
        # exponents of size 1e6 cost as many digits as they have before the point
        largest = max(abs(rate).upper() * cov[i][i].sqrt() for wave in found for i, rate in enumerate(wave.rates))
    with flint.ctx.workprec(_bits(digits) + 2 * int(float(largest.upper())).bit_length() + 20):
        found = waves(node.body, node.variables, lambda e: ball(_number(e, given, digits)))
        cov = [[ball(entry) for entry in row] for row in entries]
        return mean_of_waves(found or [], [ball(mean) for mean in means], cov)


def _with_covariance(given: dict[str, Number], digits: int) -> dict[str, Number]:
    """The values, with K = c sqrt(q1 q2) and Delta = q1 q2 (1 - c^2) where q1, q2, c are given."""
    if not {"q1", "q2", "c"} <= given.keys():
        return given
    q1, q2, c = given["q1"], given["q2"], given["c"]
    with flint.ctx.workprec(_bits(digits)):
        k = ball(c) * (ball(q1) * ball(q2)).sqrt() if c != 0 else Fraction(0)
        delta: Any = ball(q1) * ball(q2) * (1 - ball(c)) * (1 + ball(c))
    if isinstance(q1, Fraction) and isinstance(q2, Fraction) and isinstance(c, Fraction):
        delta = q1 * q2 * (1 - c) * (1 + c)
    return {"K": k, "Delta": delta, **given}


def _enclose_two(node: GaussianE, given: dict[str, Number], digits: int) -> arb:
    q1, q2, c = _pair_law(node, given, digits)
    means = [_number(entry, given, digits) for entry in node.mean]
    u, v = node.variables
    parts = []
    for first, second in _products(node.body, u, v):
        if not second.has(v):
            parts.append(enclose_one(_function(first, u, given), q1, means[0], digits))
        elif not first.has(u):
            parts.append(enclose_one(_function(first * second, v, given), q2, means[1], digits))
        else:
            f, g = _function(first, u, given), _function(second, v, given)
            if not all(mean == 0 for mean in means):
                with flint.ctx.workprec(_bits(digits)):
                    f, g = (Shifted(h, ball(mean)) for h, mean in zip((f, g), means, strict=True))
            parts.append(enclose_pair(f, g, q1, q2, c, digits))
    with flint.ctx.workprec(_bits(digits)):
        return sum(parts, arb(0))


def _products(body: Expr, u: Symbol, v: Symbol) -> list[tuple[Expr, Expr]]:
    """The body as a sum of f(u) g(v)."""
    found = _split(body, u, v)
    if found is not None:
        return [found]
    pairs = []
    for term in Add.make_args(expand(body)):
        found = _split(term, u, v)
        if found is None:
            raise Unsupported(
                "the integrand is not a sum of products of functions of one variable",
                where=str(term),
                why="both variables meet inside one factor",
                instead="an integrand such as f(u)*g(v) or a sum of such products",
            )
        pairs.append(found)
    return pairs


def _split(term: Expr, u: Symbol, v: Symbol) -> tuple[Expr, Expr] | None:
    first: list[Expr] = []
    second: list[Expr] = []
    for factor in Mul.make_args(term):
        if factor.has(u) and factor.has(v):
            return None
        (second if factor.has(v) else first).append(factor)
    return Mul(*first), Mul(*second)


def _pair_law(node: GaussianE, given: dict[str, Number], digits: int) -> tuple[Number, Number, Number]:
    """(q1, q2, c) of a law of two variables, c exact where it can be."""
    q1, q2 = _number(node.cov[0, 0], given, digits), _number(node.cov[1, 1], given, digits)
    if q1 < 0 or q2 < 0:
        raise DomainError("a variance is not negative", where=f"{q1}, {q2}")
    if node.cov[0, 1] == K and "c" in given and _is_given(node, given, q1, q2):
        return q1, q2, given["c"]
    k = _number(node.cov[0, 1], given, digits)
    if k == 0:
        return q1, q2, Fraction(0)
    if isinstance(k, Fraction) and isinstance(q1, Fraction) and isinstance(q2, Fraction):
        square = k * k / (q1 * q2) if q1 * q2 else Fraction(2)
        if square > 1:
            raise DomainError("no such Gaussian law", where=f"[[{q1}, {k}], [{k}, {q2}]]", why="not positive")
        root = Fraction(isqrt(square.numerator), isqrt(square.denominator))
        if root * root == square:
            return q1, q2, root if k > 0 else -root
    with flint.ctx.workprec(_bits(digits)):
        return q1, q2, ball(k) / (ball(q1) * ball(q2)).sqrt()


def _is_given(node: GaussianE, given: dict[str, Number], q1: Number, q2: Number) -> bool:
    """Whether c is the correlation of this pair: its variances are q1 and q2, or have their product."""
    if (node.cov[0, 0], node.cov[1, 1]) == (Q1, Q2) or not {"q1", "q2"} <= given.keys():
        return True
    sizes = [size for size in (q1, q2, given["q1"], given["q2"]) if isinstance(size, Fraction)]
    return len(sizes) == 4 and sizes[0] * sizes[1] == sizes[2] * sizes[3]


def _number(expr: Expr, given: dict[str, Number], digits: int) -> Number:
    """The value of an expression without variables: exact where it is rational."""
    missing = sorted(symbol.name for symbol in expr.free_symbols if symbol.name not in given)
    if missing:
        raise EocError(f"no value for {missing[0]}", where=str(expr), instead=f"give {missing[0]} a number")
    exact = {s: rational(given[s.name]) for s in expr.free_symbols if _is_exact(given[s.name])}
    expr = expr.xreplace(exact)
    if expr.is_Rational:
        return Fraction(int(expr.p), int(expr.q))
    symbols = tuple(sorted(expr.free_symbols, key=str))
    with flint.ctx.workprec(_bits(digits)):
        program = freeze({"value": expr}, symbols)
        result = run_balls(program, {s.name: ball(given[s.name]) for s in symbols})["value"]
        return result.real


def _is_exact(value: Number) -> bool:
    return not isinstance(value, arb) or value.is_exact()


def _function(body: Expr, variable: Symbol, given: dict[str, Number]) -> Analysed:
    expr = body.xreplace({variable: X}) if variable != X else body
    names = sorted(symbol.name for symbol in expr.free_symbols - {X})
    missing = [name for name in names if name not in given]
    if missing:
        raise EocError(f"no value for {missing[0]}", where=str(body), instead=f"give {missing[0]} a number")
    return _prepared(expr, tuple((name, _key(given[name])) for name in names))


def _key(value: Number) -> Fraction | tuple[tuple[int, int], tuple[int, int]]:
    """A hashable form of a number: exact, or the midpoint and radius of a ball (inexact balls have no hash)."""
    if not isinstance(value, arb):
        return value
    mid, rad = ((int(man), int(exp)) for man, exp in (value.mid().man_exp(), value.rad().man_exp()))
    return mid, rad


@lru_cache(maxsize=KEPT_FUNCTIONS)
def _prepared(expr: Expr, parameters: tuple) -> Analysed:
    numbers = {}
    for name, key in parameters:
        if isinstance(key, tuple):
            (mid, exp), (rad, rad_exp) = key
            key = arb((mid, exp), (rad, rad_exp))
        numbers[name] = key
    return prepare(split_at_poles(piece_function(stable(expr), numbers)))


def _bits(digits: int) -> int:
    return 7 * digits + 80


@dataclass(frozen=True)
class Tools:
    """The evaluators that the rules for maxima call back."""

    enclose: Callable[..., arb] = enclose
    number: Callable[..., Number] = _number
    function: Callable[..., Analysed] = _function
    correlation: Callable[..., tuple[Number, Number, Number]] = _pair_law


TOOLS = Tools()

__all__: list[Any] = ["Prepared", "enclose", "enclose_one", "enclose_pair", "hermite", "prepare"]
