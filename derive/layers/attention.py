"""Softmax attention at initialization: moments of a position and of two, from those before it.

Attention mixes positions, while a block follows one coordinate of one position for two inputs: it is no layer of a
block. Here are its moment maps for positions that are alike; `verify.read` carries every position of a model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sympy import Expr, Integer, exp

from derive.layers.stage import ratio
from derive.records import EocError


@dataclass(frozen=True)
class Attended:
    """Second moment of a position, cross moment of two, and the factor of squared gradients.

    gain  to a position from gradients that are independent between positions, through values, queries and keys
    """

    second: Expr
    cross: Expr
    gain: Expr

    @property
    def correlation(self) -> Expr:
        """Of two positions; it goes to 1 with their number where r > 0, the collapse of rank."""
        return self.cross / self.second


def attend(second: Any, cross: Any, positions: Any, scores: Any = 1) -> Attended:
    """o_i = sum_j a_ij x_j with a = softmax(S), to first order in 1/positions.

    second, cross  M = E x_i^2 and r = E x_i x_j: the same for all positions and pairs
    positions      n, their number
    scores         t = sigma_q^2 sigma_k^2: S has the variance t M^2 (queries and keys of wide heads, 1/sqrt(d_head))

    E o_i^2 = r + (M - r) e^{t M (M - r)}/n,  E o_i o_j = r + (M - r) e^{t r (M - r)}/n,
    gain = (1 + t (M - r)^2 + t M (M - r)) e^{t M (M - r)}/n for values, queries and keys.

    Assumes t M (M - r) well below 2 ln n, beyond which single positions dominate a softmax (the random energy model),
    and heads wide enough for Gaussian scores. Derived from E e^{S} under the Gaussian law of centred scores: the
    normaliser of a softmax over many positions is its expectation. Values and projections follow as Dense layers.
    Raises EocError unless 0 <= r <= M and n >= 1.
    """
    m, r, n, t = (ratio(value, name) for value, name in
                  ((second, "second"), (cross, "cross"), (positions, "positions"), (scores, "scores")))  # fmt: skip
    if (n - 1).is_negative or t.is_negative or r.is_negative or (m - r).is_negative:
        raise EocError(
            f"second = {m}, cross = {r}, positions = {n}, scores = {t}",
            why="positions share a part of their second moment: 0 <= cross <= second, and both numbers are positive",
            instead="attend(1, 0.3, 128, 1)",
        )
    own, other = exp(t * m * (m - r)), exp(t * r * (m - r))
    gain = (1 + t * (m - r) ** 2 + t * m * (m - r)) * own / n
    return Attended(r + (m - r) * own / n, r + (m - r) * other / n, gain)


def with_skip(second: Any, cross: Any, branch: Any) -> tuple[Expr, Expr]:
    """(M, r) behind x + b W attention(x) over infinitely many positions, b^2 sigma^2 = `branch`.

    M/r - 1 shrinks by 1/(1 + branch): with branch = a/L over L layers by e^{-a} in all, without a skip to 0 at once.
    Source: Noci et al. 2022 (arXiv 2206.03126), on uniform attention.
    """
    m, r, b = ratio(second, "second"), ratio(cross, "cross"), ratio(branch, "branch")
    return m + b * r, r * (Integer(1) + b)
