"""What the Dirac parts of a derivative add to an expectation of a pair: conditional laws and densities at corners."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, Integer, Lambda, Symbol, exp, pi, sqrt

from derive.activation.normal_form import Jump
from derive.gaussian import numbers
from derive.gaussian.node import GaussianE
from derive.program.symbols import DELTA, Q1, Q2, K, X
from derive.records import Unsupported

MEAN, SPREAD = Symbol("_mean", real=True), Symbol("_spread", positive=True)


@dataclass(frozen=True)
class Slope:
    """f' as a function away from breakpoints and its Dirac parts."""

    smooth: Expr
    jumps: tuple[Jump, ...]


def at_jumps(slope: Slope, other: Expr, q: Expr, times: Expr | None = None) -> Expr:
    """The sum over jumps of height times p(at) E[other(v) | u = at], for u of variance q.

    v given u = a is normal with mean K a/q and variance Delta/q. Raises Unsupported where that expectation has no
    closed form.
    """
    total = Integer(0)
    for jump in slope.jumps:
        weight = jump.height * (times.subs(X, jump.at) if times is not None else 1)
        if weight != 0 and other != 0:
            density = exp(-(jump.at**2) / (2 * q)) / sqrt(2 * pi * q)
            total += weight * density * conditional(other, K * jump.at / q, DELTA / q)
    return total


def conditional(g: Expr, mean: Expr, variance: Expr) -> Expr:
    """E g(v) for v ~ N(mean, variance), closed."""
    if not g.has(X):
        return g
    closed = numbers.closed_form(GaussianE(Lambda((X,), g), [[SPREAD]], [MEAN]))
    if closed is None:
        raise Unsupported(
            "the derivative of an expectation of a function that jumps",
            where=str(g),
            why="its conditional expectation at the jump has no closed form",
            instead=".number()",
        )
    return closed.subs({MEAN: mean, SPREAD: variance}, simultaneous=True)


def at_corners(first: Slope, second: Slope) -> Expr:
    """The sum over pairs of jumps of the product of heights and the joint density of (u, v) there."""
    total = Integer(0)
    for one in first.jumps:
        for two in second.jumps:
            form = (one.at**2 * Q2 - 2 * one.at * two.at * K + two.at**2 * Q1) / (2 * DELTA)
            total += one.height * two.height * exp(-form) / (2 * pi * sqrt(DELTA))
    return total
