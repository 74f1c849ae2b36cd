"""Derivatives of a Gaussian expectation in its covariance as weights: no derivative of the integrand."""

from __future__ import annotations

from typing import Any

SLOTS = ((0, 0), (1, 1), (0, 1))
"""The coordinates of a pair's law, in order: q1, q2, K (the covariance counted once)."""


def first(y: tuple[Any, Any], p: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
    """Weights of d/dq1, d/dq2, d/dK E F: F times the weight under the expectation is the derivative.

    y   P (u, v)^T with P the inverse of the covariance: arrays, or polynomials in u and v
    p   (P_11, P_22, P_12)
    """
    a, b = y
    return (a * a - p[0]) * 0.5, (b * b - p[1]) * 0.5, a * b - p[2]


def second(y: tuple[Any, Any], p: tuple[Any, Any, Any]) -> dict[tuple[int, int], Any]:
    """Weights of the second derivatives by places in (q1, q2, K): the fourth Hermite polynomials of the law."""
    a, b = y
    p11, p22, p12 = p
    aa, bb, ab = a * a, b * b, a * b
    mixed = aa * bb - bb * p11 - aa * p22 - ab * (4 * p12) + (p11 * p22 + 2 * p12 * p12)
    return {
        (0, 0): (aa * aa - aa * (6 * p11) + 3 * p11 * p11) * 0.25,
        (1, 1): (bb * bb - bb * (6 * p22) + 3 * p22 * p22) * 0.25,
        (0, 1): mixed * 0.25,
        (0, 2): (aa * ab - ab * (3 * p11) - aa * (3 * p12) + 3 * p11 * p12) * 0.5,
        (1, 2): (bb * ab - ab * (3 * p22) - bb * (3 * p12) + 3 * p22 * p12) * 0.5,
        (2, 2): mixed,
    }


class Monomials:
    """A polynomial in u and v with coefficients of any ring: {(i, j): coefficient of u^i v^j}."""

    def __init__(self, terms: dict[tuple[int, int], Any]) -> None:
        self.terms = terms

    def __add__(self, other: Any) -> Monomials:
        added = dict(self.terms)
        for key, value in _terms(other).items():
            added[key] = added[key] + value if key in added else value
        return Monomials(added)

    def __sub__(self, other: Any) -> Monomials:
        return self + Monomials({key: -value for key, value in _terms(other).items()})

    def __mul__(self, other: Any) -> Monomials:
        if not isinstance(other, Monomials):
            return Monomials({key: value * other for key, value in self.terms.items()})
        product: dict[tuple[int, int], Any] = {}
        for (i, j), x in self.terms.items():
            for (k, m), y in other.terms.items():
                key = (i + k, j + m)
                product[key] = product[key] + x * y if key in product else x * y
        return Monomials(product)


def _terms(value: Any) -> dict[tuple[int, int], Any]:
    return value.terms if isinstance(value, Monomials) else {(0, 0): value}


__all__ = ["SLOTS", "Monomials", "first", "second"]
