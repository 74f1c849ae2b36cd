"""The law of a residual block at width n: what it does to the Gram matrix of its stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sympy import Expr, Integer

from derive.depth.finite import inputs
from derive.depth.finite.recursion import Coefficients, Kernel, step
from derive.gaussian.node import single
from derive.program.symbols import Q, X

Pair = tuple[int, int]


@dataclass(frozen=True)
class Turn:
    """One activation of a branch, with its derivative, and the Dense behind it: sigma_w^2, sigma_b^2."""

    phi: Expr
    slope: Expr
    weight: Expr
    bias: Expr


@dataclass(frozen=True)
class Branch:
    """A branch of activations and Dense layers that ends in a Dense.

    entry   (sigma_w^2, sigma_b^2) of a Dense in front, or None where the first activation reads the stream itself
    turns   the activations, each with the Dense behind it
    """

    entry: tuple[Expr, Expr] | None
    turns: tuple[Turn, ...]


@dataclass(frozen=True)
class OneInput:
    """S' = S + drift + shift/n + sqrt(noise/n) N(0, 1) for the mean square S = q of a stream on one input."""

    drift: Expr
    shift: Expr
    noise: Expr


def one_input(branch: Branch, shortcut: Expr, scale: Expr, ratio: Expr) -> OneInput:
    """The law of one input in q.

    ratio   width of the stream over that of the layers inside, where the branch begins with a Dense

    Given the stream, x'_i = a x_i + b d_i with d_i i.i.d. N(0, Q^), Q^ the random kernel of the branch: exactly
    E S' = a^2 S + b^2 E Q^ and n Var S' = 4 a^2 b^2 S E Q^ + b^4 (2 E Q^2 + n Var Q^). Behind a Dense, Q^ given S is
    that of a fresh network. Rows that are Gaussian with the Gram matrix S fixed lie on a sphere: they are what is
    left of N(0, K) once the fluctuation 2 K^2/n of its Gram matrix is taken away, a vertex of -2 q^2 to start with.
    """
    first, state = Integer(1), Kernel(Q, Integer(-2) * Q**2, Integer(0), Integer(0))
    if branch.entry is not None:
        first, state = ratio, Kernel(branch.entry[0] * Q + branch.entry[1], Integer(0), Integer(0), Integer(0))
    for turn in branch.turns:
        state = step(state, coefficients(turn, state.kernel), Integer(1))
    kernel, vertex, correction = state.kernel, first * state.vertex, first * state.correction
    a, b = shortcut, scale
    noise = 4 * a**2 * b**2 * Q * kernel + b**4 * (2 * kernel**2 + vertex)
    return OneInput((a**2 - 1) * Q + b**2 * kernel, b**2 * correction, noise)


def coefficients(turn: Turn, q: Expr) -> Coefficients:
    """Those of the recursions at a variance that is an expression, by Hermite polynomials written out."""
    square, fourth = turn.phi**2, turn.phi**4
    g, g2, g4 = (single(square * X**k, q) for k in (0, 2, 4))
    w = turn.weight
    zero = Integer(0)
    return Coefficients(
        w * g + turn.bias,
        w * (g2 - q * g) / (2 * q**2),
        w * (g4 - 6 * q * g2 + 3 * q**2 * g) / (4 * q**4),
        w**2 * (single(fourth, q) - g**2),
        zero,
        zero,
    )


def exchanged(first: Mapping[Pair, Any], second: Mapping[Pair, Any], p: Pair, q: Pair) -> Any:
    """A_ac B_bd + A_ad B_bc for p = (a, b), q = (c, d)."""
    (a, b), (c, d) = p, q

    def at(of: Mapping[Pair, Any], i: int, j: int) -> Any:
        return of[min(i, j), max(i, j)]

    return at(first, a, c) * at(second, b, d) + at(first, a, d) * at(second, b, c)


def wishart(kernel: Mapping[Pair, Any], p: Pair, q: Pair) -> Any:
    """n Cov of two entries of the Gram matrix of n rows N(0, kernel): K_ac K_bd + K_ad K_bc."""
    return exchanged(kernel, kernel, p, q)


def noise(stream: Mapping[Pair, Any], branch: Mapping[Pair, Any], vertex: Any, p: Pair, q: Pair, a: Any, b: Any) -> Any:
    """n Cov(S'_p, S'_q | S): a^2 b^2 (S_ac Q_bd + ...) + b^4 (Q_ac Q_bd + Q_ad Q_bc + V_pq)."""
    crossed = exchanged(stream, branch, p, q) + exchanged(branch, stream, p, q)
    return a**2 * b**2 * crossed + b**4 * (wishart(branch, p, q) + vertex)


@dataclass(frozen=True, eq=False)
class BlockNumbers:
    """The law at a Gram matrix S (P, P): drift and shift (P, P), noise (P, P, P, P); floats."""

    drift: np.ndarray
    shift: np.ndarray
    noise: np.ndarray


def several_inputs(
    stream: np.ndarray, entry: tuple[float, float] | None, turns: Sequence[inputs.LayerAt], shortcut: float,
    scale: float, ratio: float, distinct: int,
) -> BlockNumbers:  # fmt: skip
    """The law of P inputs in floats; entries of the noise in which more inputs meet than `distinct` are nan."""
    count = len(stream)
    pairs, both = inputs.pairs_of(count), inputs.followed(count, distinct)
    given = {p: float(stream[p]) for p in pairs}
    kernel, first = given, 1.0
    vertex = {(p, q): -wishart(given, p, q) for p, q in both}
    if entry is not None:
        kernel, first = {p: entry[0] * v + entry[1] for p, v in given.items()}, ratio
        vertex = dict.fromkeys(both, 0.0)
    correction = dict.fromkeys(pairs, 0.0)
    for at in turns:
        kernel, vertex, correction = inputs.step(at(kernel), vertex, correction, 1.0)
    drift, shift = np.empty((count, count)), np.empty((count, count))
    spread = np.full((count,) * 4, np.nan)
    for a, b in pairs:
        drift[a, b] = drift[b, a] = (shortcut**2 - 1) * given[a, b] + scale**2 * kernel[a, b]
        shift[a, b] = shift[b, a] = scale**2 * first * correction[a, b]
    for p, q in both:
        value = noise(given, kernel, first * vertex[p, q], p, q, shortcut, scale)
        for (a, b), (c, d) in ((p, q), (q, p)):
            spread[a, b, c, d] = spread[b, a, c, d] = spread[a, b, d, c] = spread[b, a, d, c] = value
    return BlockNumbers(drift, shift, spread)


__all__ = ["BlockNumbers", "Branch", "OneInput", "Turn", "noise", "one_input", "several_inputs", "wishart"]
