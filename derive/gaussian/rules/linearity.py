"""Sums and constants leave the expectation; where some summands are no atoms, those that are leave it first."""

from __future__ import annotations

from sympy import Add, Expr, Lambda

from derive.gaussian.node import GaussianE
from derive.gaussian.rule import Rule
from derive.gaussian.summands import is_atomic, summands


def rewrite(node: GaussianE) -> Expr | None:
    """E (the atoms) + E (the rest), where there are both."""
    atoms: list[Expr] = []
    rest: list[Expr] = []
    for term in summands(node):
        (atoms if is_atomic(term, node.variables) else rest).append(term)
    return _over(node, Add(*atoms)) + _over(node, Add(*rest)) if atoms and rest else None


def _over(node: GaussianE, body: Expr) -> GaussianE:
    return GaussianE(Lambda(node.variables, body), node.cov, node.mean)


RULE = Rule(
    name="linearity",
    order=-10,
    statement=r"\mathbb{E}\sum_ic_if_i(z)=\sum_ic_i\,\mathbb{E}f_i(z)",
    source="linearity of the integral",
    apply=lambda problem, scalars: None,  # atoms are taken apart before there is a problem: derive.gaussian.setup
    rewrite=rewrite,
)
