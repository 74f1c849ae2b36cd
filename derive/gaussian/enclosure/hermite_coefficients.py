"""Hermite coefficients of a piecewise analytic function."""

from __future__ import annotations

from fractions import Fraction
from math import factorial
from typing import TYPE_CHECKING

import flint
from flint import arb

from derive.gaussian.enclosure.one import enclose_one
from derive.gaussian.enclosure.prepared import Analysed, prepare

if TYPE_CHECKING:
    from derive.activation.pieces import PieceFunction


def hermite(f: PieceFunction | Analysed, q: Fraction | arb, order: int, digits: int = 16) -> list[arb]:
    """The coefficients a_k(q) = E f(sqrt(q) z) He_k(z)/sqrt(k!), k = 0 .. order, as balls.

    E f(u) g(v) = sum_k a_k(q1) b_k(q2) c^k (Mehler), and sum_k a_k(q)^2 = E f^2 (Parseval).
    """
    f, coefficients = prepare(f), []
    previous: list[int] = []
    current = [1]
    for k in range(order + 1):
        value = enclose_one(f, q, digits=digits, weight=current)
        with flint.ctx.workprec(int(3.33 * digits) + 28):
            coefficients.append(value / arb(factorial(k)).sqrt())
        following = [0, *current]
        for j, coefficient in enumerate(previous):
            following[j] -= k * coefficient
        previous, current = current, following
    return coefficients
