"""Finds the largest of f(z_1), ..., f(z_k) in an integrand where f rises and falls: then it is not f of the largest."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, Heaviside, Lambda, Max, Mul, Pow, Symbol, diag

from derive.activation.normal_form import derivative, normal_form, to_piecewise
from derive.gaussian.maxima.recognise import exchangeable
from derive.gaussian.node import GaussianE
from derive.program.symbols import X


@dataclass(frozen=True)
class Contest:
    """k independent units; the one with the largest rank f(z_i) wins, and a function of its z is asked for.

    rank    f(x)
    body    the function of the winner's pre-activation x
    k       number of units
    of_one  whether it counts only where the first unit wins
    """

    rank: Expr
    body: Expr
    k: int
    of_one: bool

    @property
    def count(self) -> int:
        """How many units may win where it counts."""
        return 1 if self.of_one else self.k


def contest(body: Expr, variables: tuple[Symbol, ...]) -> Contest | None:
    """The body as a function of the winner, or None."""
    if len(variables) < 2:
        return None
    largest = {part: rank for part in body.atoms(Max) if (rank := _rank(part.args, variables)) is not None}
    if len(set(largest.values())) == 1:
        (rank,) = set(largest.values())
        swapped = body.xreplace(dict.fromkeys(largest, rank))
        if not swapped.free_symbols & set(variables):
            return Contest(rank, swapped, len(variables), False)
    for first in variables:
        found = _won_by(body, first, variables)
        if found is not None:
            return found
    return None


def _rank(args: tuple[Expr, ...], variables: tuple[Symbol, ...]) -> Expr | None:
    """f where the arguments are f of every variable once."""
    if len(args) != len(variables):
        return None
    ranks = set()
    for arg in args:
        used = arg.free_symbols & set(variables)
        if len(used) != 1:
            return None
        ranks.add(arg.xreplace({used.pop(): X}))
    whose = {symbol for arg in args for symbol in arg.free_symbols}
    return ranks.pop() if len(ranks) == 1 and set(variables) <= whose else None


def _won_by(body: Expr, first: Symbol, variables: tuple[Symbol, ...]) -> Contest | None:
    """The body as something of the first unit times the indicators that it beats every other one."""
    others, rest = set(variables) - {first}, []
    ranks: set[Expr] = set()
    for factor in Mul.make_args(body):
        base = factor.base if isinstance(factor, Pow) and factor.exp.is_positive else factor
        beaten, rank = _beaten(base, first, variables) if isinstance(base, Heaviside) else (None, None)
        if beaten is None or rank is None:
            rest.append(factor)
        else:
            others.discard(beaten)
            ranks.add(rank)
    if others or len(ranks) != 1:
        return None
    won = next(iter(ranks)).xreplace({X: first})
    left = Mul(*rest)  # where the first unit wins, the largest rank is its own
    left = left.xreplace({part: won for part in left.atoms(Max) if _rank(part.args, variables) in ranks})
    if left.free_symbols & (set(variables) - {first}):
        return None
    return Contest(ranks.pop(), left.xreplace({first: X}), len(variables), True)


def _beaten(step: Expr, first: Symbol, variables: tuple[Symbol, ...]) -> tuple[Symbol | None, Expr | None]:
    """(z, f) where the step is that of f(first) - f(z)."""
    gap = step.args[0]
    used = gap.free_symbols & set(variables)
    if len(used) != 2 or first not in used:
        return None, None
    (other,) = used - {first}
    mine, theirs = gap.as_independent(other, as_Add=True)
    rank = mine.xreplace({first: X})
    return (other, rank) if rank.xreplace({X: other}) == -theirs and not mine.has(other) else (None, None)


def slope_in_variance(node: GaussianE, q: Symbol) -> Expr | None:
    """d/dq of the expectation of a continuous function of the winner of independent units of variance q.

    z = sqrt(q) n, so that the derivative is E of (x body'(x))/(2 q) at the winner: body is a continuous function of
    the largest rank, whose derivative is the winner's.
    """
    law = exchangeable(node)
    found = contest(node.body, node.variables)
    if law != (q, 0) or found is None or found.of_one:
        return None
    slope, jumps = derivative(normal_form(found.body))
    if jumps:
        return None
    first, *others = node.variables
    steps = (Heaviside(found.rank.xreplace({X: first}) - found.rank.xreplace({X: z})) for z in others)
    body = found.k * (X * to_piecewise(slope)).xreplace({X: first}) * Mul(*steps)
    return GaussianE(Lambda(node.variables, body), diag(*[q] * found.k)) / (2 * q)
