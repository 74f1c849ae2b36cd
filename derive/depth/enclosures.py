"""Enclosures as balls again."""

from __future__ import annotations

import flint
import mpmath

from derive.records import Enclosure


def to_ball(value: Enclosure) -> flint.arb:
    """The ball of an enclosure, at the current precision."""
    return _exact(value.mid) + flint.arb(0, _exact(value.rad))


def _exact(value: mpmath.mpf) -> flint.arb:
    sign, man, power, _ = value._mpf_
    return flint.arb((-1) ** sign * int(man)) * flint.arb(2) ** int(power)


__all__ = ["to_ball"]
