"""Numbers of expectations that the calculus reduces to orthants without a closed form."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

import flint
from flint import arb
from sympy import Dummy, Expr, Function

from derive.gaussian.closed import monomial
from derive.gaussian.engine import Derived, derive_closed
from derive.gaussian.node import GaussianE
from derive.gaussian.orthant_balls import at_origin, three_shifted
from derive.gaussian.orthants import correlation, orthant, ratio
from derive.gaussian.rule import Outcome
from derive.gaussian.stops import Blocked, Diverges


class OrthantProbability(Function):
    """P(z < h), z standard normals: the correlations r_12, r_13, ..., then h_1, h_2, ...; inert, never printed."""


def _last(problem, scalars) -> Outcome | None:
    size = len(problem.steps)
    found = orthant(problem, scalars, size) if size in (3, 6) else None
    if found is None or (size == 6 and any(found.thresholds)):
        return None
    heights = [ratio(-t, found.cov[i][i], scalars) for i, t in enumerate(found.thresholds)]
    rho = [correlation(found.cov, i, j, scalars) for i, j in combinations(range(size), 2)]
    return Outcome(((monomial(scalars, found.weight, special=OrthantProbability(*rho, *heights)), ()),))


@lru_cache(maxsize=64)
def reduced(node: GaussianE) -> Derived | None:
    """The expectation in orthants of three shifted half-spaces and of six at the origin; None where it is none."""
    try:
        return derive_closed(node, last=_last)
    except (Blocked, Diverges):
        return None


def ball_by_orthants(node: GaussianE, evaluate) -> arb | None:
    """A ball of the expectation at the current precision, or None; `evaluate(expr, extra)` is a ball of an expression.

    Kind: ENCLOSURE.
    """
    derived = reduced(node) if node.cov.rows > 2 else None
    if derived is None or not all(evaluate(expr, {}) > 0 for expr in derived.positive):
        return None
    closed: Expr = derived.closed.expr()
    extra = {}
    with flint.ctx.extraprec(40):
        for found in sorted(closed.atoms(OrthantProbability), key=str):
            extra[found] = Dummy("orthant"), _probability([evaluate(arg, {}) for arg in found.args])
        value = evaluate(closed.xreplace({found: symbol for found, (symbol, _) in extra.items()}), dict(extra.values()))
    return value if value.is_finite() else None


def _probability(numbers: list[arb]) -> arb:
    size = 3 if len(numbers) == 6 else 6
    r = [[arb(1)] * size for _ in range(size)]
    for (i, j), rho in zip(combinations(range(size), 2), numbers, strict=False):
        r[i][j] = r[j][i] = rho
    return three_shifted(r, numbers[3:]) if size == 3 else at_origin(r)


__all__ = ["ball_by_orthants", "reduced"]
