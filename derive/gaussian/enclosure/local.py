"""Expectations that are infinite because of one point, whatever the variance."""

from __future__ import annotations

from fractions import Fraction

from sympy import Pow, log

from derive.gaussian.enclosure import TOOLS
from derive.gaussian.enclosure.corners import corners, diverges
from derive.gaussian.enclosure.one import enclose_one
from derive.gaussian.node import GaussianE, single
from derive.program.symbols import X
from derive.records import EocError


def diverges_at(node: GaussianE) -> str | None:
    """The point ("x = 0") next to which the integrand is certainly not integrable, with one sign; None otherwise.

    Decided for functions of x without parameters, x ~ N(0, q): a density is positive there whatever the variance.
    """
    body = node.body
    if node.cov.rows != 1 or node != single(body.xreplace({node.variables[0]: X})):
        return None
    if body.free_symbols - set(node.variables):
        return None
    if not any(power.exp.could_extract_minus_sign() for power in body.atoms(Pow)) and not body.has(log):
        return None
    try:
        f = TOOLS.function(body, node.variables[0], {})
        points = [f.breaks[k] for k, _, corner in corners(f) if diverges(corner)]
        if not points or enclose_one(f, Fraction(1), digits=8).is_finite():
            return None
    except EocError:  # undecided, or infinite with both signs
        return None
    return f"x = {points[0].str(6, radius=False)}"


__all__ = ["diverges_at"]
