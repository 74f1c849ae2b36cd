"""Derivatives of expectations as expectations: Price's theorem, and laws of maxima in one variable."""

from __future__ import annotations

from sympy import Derivative, Expr

from derive.activation.normal_form import derivative, normal_form, to_piecewise
from derive.gaussian.factors import pair_factors
from derive.gaussian.maxima import reduced
from derive.gaussian.maxima.contest import slope_in_variance
from derive.gaussian.node import pair
from derive.program.symbols import K, X


def price(part: Derivative) -> Expr | None:
    """d/dK E f(u) g(v) = E f'(u) g'(v) for continuous f, g (Price 1958), with parameters as they are."""
    node = part.expr
    if node.cov != pair(X, X).cov or part.variables != (K,):
        return None
    slopes = []
    for factor in pair_factors(node):
        slope, jumps = derivative(normal_form(factor))
        if jumps:
            return None
        slopes.append(to_piecewise(slope))
    return pair(*slopes)


def largest_slope(part: Derivative) -> Expr | None:
    """The derivative of an expectation of the largest of alike units, through its law in one variable."""
    line = reduced(part.expr)
    if line is None:
        ((symbol, count),) = part.variable_count if len(part.variable_count) == 1 else ((None, 0),)
        return slope_in_variance(part.expr, symbol) if count == 1 else None
    for symbol, count in part.variable_count:
        line = line.diff(symbol, int(count))
    return line


__all__ = ["largest_slope", "price"]
