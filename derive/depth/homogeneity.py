"""Whether a map scales with the variance: a decision on the structure of its expectations, not on closed forms."""

from __future__ import annotations

from sympy import Abs, Expr, Heaviside, Integer, Max, Min, Mul, Piecewise, Pow, Rational, Symbol, sign
from sympy.core.relational import Relational

from derive.gaussian.node import GaussianE
from derive.program.symbols import SIGMA_B, Q

ANY = "any"
"""The degree of zero."""


def scales(variance: Expr, gain: Expr) -> bool:
    """Whether without biases V(t q) = t V(q) and chi(t q) = chi(q) for every t > 0, proved from the maps."""
    without = variance.xreplace({SIGMA_B: Integer(0)}), gain.xreplace({SIGMA_B: Integer(0)})
    return degree(without[0], (Q,)) in (1, ANY) and degree(without[1], (Q,)) in (0, ANY)


def degree(expr: Expr, variables: tuple[Symbol, ...]) -> Rational | str | None:
    """d with f(t z) = t^d f(z) for every t > 0, read off the expression; ANY for zero, None where it is not read.

    An expectation of a function of degree d under a covariance of degree e in q has degree d e/2: z = sqrt(q^e) y.
    """
    if expr.is_zero:
        return ANY
    if not expr.has(*variables):
        return Integer(0)
    if expr in variables:
        return Integer(1)
    if isinstance(expr, GaussianE):
        return _of_expectation(expr, variables)
    if isinstance(expr, Mul):
        return _product([degree(arg, variables) for arg in expr.args])
    if isinstance(expr, Pow):
        base = degree(expr.base, variables)
        return base * expr.exp if isinstance(base, Rational) and expr.exp.is_Rational else None
    if expr.is_Add or isinstance(expr, (Max, Min)):
        return _common([degree(arg, variables) for arg in expr.args])
    if isinstance(expr, Abs):
        return degree(expr.args[0], variables)
    if isinstance(expr, (Heaviside, sign)):
        return None if degree(expr.args[0], variables) is None else Integer(0)
    if isinstance(expr, Piecewise):
        same = all(_scale_free(test, variables) for _, test in expr.args)
        return _common([degree(value, variables) for value, _ in expr.args]) if same else None
    return None


def _of_expectation(node: GaussianE, variables: tuple[Symbol, ...]) -> Rational | str | None:
    if not node.mean.is_zero_matrix or node.body.has(*variables):
        return None
    law = _common([degree(entry, variables) for entry in node.cov])
    inner = degree(node.body, tuple(node.variables))
    if inner == ANY:
        return ANY
    return law * inner / 2 if isinstance(law, Rational) and isinstance(inner, Rational) else None


def _scale_free(test, variables: tuple[Symbol, ...]) -> bool:
    """Whether a condition holds at t z where it holds at z."""
    if test in (True, False) or not test.has(*variables):
        return True
    if isinstance(test, Relational):
        return degree(test.lhs - test.rhs, variables) is not None
    return all(_scale_free(arg, variables) for arg in test.args)


def _common(degrees: list) -> Rational | str | None:
    known = {d for d in degrees if d != ANY}
    if not known:
        return ANY
    return known.pop() if len(known) == 1 else None


def _product(degrees: list) -> Rational | str | None:
    if None in degrees:
        return None
    return ANY if ANY in degrees else sum(degrees, Integer(0))


__all__ = ["degree", "scales"]
