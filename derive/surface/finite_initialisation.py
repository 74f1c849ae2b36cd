"""Width-aware weights of a theory: from a user's question to gains layer by layer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
from sympy import Rational

from derive.depth.finite.initialisation import WidthAware, width_aware
from derive.depth.finite.through import widths_of
from derive.program.symbols import X
from derive.records import DomainError, EocError, Unsupported
from derive.surface.exact import exact


def initialisation(
    finite: Any, q0: Any, widths: Any, sigma_w: Any, sigma_b: Any, layers: int | None, keep: Any,
    parameters: Mapping[str, Any],
) -> WidthAware:  # fmt: skip
    """The gains of `FiniteWidth.initialisation`."""
    values, start = finite._values(sigma_w, sigma_b, parameters), exact(q0, "q0")
    if start <= 0:
        raise DomainError(f"q0 = {q0} is no variance", instead="q0=1")
    if layers is None and np.ndim(widths) == 0:
        raise EocError("one width needs a depth", instead=f"initialisation({q0}, {widths}, ..., layers=20)")
    given = widths_of(widths, len(widths) + 1 if layers is None else layers)
    power, jumps = _power(keep), bool(finite.theory.maps.jumps)
    weight, bias = (float(values[name]) ** 2 for name in ("sigma_w", "sigma_b"))
    factor = _factor(finite, values, power)
    return width_aware(finite._floats(values), float(start), given, weight, bias, float(power), jumps, factor)


def _power(keep: Any) -> Fraction:
    named = {"mean": Fraction(1), "typical": Fraction(0)}
    power = named[keep] if isinstance(keep, str) and keep in named else exact(keep, "keep")
    if power < 0:
        raise EocError(f"keep = {keep!r}", instead='"mean", "typical" or a power p >= 0')
    return power


def _factor(finite: Any, values: Mapping[str, Fraction], power: Fraction) -> Callable[[int], float] | None:
    """1 + delta by width where the law is a product: one line on each side of 0 and no bias."""
    if values["sigma_b"] != 0:
        return None
    try:
        plain = finite.exact
    except Unsupported:
        return None
    free = finite._phi.free_symbols - {X}
    given = {s: Rational(values[s.name].numerator, values[s.name].denominator) for s in free}
    law = type(plain)(plain.plus.subs(given), plain.minus.subs(given))
    if power == 1:
        return lambda n: 1.0
    if power == 0:
        return lambda n: float(mpmath.exp(-law.log_mean(n).mid))
    if not law.has_power_mean(power):
        return None
    return lambda n: 1 / float(law.power_mean(power, n))


__all__ = ["initialisation"]
