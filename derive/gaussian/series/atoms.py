"""What stands for a head at one scale of the mixture: an error function, a Hermite function, or their integral."""

from __future__ import annotations

from sympy import Expr, Integer, erf, exp, pi, sqrt

from derive.gaussian.series.heads import Head
from derive.gaussian.series.mixture import hermite_coefficients


def smoothed(head: Head, scale: Expr) -> Expr:
    """d^k/dy^k erf(y/(sqrt(2) s)) at the head's argument y; for k = -1 the integral from 0 to y."""
    z = head.argument / scale
    if head.order == 0:
        return erf(z / sqrt(2))
    if head.order < 0:
        return scale * (z * erf(z / sqrt(2)) + sqrt(2 / pi) * (exp(-(z**2) / 2) - 1))
    terms = sum((c * z**n for n, c in enumerate(hermite_coefficients(head.order - 1))), Integer(0))
    return sqrt(2 / pi) * (-1) ** (head.order - 1) * terms * exp(-(z**2) / 2) / scale**head.order


__all__ = ["smoothed"]
