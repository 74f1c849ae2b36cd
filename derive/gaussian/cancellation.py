"""Which closed forms lose digits at large variances: polynomials beside exponentials on half-lines."""

from __future__ import annotations

from typing import Any

import flint
from sympy import Abs, Add, Expr, cos, exp, sin

from derive.gaussian.decompose import KINKS
from derive.gaussian.node import GaussianE
from derive.program.evaluate import run_balls
from derive.program.gate import freeze
from derive.program.operations.bivariate_normal_cdf import BivariateNormalCdf
from derive.program.operations.cosine_normal_cdf import CosineNormalCdf
from derive.program.operations.normal_cdf import NormalCdf
from derive.program.operations.sine_normal_cdf import SineNormalCdf

LAW = {"q": "1e4", "q1": "100", "q2": "100", "K": "40", "Delta": "8400"}
"""Where it is looked at; a pair far enough out for one power of q and close enough for balls of Phi_2."""
PARAMETERS = ("0.7", "-0.7")
WAVES = (sin, cos, CosineNormalCdf, SineNormalCdf)
"""What oscillates is left alone: it dies out like exp(-q/2)."""
LOSS = 1e3
"""How much larger than their sum the terms may be: three digits."""


def loses_digits(node: GaussianE, closed: Expr) -> bool:
    """Whether the terms of a closed form cancel at a large variance.

    E x^n exp(-x) on x > 0 is p(q) exp(q/2) Phi(-sqrt(q)) - r(q): the tail is an asymptotic series of which both terms
    share the first orders, and the difference is smaller by a power of q for each power of x. No claim is made: where
    it is true, code integrates, which it can where kinks stand at numbers.
    """
    kinks = node.body.atoms(*KINKS)
    if not _has_lines(node) or any(not kink.free_symbols <= set(node.variables) for kink in kinks):
        return False
    if closed.has(*WAVES) or not (closed.has(exp) and closed.has(NormalCdf, BivariateNormalCdf)):
        return False
    terms = Add.make_args(closed.expand(power_base=False, power_exp=False, log=False))
    if len(terms) < 2:
        return False
    for value in PARAMETERS:
        found = _ratio(terms, value)
        if found is not None:
            return found > LOSS
    return False


def _has_lines(node: GaussianE) -> bool:
    """Whether an exponential of a line stands in the integrand: only its tails are asymptotic series."""
    lines = [e.args[0].replace(Abs, lambda inside: inside) for e in node.body.atoms(exp)]
    slopes = [line.diff(z) for line in lines for z in node.variables]
    return any(slope != 0 and not slope.has(*node.variables) for slope in slopes)


def _ratio(terms: tuple[Expr, ...], parameter: str) -> float | None:
    """sum |terms| / |sum of terms|, None where it has no value."""
    symbols = tuple(sorted(set().union(*(term.free_symbols for term in terms)), key=str))
    program = freeze({f"t{i}": term for i, term in enumerate(terms)}, symbols)
    with flint.ctx.workprec(400):
        values: dict[str, Any] = {s.name: flint.acb(flint.arb(LAW.get(s.name, parameter))) for s in symbols}
        found = [ball.real for ball in run_balls(program, values).values()]
        total = abs(sum(found, flint.arb(0)))
        if not total.is_finite() or not total > 0:
            return None
        return float((sum((abs(ball) for ball in found), flint.arb(0)) / total).mid())


__all__ = ["loses_digits"]
