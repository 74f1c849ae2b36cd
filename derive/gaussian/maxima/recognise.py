"""Finds the maximum of units in an integrand, and the law of one unit."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, Heaviside, Integer, Max, Mul, Pow, Symbol, binomial, factorial2, sqrt

from derive.gaussian.node import GaussianE, single
from derive.gaussian.special import NormalCdf
from derive.program.symbols import X


@dataclass(frozen=True)
class Largest:
    """A function of the largest of k exchangeable units.

    body    f(x) of the largest one
    k       number of units
    of_one  whether f(x) counts only where the first unit is the largest
    """

    body: Expr
    k: int
    of_one: bool

    def on_line(self, q: Expr) -> Expr:
        """The function of one N(0, q) variable with the same expectation: f times k Phi(x/sqrt(q))^(k-1).

        The largest of k independent units has the density k phi Phi^(k-1) (David & Nagaraja 2003, Order
        Statistics, eq. 2.1.6).
        """
        count = 1 if self.of_one else self.k
        return count * self.body * NormalCdf(X / sqrt(q)) ** (self.k - 1)


def recognise(body: Expr, variables: tuple[Symbol, ...]) -> Largest | None:
    """The body as a function of the largest of the variables, or of the first one where it is the largest."""
    if len(variables) < 2:
        return None
    swapped = body.xreplace(_maxima(body, variables))
    factors = Mul.make_args(swapped)
    for first in variables:
        rest = _where_largest(factors, first, variables)
        if rest is not None:
            return Largest(rest.xreplace({first: X}), len(variables), True)
    if swapped != body and not swapped.free_symbols & set(variables):
        return Largest(swapped, len(variables), False)
    return None


def _maxima(body: Expr, variables: tuple[Symbol, ...]) -> dict[Expr, Expr]:
    """Maxima over all variables, and what they are in terms of the largest x; SymPy flattens max(0, max(u, v))."""
    found = {}
    for part in body.atoms(Max):
        if set(variables) <= set(part.args):
            found[part] = Max(X, *(arg for arg in part.args if arg not in variables))
    return found


def _where_largest(factors: tuple[Expr, ...], first: Symbol, variables: tuple[Symbol, ...]) -> Expr | None:
    """What multiplies the indicators of first > every other one; None if they are not all there."""
    others, rest = set(variables) - {first}, []
    for factor in factors:
        base = factor.base if isinstance(factor, Pow) and factor.exp.is_positive else factor
        beaten = {z for z in variables if isinstance(base, Heaviside) and base.args[0] == first - z}
        if beaten:
            others -= beaten
        else:
            rest.append(factor)
    left = Mul(*rest)
    return None if others or left.free_symbols & (set(variables) - {first}) else left


def reduced(node: GaussianE) -> Expr | None:
    """The same expectation in one variable, where the node is one of the largest of k exchangeable centred units.

    With equal correlations r the largest is sqrt(r q) w + sqrt((1 - r) q) n, n that of independent ones, so that
    polynomials of it follow; other functions stay where they are.
    """
    size = node.cov.rows
    law = exchangeable(node)
    if law is None:
        return None
    found = recognise(node.body, node.variables)
    if found is None:
        return None
    q, k = law
    if k == 0:
        return single(found.on_line(q), q)
    if size == 2:  # given one of two correlated units, the other one is below it with chance Phi(x sqrt(..)/sqrt(q))
        below = NormalCdf(X * sqrt((q - k) / (q + k)) / sqrt(q))
        return single((1 if found.of_one else 2) * found.body * below, q)
    polynomial = found.body.as_poly(X)
    if polynomial is None or found.of_one:
        return None
    total: Expr = Integer(0)
    for (degree,), factor in polynomial.terms():
        for even in range(0, degree + 1, 2):
            power = Largest(X ** (degree - even), size, False)
            moment = single(power.on_line(q - k), q - k) if degree > even else Integer(1)
            total += factor * binomial(degree, even) * k ** (even // 2) * factorial2(even - 1) * moment
    return total


LARGEST_SINGLE, LARGEST_PAIR = 5, 3
"""Up to so many units the orthants have closed forms (four at the origin; the pair needs six beyond three units)."""


def crowd(node: GaussianE) -> str | None:
    """What stands in the way where a maximum over so many units has no closed form; None where it may have one."""
    half = node.variables[: node.cov.rows // 2]
    if node.cov.rows > LARGEST_SINGLE and recognise(node.body, node.variables) is not None:
        return f"the largest of {node.cov.rows} units: orthants of dimension {node.cov.rows - 1}"
    first = Mul(*(p for p in Mul.make_args(node.body) if p.free_symbols & set(half)))
    if len(half) > LARGEST_PAIR and recognise(first, half) is not None:
        return f"two largest of {len(half)} units: orthants of dimension {2 * len(half) - 2}"
    return None


def exchangeable(node: GaussianE) -> tuple[Expr, Expr] | None:
    """(variance, common covariance) of a centred law with equal entries on and off the diagonal."""
    cov, size = node.cov, node.cov.rows
    if size < 2 or not node.mean.is_zero_matrix:
        return None
    diagonal = {cov[i, i] for i in range(size)}
    beside = {cov[i, j] for i in range(size) for j in range(size) if i != j}
    if len(diagonal) != 1 or len(beside) != 1:
        return None
    return diagonal.pop(), beside.pop()
