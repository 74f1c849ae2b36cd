"""Integrands that outgrow every Gaussian density."""

from __future__ import annotations

from sympy import Expr, Mul, Poly, exp

from derive.gaussian.decompose import as_polynomial
from derive.gaussian.node import GaussianE


def outgrows(node: GaussianE) -> Expr | None:
    """The factor exp(p) of polynomial * exp(p) with p -> +oo faster than x**2 on one side, or None.

    Only this shape is decided, for one variable and a law that is not constant.
    """
    if node.cov.rows != 1 or not node.cov[0, 0].is_positive:
        return None
    z = node.variables[0]
    factors = Mul.make_args(node.body)
    exponentials = [factor for factor in factors if isinstance(factor, exp) and factor.has(z)]
    others = [factor for factor in factors if factor not in exponentials]
    if len(exponentials) != 1 or any(as_polynomial(factor, (z,)) is None for factor in others):
        return None
    exponent = as_polynomial(exponentials[0].args[0], (z,))
    if exponent is None:
        return None
    polynomial = Poly.from_dict(exponent, z)
    degree, lead = polynomial.degree(), polynomial.LC()
    grows = lead.is_nonzero if degree % 2 else lead.is_positive
    return exponentials[0] if degree > 2 and grows else None


__all__ = ["outgrows"]
