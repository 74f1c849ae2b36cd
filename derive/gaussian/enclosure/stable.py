"""The same function in operations whose balls stay finite far out."""

from __future__ import annotations

from typing import Any

from sympy import Add, Expr, Integer, Mul, Pow, exp, log

from derive.program.operations.sigmoid import Sigmoid
from derive.program.operations.softplus import Softplus


def stable(expr: Expr) -> Expr:
    """log(1 + exp(w)) as softplus(w), and 1/(1 + exp(w)) as sigma(-w), exp(w) sigma(-w) as sigma(w).

    A wide ball in 1 + exp(w) meets zero, and the logarithm's cut runs along the whole half line, though the
    functions themselves vary slowly there: panels far out would have to be narrow.
    """
    expr = expr.replace(_is_softplus, lambda e: Softplus(_exponent(e.args[0])))
    expr = expr.replace(_is_logistic, lambda e: Sigmoid(-_exponent(e.base)) ** (-e.exp))
    return expr.replace(lambda e: isinstance(e, Mul), _merged)


def _exponent(total: Any) -> Any:
    """w, if the expression is 1 + exp(w)."""
    if not (isinstance(total, Add) and len(total.args) == 2 and Integer(1) in total.args):
        return None
    other = total - 1
    return other.args[0] if isinstance(other, exp) else None


def _is_softplus(expr: Expr) -> bool:
    return isinstance(expr, log) and _exponent(expr.args[0]) is not None


def _is_logistic(expr: Expr) -> bool:
    if not (isinstance(expr, Pow) and expr.exp.is_Integer and expr.exp.is_negative):
        return False
    return _exponent(expr.base) is not None


def _merged(product: Mul) -> Expr:
    """exp(w) sigma(-w) as sigma(w)."""
    factors = list(product.args)
    for factor in factors:
        if not isinstance(factor, exp):
            continue
        partner = Sigmoid(-factor.args[0])
        for k, other in enumerate(factors):
            base, power = other.as_base_exp()
            if base == partner and power.is_Integer and power.is_positive:
                rest = [*factors[:k], *factors[k + 1 :]]
                rest.remove(factor)
                return _merged(Mul(*rest, Sigmoid(factor.args[0]), partner ** (power - 1)))
    return product
