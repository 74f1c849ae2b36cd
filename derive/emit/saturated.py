"""Exponentials beside a kink: max(x, 0)*exp(-x) is 0 times infinity at x = -1000."""

from __future__ import annotations

from sympy import Expr, Max, Min, Mul, Poly, PolynomialError, cosh, exp, sinh

GROWING = (exp, cosh, sinh)


def saturated(expr: Expr) -> Expr:
    """The expression with the argument of an exponential stopped where a factor beside it has become 0.

    max(x - b, 0)**n exp(-x) = max(x - b, 0)**n exp(-max(x, b)): both are 0 for x <= b, and equal for x > b.
    """
    if not expr.has(Max, Min) or not expr.has(*GROWING):
        return expr
    return expr.replace(lambda part: part.is_Mul and part.has(Max, Min) and part.has(*GROWING), _stopped)


def _stopped(product: Mul) -> Expr:
    factors = list(product.args)
    for place, factor in enumerate(factors):
        found = _stop(factor)
        if found is None:
            continue
        x, stop = found
        for other, part in enumerate(factors):
            if other != place:
                grows = {e: e.xreplace({x: stop}) for e in part.atoms(*GROWING) if _grows(e, x, isinstance(stop, Max))}
                factors[other] = part.xreplace(grows)
    return Mul(*factors)


def _stop(factor: Expr) -> tuple[Expr, Expr] | None:
    """(x, max(x, b)) for a positive power of max(a (x - b), 0), a > 0; min(x, b) where it vanishes above b."""
    base, power = factor.as_base_exp()
    if not (isinstance(base, Max | Min) and 0 in base.args and len(base.args) == 2 and power.is_positive):
        return None
    line = next(arg for arg in base.args if arg != 0)
    for x in sorted(line.free_symbols, key=str):
        slope = line.diff(x)
        if not slope.has(x) and (slope.is_positive or slope.is_negative):
            at = x - line / slope
            above = bool(slope.is_positive) == isinstance(base, Max)
            return (x, (Max if above else Min)(x, at.expand())) if at.is_finite is not False else None
    return None


def _grows(part: Expr, x: Expr, below: bool) -> bool:
    """Whether a function may be large where x is far below (or above) the kink."""
    inside = part.args[0]
    if not inside.has(x):
        return False
    if not isinstance(part, exp):
        return True
    try:
        form = Poly(inside, x)
    except PolynomialError:
        return True
    lead = form.LC() * (-1 if below and form.degree() % 2 else 1)
    return not lead.is_negative
