"""The same function in operations whose balls stay finite far out."""

from __future__ import annotations

from typing import Any

from sympy import Add, Expr, Integer, Mul, Pow, cosh, exp, log, sech, sinh, tanh

from derive.program.operations.sigmoid import Sigmoid
from derive.program.operations.softplus import Softplus
from derive.program.symbols import X

FAR = 1000


def stable(expr: Expr) -> Expr:
    """log(1 + exp(w)) as softplus(w), 1/(1 + exp(w)) as sigma(-w), exp(w) sigma(-w) as sigma(w).

    Likewise 1 - tanh(w)^2 is sech(w)^2 and sinh(w)/cosh(w) is tanh(w).

    A wide ball in 1 + exp(w) meets zero, and the logarithm's cut runs along the whole half line, though the
    functions themselves vary slowly there: panels far out would have to be narrow.
    """
    expr = expr.replace(_is_softplus, lambda e: Softplus(_exponent(e.args[0])))
    expr = expr.replace(_is_logistic, lambda e: Sigmoid(-_exponent(e.base)) ** (-e.exp))
    expr = expr.replace(_is_square_of_sech, lambda e: sech(_hyperbolic(e)) ** 2)
    return expr.replace(lambda e: isinstance(e, Mul), _merged)


def far_form(expr: Expr, side: int) -> Expr:
    """log(cosh(w)) as +-w - log 2 + softplus(-+2 w) by the sign of w far out: an asymptote and what decays.

    Both signs are identities; this form hides that the function is even.
    """

    def turned(found: Expr) -> Expr:
        w = found.args[0].args[0]
        sign = -1 if w.subs(X, side * FAR).is_negative else 1
        return sign * w - log(2) + Softplus(-2 * sign * w)

    return expr.replace(_is_log_cosh, turned)


def _exponent(total: Any) -> Any:
    """w, if the expression is 1 + exp(w)."""
    if not (isinstance(total, Add) and len(total.args) == 2 and Integer(1) in total.args):
        return None
    other = total - 1
    return other.args[0] if isinstance(other, exp) else None


def _hyperbolic(total: Any) -> Any:
    """w, if the expression is 1 - tanh(w)**2."""
    if not (isinstance(total, Add) and len(total.args) == 2 and Integer(1) in total.args):
        return None
    square = 1 - total
    return (
        square.base.args[0] if isinstance(square, Pow) and square.exp == 2 and isinstance(square.base, tanh) else None
    )


def _is_square_of_sech(expr: Expr) -> bool:
    return _hyperbolic(expr) is not None


def _is_log_cosh(expr: Expr) -> bool:
    return isinstance(expr, log) and isinstance(expr.args[0], cosh)


def _is_softplus(expr: Expr) -> bool:
    return isinstance(expr, log) and _exponent(expr.args[0]) is not None


def _is_logistic(expr: Expr) -> bool:
    if not (isinstance(expr, Pow) and expr.exp.is_Integer and expr.exp.is_negative):
        return False
    return _exponent(expr.base) is not None


def _merged_again(rest: list[Expr], merged: Expr) -> Expr:
    product = Mul(*rest, merged)
    return _merged(product) if isinstance(product, Mul) else product


def _merged(product: Mul) -> Expr:
    """exp(k w) sigma(-w)**m as exp((k - j) w) sigma(w)**j sigma(-w)**(m - j), j = min(k, m)."""
    factors = list(product.args)
    for factor in factors:
        base, power = factor.as_base_exp()
        if isinstance(base, sinh) and power.is_Integer and cosh(base.args[0]) ** -power in factors:
            partner = cosh(base.args[0]) ** -power
            return _merged_again([f for f in factors if f not in (factor, partner)], tanh(base.args[0]) ** power)
    for factor in factors:
        if not isinstance(factor, exp):
            continue
        for other in factors:
            base, power = other.as_base_exp()
            if not (isinstance(base, Sigmoid) and power.is_Integer and power.is_positive):
                continue
            w = -base.args[0]
            times = factor.args[0] / w
            if times.is_Integer and times.is_positive:
                joined = min(times, power)
                rest = [f for f in factors if f is not factor and f is not other]
                return _merged(Mul(*rest, exp((times - joined) * w), Sigmoid(w) ** joined, base ** (power - joined)))
    return product
