"""An integrand as a sum, on each side of its kinks where it has one variable."""

from __future__ import annotations

from sympy import Add, Dummy, Expr, Heaviside, Integer, Mul, Pow, Rational, expand

from derive.gaussian.decompose import KINKS, decompose
from derive.gaussian.node import GaussianE
from derive.gaussian.polynomials import written_out
from derive.gaussian.stops import Blocked
from derive.program.symbols import X
from derive.records import Unsupported

LONGEST = 60
"""Integrands that expand to more terms stay whole."""
MOST = 2000
"""Products with more terms than this before like ones are gathered are not expanded to be counted."""


def summands(node: GaussianE) -> list[Expr]:
    """The terms of the integrand, a kink being a sum of half-lines; the whole integrand where it is too long."""
    body = node.body
    if len(node.variables) != 1 or not body.has(*KINKS):
        return _expanded(body)
    from derive.activation.normal_form import normal_form

    z = node.variables[0]
    try:
        terms = normal_form(body.xreplace({z: X})).terms
    except Unsupported:
        return [body]
    pieces = []
    for term in terms:
        half = Integer(1) if term.threshold is None else Heaviside(term.side * (X - term.threshold))
        pieces += [(part * half).xreplace({X: z}) for part in _expanded(term.value)]
    return pieces


def _expanded(body: Expr) -> list[Expr]:
    if written_out(body) > MOST:
        return [body]
    # expand would multiply out the sum below the bar of 1/(1 + x**2)**2
    whole = {p: Dummy() for p in body.atoms(Pow) if p.base.is_Add and not (p.exp.is_Integer and p.exp.is_positive)}
    flat = expand(body.xreplace(whole), power_exp=False, log=False)
    back = {stand_in: power for power, stand_in in whole.items()}
    terms = [term.xreplace(back) for term in Add.make_args(flat)]
    return terms if len(terms) <= LONGEST else [body]


def is_atomic(term: Expr, zs) -> bool:
    """Whether a summand is made of atoms."""
    try:
        decompose(term, zs)
    except Blocked:
        return False
    return True


def split_radicals(summand: Expr) -> tuple[Expr, tuple[Expr, ...]]:
    """(r, (p, ...)) with summand = r * sqrt(p) * ..., each p positive and its square root irrational."""
    rest, radicals = [], []
    for factor in Mul.make_args(summand):
        if isinstance(factor, Pow) and factor.exp.is_Rational and factor.exp.q == 2 and factor.base.is_positive:
            radicals.append(factor.base)
            rest.append(factor.base ** (factor.exp - Rational(1, 2)))
        else:
            rest.append(factor)
    return Mul(*rest), tuple(radicals)


__all__ = ["is_atomic", "split_radicals", "summands"]
