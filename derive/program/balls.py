"""What several operations need on complex balls."""

from __future__ import annotations

from collections.abc import Callable

from flint import acb, arb

NOWHERE = acb(arb.nan(), arb.nan())
"""The answer where a function is not analytic, or has no value."""

WIDE = arb(2) ** -3


def is_real(z: acb) -> bool:
    """Whether the ball lies on the real line."""
    return z.imag.is_zero()


def sign_of_real(z: acb) -> int | None:
    """1 or -1 where the real part has that sign on the whole ball, 0 where it is exactly zero, else None."""
    real = z.real
    if real > 0:
        return 1
    if real < 0:
        return -1
    return 0 if real.is_zero() else None


def monotone(function: Callable[[acb], acb]) -> Callable[[acb], acb]:
    """The same function, with a wide real ball enclosed by its two end values (function monotone on the reals)."""

    def enclose(z: acb) -> acb:
        if z.imag.is_zero() and z.real.rad() > WIDE and z.real.is_finite():
            return function(acb(z.real.lower())).union(function(acb(z.real.upper())))
        return function(z)

    return enclose


def whole_power(base: acb, power: int) -> acb:
    """base**power, a wide ball inverted first and a real one by its ends: else 1/(1 + x^2)^2 has none on wide balls."""
    if power < -1:
        base, power = 1 / base, -power
    wide = power > 1 and base.imag.is_zero() and base.real.rad() > WIDE and not base.real.contains(0)
    return monotone(lambda z: z**power)(base) if wide else base**power


def by_slope(function: Callable[[acb], acb], slope: Callable[[acb], acb]) -> Callable[[acb], acb]:
    """The same function, on a wide ball by |f(z) - f(m)| <= |z - m| sup |f'| where that is narrower.

    Only for balls (which are convex) on which f is analytic. The formulas by logarithms and roots lose wide balls far
    out, where the function hardly varies.
    """

    def enclose(z: acb) -> acb:
        found = function(z)
        size = z.rad()
        if not size > WIDE or not z.is_finite():
            return found
        steep = slope(z).abs_upper()
        if not steep.is_finite():
            return found
        middle = z.mid()
        error = arb(0, ((z - middle).abs_upper() * steep).upper())
        other = function(middle) + acb(error, arb(0) if z.imag.is_zero() else error)
        return other if not found.is_finite() or other.rad() < found.rad() else found

    return enclose


def meets_real_cut(z: acb, below: int | None = None, above: int | None = None) -> bool:
    """Whether the ball meets the part (-oo, below] or [above, oo) of the real axis."""
    if not z.imag.contains(0):
        return False
    real = z.real
    return (below is not None and not real > below) or (above is not None and not real < above)


def meets_imaginary_cut(z: acb) -> bool:
    """Whether the ball meets i*[1, oo) or -i*[1, oo)."""
    return z.real.contains(0) and not abs(z.imag) < 1
