"""Reflections of the normal distribution functions, used to name as few of them as possible."""

from __future__ import annotations

from collections.abc import Callable

from sympy import Expr

from derive.gaussian.closed import Closed, Key, monomial
from derive.gaussian.special import BivariateNormalCdf, NormalCdf


def reflected(closed: Closed) -> Closed:
    """The same closed form with Phi and Phi_2 that are reflections of each other written by one of them."""
    for head in (BivariateNormalCdf, NormalCdf):
        members: dict = {}
        for key in closed.terms:
            for function, _ in key.specials:
                if isinstance(function, head):
                    members.setdefault(_orbit(function), set()).add(function)
        for orbit, functions in members.items():
            for function in sorted(functions - {orbit}, key=str) if len(functions) > 1 else ():
                closed = _substitute(closed, function)
    return closed


def falling(closed: Closed) -> Closed:
    """The same closed form with the distribution functions beside an exponential written by their tails.

    A difference exp(q/2) (Phi(a) - Phi(b)) of two values near 1 is lost to rounding at large variance;
    exp(q/2) (Phi(-b) - Phi(-a)) is not.
    """
    for function in sorted(_rising(closed), key=str):
        closed = _substitute(closed, function, lambda key: bool(key.exponent))
    return closed


def rising(closed: Closed) -> int:
    """How many distribution functions of a positive argument stand beside an exponential."""
    return len(_rising(closed))


def _rising(closed: Closed) -> set:
    found = {function for key in closed.terms if key.exponent for function, _ in key.specials}
    return {f for f in found if isinstance(f, (NormalCdf, BivariateNormalCdf)) and _orbit(f) != f}


def _positive(expr: Expr) -> bool:
    return not expr.could_extract_minus_sign()


def _orbit(function: Expr) -> Expr:
    """The member of the orbit with negative arguments."""
    if isinstance(function, NormalCdf):
        x = function.args[0]
        return NormalCdf(-x) if _positive(x) else function
    h, k, rho = function.args
    for positive in (_positive(h) and not h.is_zero, _positive(k) and not k.is_zero):
        rho = -rho if positive else rho
    return BivariateNormalCdf(*(-x if _positive(x) else x for x in (h, k)), rho)


def _once(closed: Closed, function: Expr) -> Closed:
    """The function by one reflection: 1 - Phi(-x), or Phi(k) - Phi_2(-h, k; -rho)."""
    scalars = closed.scalars
    one = scalars.one
    if isinstance(function, NormalCdf):
        return monomial(scalars, one) + monomial(scalars, -one, special=NormalCdf(-function.args[0]))
    h, k, rho = function.args
    if not _positive(h) or h.is_zero:
        h, k = k, h
    other = BivariateNormalCdf(-h, k, -rho)
    rest = other if isinstance(other, BivariateNormalCdf) else None
    value = monomial(scalars, -one, special=rest)
    if _orbit(other) != other:
        value = monomial(scalars, -one) * _once(closed, other)
    return monomial(scalars, one, special=NormalCdf(k)) + value


def _substitute(closed: Closed, function: Expr, where: Callable[[Key], bool] = lambda key: True) -> Closed:
    result = Closed(closed.scalars, {})
    for key, coefficient in closed.terms.items():
        powers = dict(key.specials)
        if powers.get(function) != 1 or not where(key):
            result = result + Closed(closed.scalars, {key: coefficient})
            continue
        rest = Key(key.radicals, key.exponent, frozenset(item for item in key.specials if item[0] != function))
        result = result + Closed(closed.scalars, {rest: coefficient}) * _once(closed, function)
    return result


__all__ = ["falling", "reflected", "rising"]
