"""Constants of a product kept in range: 1e-125*(7e123 + 2e123*K) overflows in single precision."""

from __future__ import annotations

from sympy import Add, Expr, Mul, Rational

SMALLEST, LARGEST = Rational(1, 10**15), Rational(10**15)


def in_range(expr: Expr) -> Expr:
    """The expression with an extreme rational factor multiplied into the sum that makes up for it.

    Constants such as those of SELU are ratios of long integers, and a sum over a common denominator has both of them:
    r*(a + b*x)*y -> (r*a + r*b*x)*y where r is extreme.
    """
    if not any(_is_extreme(number) for number in expr.atoms(Rational)):
        return expr
    return expr.replace(lambda part: part.is_Mul and _is_extreme(part.args[0]), _spread)


def _is_extreme(number: Expr) -> bool:
    return bool(number.is_Rational and number != 0 and not SMALLEST <= abs(number) <= LARGEST)


def _spread(product: Mul) -> Expr:
    factor, *others = product.args
    sums = [part for part in others if part.is_Add and any(_is_extreme(term.as_coeff_Mul()[0]) for term in part.args)]
    if not sums:
        return product
    others.remove(sums[0])
    return Mul(Add(*(factor * term for term in sums[0].args)), *others)
