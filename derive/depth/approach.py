"""How variance and correlation approach their limits, from the expansions of their maps there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import flint
from sympy import Expr, Integer, Rational, exp, pi, sqrt

from derive.activation.jumps import jumps
from derive.activation.normal_form import derivative, normal_form, to_piecewise
from derive.depth.enclosures import to_ball
from derive.depth.rates import Rate
from derive.depth.universality import exponents
from derive.depth.zero import at_zero, slope_at_zero
from derive.gaussian.asymptotics.moments import certified
from derive.gaussian.node import single
from derive.gaussian.numbers import evaluate, plain_ball, to_enclosure
from derive.program.symbols import SIGMA_W, Q
from derive.records import FixedPoint, Unsupported


def at_fixed_point(point: FixedPoint, phi: Expr | None, values: Mapping[str, Any]) -> tuple[Rate, ...]:
    """The rates at an attracting fixed point: exponential with xi_q and xi_c; at chi = 1 the power law of c."""
    found = []
    if point.chi_parallel.mid == 0 == point.chi_parallel.rad:
        found.append(Rate("|q - q*|", "at once", why="V does not depend on q"))
    elif point.chi_parallel.upper < 1 and point.chi_parallel.lower > -1:
        found.append(Rate("|q - q*|", "exponential", xi=point.xi_q, why="|V'(q*)| < 1"))
    if point.c is None:
        return tuple(found)
    if point.c.upper < 1:
        found.append(Rate("|c - c*|", "exponential", xi=point.xi_c, why="C'(c*) < 1"))
    elif point.chi.upper < 1:
        found.append(Rate("1 - c", "exponential", xi=point.xi_c, why="C'(1) = chi < 1"))
    elif phi is not None and point.chi.lower <= 1:
        found.append(critical_correlation(phi, {**values, "q": point.q}))
    return tuple(found)


def critical_correlation(phi: Expr, values: Mapping[str, Any]) -> Rate:
    """1 - c at a fixed point with chi = 1, values of q and sigma_w given (exact numbers or Enclosures).

    With e = 1 - c: e' = e - s e^(3/2), s = (2/3) sigma_w^2 sqrt(q/pi) sum h^2 p_q(b) over the kinks of phi (places b,
    jumps h of phi'), gives e ~ 4/(s^2 l^2); without kinks e' = e - (sigma_w^2 q E phi''^2/2) e^2 gives
    e ~ 2/(sigma_w^2 q E phi''^2 l). Source: Hayou et al. 2019 (arXiv 1902.06853) for both orders; the kink sum follows
    from E phi'(u) phi'(v), see docs/theory/depth.md.
    """
    known = {k: to_ball(v) if hasattr(v, "mid") and not isinstance(v, flint.arb) else v for k, v in values.items()}
    slope = derivative(normal_form(phi))[0]
    kinks = jumps(slope)
    if kinks:
        density = sum((k.height**2 * exp(-(k.at**2) / (2 * Q)) for k in kinks), Integer(0)) / sqrt(2 * pi * Q)
        s = Rational(2, 3) * SIGMA_W**2 * sqrt(Q / pi) * density
        with flint.ctx.workprec(100):
            prefactor = to_enclosure(4 / plain_ball(s, known) ** 2)
        return Rate("1 - c", "power", exponent=Integer(2), prefactor=prefactor, why="chi = 1 and phi has kinks")
    bend = to_piecewise(derivative(slope)[0])
    with flint.ctx.workprec(100):
        curvature = evaluate(SIGMA_W**2 * Q * single(bend**2), known, 20)[0]
        if curvature.contains(0):
            return Rate("1 - c", "none", why="phi is linear")
        prefactor = to_enclosure(2 / curvature)
    return Rate("1 - c", "power", exponent=Integer(1), prefactor=prefactor, why="chi = 1 and phi has no kinks")


def scale_invariant_correlation(phi: Expr, growing: bool) -> Rate:
    """1 - c for phi(t x) = t phi(x): 18 pi^2 A^2/(h^4 l^2), A = E phi'^2, h the jump of phi' at 0.

    The law does not depend on q. With biases at chi = 1 the variance grows like l,
    e' = (e - s e^(3/2))(1 - 1/l), and the prefactor is a quarter of that (`growing`).
    """
    kinks = jumps(derivative(normal_form(phi))[0])
    if not kinks:
        return Rate("1 - c", "none", why="phi is linear")
    h, second = kinks[0].height, slope_at_zero(phi)
    prefactor = 18 * pi**2 * second**2 / h**4 / (4 if growing else 1)
    why = "e' = (e - s e^(3/2))(1 - 1/l): q grows like l" if growing else "e' = e - s e^(3/2), s = sqrt(2) h^2/(3 pi A)"
    return Rate("1 - c", "power", exponent=Integer(2), prefactor=prefactor, why=why)


def to_zero(phi: Expr, values: Mapping[str, Any]) -> tuple[Rate, ...]:
    """How q falls to 0 where sigma_b = 0: exponentially for sigma_w^2 E phi'^2(0) < 1, as a power at 1."""
    try:
        zero = at_zero(phi)
    except Unsupported:
        return ()
    with flint.ctx.workprec(100):
        weight = plain_ball(SIGMA_W**2, values)
        first = weight * to_ball(certified(zero.slope, values, 20))
        if zero.value != 0 or not first > 0:
            return ()
        if first < 1:
            return (Rate("q", "exponential", xi=to_enclosure(-1 / first.log()), why="V(q)/q -> V'(0) < 1"),)
        exact = plain_ball(SIGMA_W**2 * zero.slope - 1, values)
        if first > 1 or not exact.is_zero():
            return ()
    if zero.power is not None and certified(zero.forward, values).upper >= 0:
        return ()
    return (exponents(zero)[3],)


__all__ = ["at_fixed_point", "critical_correlation", "scale_invariant_correlation", "to_zero"]
