"""Where the correlation of two inputs goes at a fixed variance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
from flint import arb
from sympy import Expr

from derive.depth.roots import Function, refine
from derive.gaussian.numbers import ball, differentiate, evaluate
from derive.program.symbols import C
from derive.records import Unsupported

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Limit:
    """c* and C'(c*), None where they are not decided; `why` says what stood in the way.

    below  whether c* < 1 is certain where it has no number: c = 1 repels or is no fixed point, and C is convex
    """

    c: arb | None
    slope: arb | None
    why: str = ""
    below: bool = False


def attracting(correlation: Expr, slope_at_one: arb | None, values: Values, noisy: bool) -> Limit:
    """The attracting fixed point of C(c) at q1 = q2 = values["q"].

    C is a power series with non-negative coefficients (a Hermite expansion), hence convex on [0, 1], with C(0) >= 0.
    Where C(1) = 1: c* = 1 if C'(1) <= 1, else the one root below 1. Where C(1) < 1 (noise drawn for each input, batch
    normalisation): the one root on [0, 1). `slope_at_one` is C'(1), None where it is not known; `noisy` says that a
    layer takes two copies of one input apart.
    """
    here = {**values, "q1": values["q"], "q2": values["q"]}
    if not noisy and not _below_one(correlation, here):
        # at a jump C'(1) is +inf: c = 1 repels
        if slope_at_one is None or slope_at_one.is_nan():
            return Limit(None, None, "C'(1) is not known")
        if not slope_at_one > 1:
            return Limit(arb(1), slope_at_one)

    def excess(c: Any, digits: int) -> arb:
        return evaluate(correlation, {**here, "c": c}, digits)[0] - ball(c)

    try:
        c = _interior_root(excess)
        if c is None:
            return Limit(None, None, "the root of C(c) = c was not separated from 1", below=True)
        return Limit(c, evaluate(differentiate(correlation, C), {**here, "c": c}, 12)[0])
    except Unsupported as error:
        why = f"{error.what}{f' at {error.where}' if error.where else ''}: {error.why}"
        return Limit(None, None, why, below=True)


def _below_one(correlation: Expr, here: Values) -> bool:
    """Whether C(1) < 1 is certain, for layers that do not say so themselves."""
    try:
        return bool(evaluate(correlation, {**here, "c": Fraction(1)}, 14)[0] < 1)
    except Unsupported:  # the correlation inside nested layers is a ball around 1
        return False


def _interior_root(excess: Function) -> arb | None:
    """The root of C(c) - c in [0, 1)."""
    with flint.ctx.workprec(80):
        at_zero = excess(Fraction(0), 14)
    if not at_zero > 0:
        return arb(0) if at_zero.contains(0) else None
    lower = Fraction(0)
    for k in range(1, 40):
        upper = 1 - Fraction(1, 2**k)
        with flint.ctx.workprec(80):
            value = excess(upper, 12)
        if value < 0:
            return refine(excess, lower, upper, 1, digits=13)
        lower = upper if value > 0 else lower
    return None


__all__ = ["Limit", "attracting"]
