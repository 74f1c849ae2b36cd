"""The critical point at vanishing variance: sigma_w^2 = 1/chi_0, sigma_b = 0, and what its expansions decide."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, Integer, Rational, S, oo, sqrt

from derive.activation.normal_form import derivative, normal_form, to_piecewise
from derive.gaussian.asymptotics import expand_small
from derive.gaussian.asymptotics.small import sides
from derive.gaussian.asymptotics.taylor import taylor
from derive.gaussian.node import single
from derive.program.symbols import X
from derive.records import Unsupported

ORDERS = (Rational(2), Rational(3), Rational(5))


@dataclass(frozen=True)
class AtZero:
    """The expansions of V/q and chi for q -> 0 at sigma_w^2 = 1/slope, sigma_b = 0.

    value    E phi^2 for q -> 0, (phi(0+)^2 + phi(0-)^2)/2: no fixed point at 0 unless it vanishes
    slope    E phi'^2 for q -> 0, (a^2 + b^2)/2 for one-sided slopes a, b of phi
    power    sigma: V(q) = q (1 + forward q^sigma + ...), chi(q) = 1 + gain q^sigma + ...; None where phi is linear on
             both sides of 0, so that V(q)/q - 1 is smaller than any power
    break_at, beyond  where it is linear: the distance of the nearest breakpoint, and the sign of V(q)/q - 1
    smooth   whether the expansions of phi from both sides agree (as far as they are used)
    """

    value: Expr
    slope: Expr
    power: Rational | None = None
    forward: Expr = S.Zero
    gain: Expr = S.Zero
    break_at: Expr | None = None
    beyond: int | None = None
    smooth: bool = True


def at_zero(phi: Expr) -> AtZero:
    """The expansions of a function's gains at vanishing variance, exact; parameters may be symbols.

    Raises Unsupported where phi has no expansion in powers on each side of 0, or its deviation from a line on each
    side of 0 is smaller than any power without being none.
    """
    forward, gain = single(phi**2), single(to_piecewise(derivative(normal_form(phi))[0]) ** 2)
    value, slope = expand_small(forward, Rational(1, 2)).coefficient(0), slope_at_zero(phi)
    if value != 0 or slope == 0:
        return AtZero(value, slope)
    for order in ORDERS:
        rising = [(p - 1, c / slope) for p, c in expand_small(forward, order).terms if p > 1]
        if rising:
            power, coefficient = rising[0]
            other = expand_small(gain, power + Rational(1, 2)).coefficient(power)
            smooth = _agree(phi, int(2 * power) + 2)
            return AtZero(value, slope, power, coefficient, other / slope, smooth=smooth)
    return _linear(phi, slope)


def slope_at_zero(phi: Expr) -> Expr:
    """E phi'^2 for q -> 0: (a^2 + b^2)/2 with one-sided slopes a, b."""
    slope = to_piecewise(derivative(normal_form(phi))[0])
    return expand_small(single(slope**2), Rational(1, 2)).coefficient(0)


def _agree(phi: Expr, count: int) -> bool:
    left, right = sides(single(phi))
    below, above = taylor(left[0].value, count), taylor(right[0].value, count)
    return all((a - b).expand() == 0 for a, b in zip(above, below, strict=True))


def _linear(phi: Expr, slope: Expr) -> AtZero:
    """phi = a x right of 0 and b x left of 0 up to the nearest breakpoint, which decides the sign of V(q) - q.

    Beyond it phi^2 - a^2 x^2 ~ h (|x| - B)^k, and its share of E phi^2 is h k! (q/B)^(k+1) exp(-B^2/(2q))/sqrt(2 pi q)
    to leading order (Laplace's method): the nearest breakpoint wins, then the smallest k.
    """
    left, right = sides(single(phi))
    leads = []
    for cells, side in ((left, -1), (right, 1)):
        first = cells[0]
        if not first.value.is_polynomial(X) or first.value.as_poly(X).degree() > 1:
            raise Unsupported("phi deviates from a line at 0 by less than any power", where=str(phi))
        end = first.upper if side > 0 else first.lower
        if end in (oo, -oo) or len(cells) < 2:
            continue
        distance = abs(end)
        t = X  # the distance beyond the breakpoint
        outside = (cells[1].value ** 2 - first.value**2).subs(X, end + side * t)
        terms = taylor(outside.expand(), 6)
        k = next((i for i, c in enumerate(terms) if c != 0), None)
        if k is None:
            raise Unsupported("phi goes on beyond its breakpoint as before", where=str(end))
        leads.append((distance, k, terms[k]))
    if not leads:
        raise Unsupported("phi is linear on both sides of 0", where=str(phi))
    if any(d.free_symbols for d, _, _ in leads) and len({d for d, _, _ in leads}) > 1:
        raise Unsupported("which breakpoint is nearest to 0 depends on the parameters", where=str(phi))
    nearest = min((d for d, _, _ in leads), key=lambda d: d.evalf(30))
    lowest = min(k for d, k, _ in leads if d == nearest)
    total = sum((c for d, k, c in leads if d == nearest and k == lowest), Integer(0))
    sign = 1 if total.is_positive else -1 if total.is_negative else None
    return AtZero(Integer(0), slope, break_at=nearest, beyond=sign, smooth=_agree(phi, 2))


def critical_sigma_w(zero: AtZero) -> Expr:
    """sigma_w = 1/sqrt(slope)."""
    return 1 / sqrt(zero.slope)


__all__ = ["AtZero", "at_zero", "critical_sigma_w", "slope_at_zero"]
