"""Perfect correlation, asked as a question of one variable."""

from __future__ import annotations

from sympy import Lambda, Mul, sqrt

from derive.gaussian.node import GaussianE
from derive.program.symbols import Q1, Q2, Q, X, Z
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


__all__ = ["diagonal"]
