"""Perfect correlation, asked as a question of one variable."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import flint
from sympy import Derivative, Expr, ImmutableDenseMatrix, Lambda, Mul, Symbol, sqrt

from derive.gaussian.node import GaussianE
from derive.program.symbols import Q1, Q2, K, Q, X, Z
from derive.records import DomainError


def diagonal(node: GaussianE, sign: int, *, equal: bool = True) -> GaussianE:
    """E f(u, v) at correlation 1 or -1, as an expectation over one variable.

    E f(x, sign*x) with x ~ N(0, q) where both variances are q (`equal`), else E f(sqrt(q1) z, sign*sqrt(q2) z)
    with z ~ N(0, 1). It is never found by substitution into the formula of two variables, which cancels there.
    Raises DomainError for a node that is no centred pair.
    """
    if node.cov.rows != 2 or not node.mean.is_zero_matrix or sign not in (1, -1):
        raise DomainError(
            "Only a centred pair has a diagonal.",
            where=str(node),
            why="correlation 1 or -1 leaves one variable of two",
            instead="ask for the expectation of two variables with sign 1 or -1",
        )
    u, v = node.variables
    first, second = (X, sign * X) if equal else (sqrt(Q1) * Z, sign * sqrt(Q2) * Z)
    body = Mul(*[factor.subs({u: first, v: second}, simultaneous=True) for factor in Mul.make_args(node.body)])
    return GaussianE(Lambda((X,), body), [[Q]]) if equal else GaussianE(Lambda((Z,), body), [[1]])


@lru_cache(maxsize=256)
def collapsed(expr: Expr, sign: int) -> Expr:
    """An expression at q1 = q2 and correlation `sign`, 1 or -1, its pairs as expectations over one variable.

    Pairs over the law of another layer collapse too where their moments become the same expression: E phi(u) phi(v)
    and E phi(u)^2 do at correlation 1. Balls of the two moments could never decide that. Derivatives stay.
    """
    if isinstance(expr, Derivative) or not expr.args:
        return {Q2: Q1, K: sign * Q1}.get(expr, expr) if isinstance(expr, Symbol) else expr
    if not isinstance(expr, GaussianE):
        return expr.func(*(collapsed(arg, sign) for arg in expr.args))
    cov, mean = (m.applyfunc(lambda entry: collapsed(entry, sign)) for m in (expr.cov, expr.mean))
    node = GaussianE(expr.integrand, cov, mean)
    if not mean.is_zero_matrix:
        return node
    if cov.rows > 2:
        return merged(node) if sign == 1 else node
    if cov.rows != 2 or cov[0, 0] != cov[1, 1] or cov[0, 1] not in (cov[0, 0], -cov[0, 0]):
        return node
    line = diagonal(node, 1 if cov[0, 1] == cov[0, 0] else -1)
    return GaussianE(line.integrand, [[cov[0, 0]]])


def merged(node: GaussianE) -> GaussianE:
    """The same expectation with units that are equal, by their variances and covariance, under one name."""
    cov, kept, same = node.cov, [], {}
    for i in range(cov.rows):
        twin = next((k for k in kept if cov[k, k] == cov[i, i] == cov[k, i]), None)
        if twin is None:
            kept.append(i)
        else:
            same[node.variables[i]] = node.variables[twin]
    variables = tuple(node.variables[k] for k in kept)
    return GaussianE(Lambda(variables, node.body.xreplace(same)), cov.extract(kept, kept))


def on_the_diagonal(expr: Expr, values: Mapping[str, Any]) -> Expr:
    """The expression collapsed where c is exactly 1 or -1, q1 = q2 and a law is not that of the input itself."""
    q1, q2, c = (values.get(name) for name in ("q1", "q2", "c"))
    if c is None or q1 is None or any(isinstance(value, flint.arb) for value in (q1, q2, c)):
        return expr
    if abs(c) != 1 or q1 != q2 or q1 == 0:
        return expr
    own = ImmutableDenseMatrix([[Q1, K], [K, Q2]])
    others = any(node.cov.rows > 1 and node.cov != own for node in expr.atoms(GaussianE))
    return collapsed(expr, int(c)) if others else expr


__all__ = ["collapsed", "diagonal", "merged", "on_the_diagonal"]
