"""Finds the law of pairs of units, and what is asked of the largest one at each of two inputs."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, Mul, Symbol

from derive.gaussian.maxima.contest import Contest, contest
from derive.gaussian.maxima.recognise import Largest, recognise
from derive.gaussian.node import GaussianE


@dataclass(frozen=True)
class LargestPair:
    """E f(max u_i) g(max v_i) over k independent pairs (u_i, v_i) with variances q1, q2 and covariance `cross`."""

    first: Largest
    second: Largest
    q1: Expr
    q2: Expr
    cross: Expr


def paired(node: GaussianE) -> LargestPair | None:
    """The node as a question about two maxima: variables (u1..uk, v1..vk), pairs independent and alike."""
    halves = _halves(node)
    if halves is None:
        return None
    (first, us), (second, vs), law = halves
    f, g = recognise(first, us), recognise(second, vs)
    if f is None or g is None or f.of_one != g.of_one:
        return None
    if f.of_one and _winner(first, us) != _winner(second, vs):
        return None
    return LargestPair(f, g, *law)


@dataclass(frozen=True)
class ContestPair:
    """The same of two winners behind a function that rises and falls."""

    first: Contest
    second: Contest
    q1: Expr
    q2: Expr
    cross: Expr


def contests(node: GaussianE) -> ContestPair | None:
    """The node as a question about the winners at two inputs, or None."""
    halves = _halves(node)
    if halves is None:
        return None
    (first, us), (second, vs), law = halves
    f, g = contest(first, us), contest(second, vs)
    if f is None or g is None or f.of_one != g.of_one or f.rank != g.rank:
        return None
    return ContestPair(f, g, *law)


Half = tuple[Expr, tuple[Symbol, ...]]


def _halves(node: GaussianE) -> tuple[Half, Half, tuple[Expr, Expr, Expr]] | None:
    """(body, variables) of each input and (q1, q2, cross), where the pairs (u_i, v_i) are independent and alike."""
    size, cov = node.cov.rows, node.cov
    k = size // 2
    if size < 4 or size % 2 or not node.mean.is_zero_matrix:
        return None
    q1, q2, cross = cov[0, 0], cov[k, k], cov[0, k]
    for i in range(size):
        for j in range(size):
            same = i == j
            want = (q1 if i < k else q2) if same else cross if abs(i - j) == k else 0
            if cov[i, j] != want:
                return None
    us, vs = node.variables[:k], node.variables[k:]
    parts = Mul.make_args(node.body)
    first = Mul(*(p for p in parts if not p.free_symbols & set(vs)))
    second = Mul(*(p for p in parts if p.free_symbols & set(vs)))
    return None if second.free_symbols & set(us) else ((first, us), (second, vs), (q1, q2, cross))


def _winner(body: Expr, variables) -> int:
    return next(
        i for i, z in enumerate(variables) if recognise(body, (z, *(w for w in variables if w != z))) is not None
    )
