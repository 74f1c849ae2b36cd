"""Arb balls as the plain records that leave the calculus."""

from __future__ import annotations

import flint
import mpmath

from derive.records import Enclosure


def to_enclosure(value: flint.arb) -> Enclosure:
    """An Arb ball as mid and rad in mpmath numbers, the radius rounded up."""
    if not value.is_finite():
        if value.rad().is_finite() and not value.is_nan():
            return Enclosure(mpmath.inf if value > 0 else -mpmath.inf, mpmath.mpf(0))
        return Enclosure(mpmath.nan, mpmath.inf)
    man, exp = value.mid().man_exp()
    rad_man, rad_exp = value.rad().man_exp()
    with mpmath.workprec(max(64, int(man).bit_length())):
        mid = mpmath.ldexp(mpmath.mpf(int(man)), int(exp))
        rad = mpmath.ldexp(mpmath.mpf(int(rad_man)), int(rad_exp))
    return Enclosure(mid, rad)


__all__ = ["to_enclosure"]
