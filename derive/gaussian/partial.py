"""The closed part of a mixed integrand: atoms taken out, the rest left as a smaller expectation."""

from __future__ import annotations

from functools import lru_cache

from sympy import Add, Expr, Heaviside, Lambda, count_ops, expand

from derive.gaussian.answer import answer
from derive.gaussian.decompose import KINKS, decompose
from derive.gaussian.node import GaussianE
from derive.gaussian.stops import Blocked
from derive.program.symbols import X
from derive.records import Kind, Unsupported

LONGEST = 60
"""Integrands that expand to more terms stay whole."""


@lru_cache(maxsize=256)
def partly_closed(node: GaussianE) -> Expr | None:
    """E f = (closed form of the atoms of f) + E(the rest of f), the closed form tested like any other; or None.

    None where f is a sum of atoms, has none, or the expectation of its atoms alone diverges or has no closed form,
    and where the rest would be more than three times as long as f.
    """
    zs = node.variables
    atoms: list[Expr] = []
    rest: list[Expr] = []
    for term in _terms(node):
        (atoms if _is_atoms(term, zs) else rest).append(term)
    if not atoms or not rest:
        return None
    found = answer(_with_body(node, Add(*atoms)))
    if found.closed is None or found.kind is Kind.DIVERGENT or found.condition:
        return None
    smaller = Add(*rest)
    return None if count_ops(smaller) > 3 * count_ops(node.body) else found.closed + _with_body(node, smaller)


def _terms(node: GaussianE) -> list[Expr]:
    """The integrand as a sum, on each side of its kinks where it has one variable."""
    body = node.body
    if len(node.variables) == 1 and body.has(*KINKS):
        from derive.activation.normal_form import normal_form

        z = node.variables[0]
        try:
            terms = normal_form(body.xreplace({z: X})).terms
        except Unsupported:
            return [body]
        pieces = []
        for term in terms:
            half = 1 if term.threshold is None else Heaviside(term.side * (X - term.threshold))
            pieces += [(part * half).xreplace({X: z}) for part in _summands(term.value)]
        return pieces
    return _summands(body)


def _summands(body: Expr) -> list[Expr]:
    terms = Add.make_args(expand(body, power_exp=False, log=False))
    return list(terms) if len(terms) <= LONGEST else [body]


def _is_atoms(term: Expr, zs) -> bool:
    try:
        decompose(term, zs)
    except Blocked:
        return False
    return True


def _with_body(node: GaussianE, body: Expr) -> GaussianE:
    return GaussianE(Lambda(node.variables, body), node.cov, node.mean)


__all__ = ["partly_closed"]
