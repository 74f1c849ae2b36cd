"""Expectations for small variance: one-sided Taylor series at 0 and half-line moments."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

from sympy import Expr, Integer, Rational, gamma, oo, pi, sqrt

from derive.activation.cells import Cell, compare
from derive.activation.normal_form import normal_form
from derive.gaussian.asymptotics.expansion import Expansion, made
from derive.gaussian.asymptotics.taylor import taylor
from derive.gaussian.node import GaussianE
from derive.program.symbols import X
from derive.records import Unsupported


@lru_cache(maxsize=256)
def expand_small(node: GaussianE, order: Rational) -> Expansion:
    """E f(x), x ~ N(0, q), for q -> 0 from above: all powers of q below `order`, a multiple of 1/2.

    With f(x) = sum a_n x^n right and sum b_n x^n left of 0, and E x^n 1{x > 0} = q^(n/2) 2^(n/2 - 1)
    Gamma((n + 1)/2)/sqrt(pi), the coefficient of q^(n/2) is (a_n + (-1)^n b_n) times that. Breakpoints away from 0
    add less than any power (Watson's lemma: DLMF, section 2.3(ii)). The error is O(q^order). Kind: SERIES.

    Raises Unsupported where f is not smooth on each side of 0, or the order of 0 and a breakpoint is open.
    """
    demand_centred(node)
    left, right = sides(node)
    count = int(2 * order) if order > 0 else 0
    above, below = taylor(right[0].value, count), taylor(left[0].value, count)
    terms: dict[Rational, Expr] = {}
    for n in range(count):
        moment = Integer(2) ** (Rational(n, 2) - 1) * gamma(Rational(n + 1, 2)) / sqrt(pi)
        terms[Rational(n, 2)] = (above[n] + (-1) ** n * below[n]) * moment
    exact = len(left) == len(right) == 1 and all(_ends(s[0].value, count) for s in (left, right))
    return made(terms, Integer(0), None if exact else Rational(order))


def sides(node: GaussianE) -> tuple[list[Cell], list[Cell]]:
    """The cells left of 0, from 0 outwards, and those right of it."""
    cells = normal_form(node.body.xreplace({node.variables[0]: X})).cells
    if any(a.upper != b.lower for a, b in pairwise(cells)):
        raise _open(cells[0].upper)
    left, right = [], []
    for cell in cells:
        low = -1 if cell.lower == -oo else compare(cell.lower, Integer(0))
        high = 1 if cell.upper == oo else compare(cell.upper, Integer(0))
        if low is None or high is None:
            raise _open(cell.lower if low is None else cell.upper)
        if low < 0:
            left.insert(0, Cell(cell.lower, cell.upper if high < 0 else Integer(0), cell.value))
        if high > 0:
            right.append(Cell(cell.lower if low > 0 else Integer(0), cell.upper, cell.value))
    return left, right


def demand_centred(node: GaussianE) -> None:
    """Raise Unsupported unless the law is N(0, q)."""
    if len(node.variables) != 1 or not node.mean.is_zero_matrix or node.cov[0, 0].args:
        raise Unsupported(
            "an expansion under a law that is not N(0, q)", where=str(node), instead="E f(x), x ~ N(0, q)"
        )


def _ends(value: Expr, count: int) -> bool:
    return bool(value.is_polynomial(X) and value.as_poly(X).degree() < max(count, 1)) or value == 0


def _open(end: Expr) -> Unsupported:
    return Unsupported(
        "the order of breakpoints is open", where=str(end), why="their signs decide", instead="give parameters domains"
    )


__all__ = ["demand_centred", "expand_small", "sides"]
