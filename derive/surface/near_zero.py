"""Functions that cancel next to x = 0, such as x - tanh(x): there code takes their Taylor polynomial."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import flint
import numpy as np
from sympy import Abs, Expr, Max, Min, Piecewise, Rational

from derive.emit import EmittedFunction, emit, load
from derive.gaussian.asymptotics.taylor import taylor
from derive.program.evaluate import run_balls
from derive.program.gate import freeze
from derive.program.symbols import X
from derive.records import EocError

ORDER = 26
RADII = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 8), Fraction(1, 16))
PLACES = tuple(side * 10.0**-k for k in range(1, 8) for side in (1, -1))
LOSS, LAST = 1e-14, 2.0**-54
"""What a double may be off by, and what a polynomial may be: of the value."""


@lru_cache(maxsize=256)
def near_zero(body: Expr) -> Expr:
    """The function, with its Taylor polynomial at 0 where |x| is small, if double precision loses digits of it there.

    Measured at 14 points against balls; where nothing is lost, where there are parameters, and where the function is
    not analytic at 0, it is the function itself.
    """
    if body.free_symbols != {X} or body.has(Piecewise):
        return body
    try:
        program = freeze({"value": body}, (X,))
        made = load(emit((EmittedFunction("value", body, ("x",)),), "numpy", "")).value
        with np.errstate(all="ignore"):
            if all(_off(float(made(np.float64(x))), _truth(program, x)) <= LOSS for x in PLACES):
                return body
        coefficients = taylor(body, ORDER)
    except EocError:
        return body
    if any(not c.is_Rational for c in coefficients):
        return body
    for radius in RADII:
        places = (radius, -radius, radius / 2, -radius / 2)
        if all(_off(_exactly(coefficients, x), _truth(program, float(x))) <= LAST for x in places):
            end = Rational(radius.numerator, radius.denominator)
            inside = Max(-end, Min(X, end))  # far out powers overflow, and their slope with them
            return Piecewise((_horner(coefficients).subs(X, inside), Abs(X) < end), (body, True))
    return body


def _exactly(coefficients: tuple[Expr, ...], x: Fraction) -> flint.arb:
    with flint.ctx.workprec(300):
        total, at = flint.arb(0), flint.arb(flint.fmpq(x.numerator, x.denominator))
        for c in reversed(coefficients):
            total = total * at + flint.arb(flint.fmpq(int(c.p), int(c.q)))
        return total


def _horner(coefficients: tuple[Expr, ...]) -> Expr:
    """The polynomial with its lowest power in front and even and odd steps as they come."""
    powers = [n for n, c in enumerate(coefficients) if c != 0]
    total, above = X * 0, powers[-1]
    for n in reversed(powers):
        total = total * X ** (above - n) + coefficients[n]
        above = n
    return total * X ** powers[0]


def _truth(program: Any, x: float) -> flint.arb:
    with flint.ctx.workprec(300):
        return run_balls(program, {"x": flint.arb(x)})["value"].real


def _off(value: Any, truth: flint.arb) -> float:
    """|value - truth| over |truth|; 0 where the truth is not known or 0."""
    if not truth.is_finite() or truth.contains(0):
        return 0.0
    with flint.ctx.workprec(300):
        return float(abs((flint.arb(value) - truth) / truth).mid())


__all__ = ["near_zero"]
