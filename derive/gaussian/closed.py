"""Closed forms in normal form: a sum over distinct products of special functions.

coefficient * prod sqrt(radicals) * exp(exponent) * prod special**power, with the coefficient a
cancelled rational function. Like products are added, so Delta/sqrt(Delta) is sqrt(Delta) at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sympy import Add, Expr, cos, exp, sin

from derive.gaussian.scalars import Radicals, Scalars


@dataclass(frozen=True, slots=True)
class Key:
    """What multiplies a coefficient: radicals, the exponent of exp, special factors with powers."""

    radicals: Radicals
    exponent: Any
    specials: frozenset[tuple[Expr, int]]


@dataclass(frozen=True, slots=True)
class Closed:
    """A closed form: coefficients by key, none of them zero."""

    scalars: Scalars
    terms: Mapping[Key, Any]

    def __add__(self, other: Closed) -> Closed:
        terms = dict(self.terms)
        for key, coefficient in other.terms.items():
            total = terms.pop(key, self.scalars.zero) + coefficient
            if total:
                terms[key] = total
        return Closed(self.scalars, terms)

    def __mul__(self, other: Closed) -> Closed:
        result = Closed(self.scalars, {})
        for key, coefficient in self.terms.items():
            for other_key, other_coefficient in other.terms.items():
                factor, merged = _merge(self.scalars, key, other_key)
                result = result + Closed(self.scalars, {merged: factor * coefficient * other_coefficient})
        return result

    def expr(self) -> Expr:
        """The SymPy expression, term by term."""
        return Add(*[self.term_expr(key, coefficient) for key, coefficient in self.terms.items()])

    def term_expr(self, key: Key, coefficient) -> Expr:
        """One term as a SymPy expression."""
        special = exp(self.scalars.lower(key.exponent))
        for function, power in key.specials:
            special *= function**power
        return self.scalars.product(coefficient, key.radicals) * special


def constant(scalars: Scalars, element) -> Closed:
    """A closed form without special functions."""
    return monomial(scalars, element)


def monomial(
    scalars: Scalars, element, radicals: Radicals = frozenset(), exponent=None, special: Expr | None = None
) -> Closed:
    """element * prod sqrt(radicals) * exp(exponent) * special."""
    if not element:
        return Closed(scalars, {})
    specials = frozenset() if special is None else frozenset({(special, 1)})
    return Closed(scalars, {Key(radicals, scalars.zero if exponent is None else exponent, specials): element})


def angle(scalars: Scalars, phase) -> tuple[Closed, Closed]:
    """cos(phase) and sin(phase), whole numbers as such."""
    values = [function(scalars.lower(phase)) for function in (cos, sin)]
    lifted = [(scalars.field(int(v)), None) if v.is_Integer else (scalars.one, v) for v in values]
    along, across = (monomial(scalars, element, special=special) for element, special in lifted)
    return along, across


def _merge(scalars: Scalars, first: Key, second: Key) -> tuple[Any, Key]:
    factor = scalars.one
    for radical in first.radicals & second.radicals:
        factor = factor * scalars.square(radical)
    powers = dict(first.specials)
    for function, power in second.specials:
        powers[function] = powers.get(function, 0) + power
    specials = frozenset((function, power) for function, power in powers.items() if power)
    return factor, Key(first.radicals ^ second.radicals, first.exponent + second.exponent, specials)


__all__ = ["Closed", "Key", "angle", "constant", "monomial"]
