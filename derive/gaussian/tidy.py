"""The last pass: a closed form as a paper would print it.

Reflections unite special functions, an arcsine that can reach 1 becomes a two-argument arctangent, and
each polynomial is printed in the form with the fewest operations. Nothing here factors or simplifies a
whole expression: each step acts on one coefficient, and is kept only where it lowers the cost.
"""

from __future__ import annotations

from math import lcm

from sympy import Add, Expr, Mul, asin, atan2, count_ops, exp, pi

from derive.gaussian.closed import Closed, Key
from derive.gaussian.reflect import falling, reflected, rising
from derive.gaussian.scalars import Scalars
from derive.gaussian.shapes import Printer

Term = tuple[Key, object]
MANY = 24
"""Of longer sums no common factor is taken out: nobody reads them, and a second form takes seconds."""


def cost(expr: Expr) -> int:
    """Operations, with functions counted threefold."""
    return int(count_ops(expr)) + 2 * len(expr.find(lambda e: e.is_Function))


def tidy(closed: Closed) -> Expr:
    """The closed form as one SymPy expression in its cheapest known form."""
    spellings = closed, reflected(closed)
    closed = min((*spellings, *map(falling, spellings)), key=lambda c: (_functions(c), len(c.terms), rising(c)))
    printer = Printer(closed.scalars)
    summands = _angles(dict(closed.terms), closed.scalars)
    common = _common([coefficient for _, coefficient, _ in summands], closed.scalars)
    forms = [_sum(summands, printer)]
    if common is not None and len(summands) <= MANY:
        rest = _sum([(outer, coefficient / common, special) for outer, coefficient, special in summands], printer)
        forms.append(printer.coefficient(common, frozenset()) * rest)
    shared = frozenset.intersection(*(radicals for (radicals, _), _, _ in summands)) if summands else frozenset()
    if shared and common is not None and len(summands) <= MANY:
        bare = [((radicals - shared, exponent), c / common, special) for (radicals, exponent), c, special in summands]
        forms.append(printer.coefficient(common, shared) * _sum(bare, printer))
    return min(forms, key=cost)


def _functions(closed: Closed) -> int:
    return len({function for key in closed.terms for function, _ in key.specials})


def _common(coefficients: list, scalars: Scalars):
    """The rational function that divides all coefficients, or None."""
    if len(coefficients) < 2:
        return None
    above, below = coefficients[0].numer, coefficients[0].denom
    for coefficient in coefficients[1:]:
        above, below = above.gcd(coefficient.numer), below.gcd(coefficient.denom)
    content = lcm(*(int(coefficient.denom.content()) for coefficient in coefficients))
    return scalars.field(above) / scalars.field(below.primitive()[1] * content)


def _sum(summands: list[tuple], printer: Printer) -> Expr:
    """The sum of the terms, those with one coefficient taken together."""
    groups: dict = {}
    for outer, coefficient, special in summands:
        groups.setdefault((outer, coefficient), []).append(special)
    return Add(*[_grouped(outer, coefficient, specials, printer) for (outer, coefficient), specials in groups.items()])


def _grouped(outer, coefficient, specials: list[Expr], printer: Printer) -> Expr:
    radicals, exponent = outer
    factor = printer.coefficient(coefficient, radicals) * exp(printer.element(exponent))
    if len(specials) == 1:
        return factor * specials[0]
    return min((factor * Add(*specials), Add(*[factor * special for special in specials])), key=cost)


def _angles(terms: dict, scalars: Scalars) -> list[tuple]:
    """(outer key, coefficient, special) of each term, an arcsine that meets pi/2 united with it."""
    result, left = [], dict(terms)
    for key, coefficient in terms.items():
        angle = next((f for f, power in key.specials if isinstance(f, asin) and power == 1), None)
        if angle is None:
            continue
        rest = frozenset(item for item in key.specials if item != (angle, 1))
        partner = Key(key.radicals, key.exponent, rest)
        quarter = coefficient * scalars.pi / 2
        turned = quarter_turned(angle, scalars)
        if turned is None and left.get(partner) != quarter:
            continue
        del left[key]
        residue = left.pop(partner, scalars.zero) - quarter
        if residue:
            left[partner] = residue
        value = pi / 2 + angle if turned is None else turned
        result.append(((key.radicals, key.exponent), coefficient, value * Mul(*[f**power for f, power in rest])))
    for key, coefficient in left.items():
        special = Mul(*[f**power for f, power in key.specials])
        result.append(((key.radicals, key.exponent), coefficient, special))
    return result


def quarter_turned(angle: asin, scalars: Scalars) -> Expr | None:
    """pi/2 + asin(rho) = atan2(sqrt(1 - rho**2), -rho), where rho reaches -1 or 1 on the boundary Delta = 0.

    Near the boundary the arcsine loses half of its digits and leaves its domain by rounding.
    """
    sides = _sides(angle.args[0], scalars)
    return None if sides is None else atan2(sides[1], -sides[0])


def _sides(rho: Expr, scalars: Scalars) -> tuple[Expr, Expr] | None:
    """(rho, sqrt(1 - rho**2)) without their common denominator, if 1 - rho**2 vanishes with Delta."""
    if scalars.delta is None or rho.is_number:
        return None
    rest = scalars.one - scalars.lift(rho**2)
    if not scalars.split_delta(rest.numer)[0] % 2:
        return None
    other = scalars.product(*scalars.root(rest))
    (above, below), (other_above, other_below) = rho.as_numer_denom(), other.as_numer_denom()
    ratio = below / other_below
    return above, other_above * ratio


__all__ = ["cost", "quarter_turned", "tidy"]
