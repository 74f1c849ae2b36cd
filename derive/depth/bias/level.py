"""Where a deep stack settles at a given correlation: lines of constant c (neutrality: c = 1/2), by the variance q.

With output moments V(q) = E phi^2 and K_c(q) = E phi(u) phi(v) at correlation c, q = sigma_w^2 V + sigma_b^2 and
c q = sigma_w^2 K_c + sigma_b^2 give sigma_w^2 = (1 - c) q/(V - K_c), sigma_b^2 = q - sigma_w^2 V: the line is explicit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np
from sympy import Expr, Rational

from derive.depth.bias.floats import LayerMaps
from derive.depth.roots import sign_changes
from derive.gaussian.numbers import ball, evaluate, to_enclosure
from derive.program.symbols import Q1, Q2, SIGMA_B, SIGMA_W, K, Q
from derive.records import DomainError, Enclosure, Unsupported

LOW, HIGH = 0.99e-5, 1.01e2


@dataclass(frozen=True)
class LevelPoint:
    """A point of a line of constant c, as certified enclosures."""

    sigma_w2: Enclosure
    sigma_b2: Enclosure
    q: Enclosure

    @property
    def sigma_w(self) -> float:
        """The weights' standard deviation."""
        return float(self.sigma_w2) ** 0.5


def level_line(second: Expr, cross: Expr, c: Fraction) -> tuple[Expr, Expr]:
    """(sigma_w^2, sigma_b^2) as expressions in q, from the output's second and cross moment.

    Raises Unsupported where those depend on sigma_w or sigma_b themselves.
    """
    if not 0 < c < 1:
        raise DomainError(f"c = {c} is no level of the correlation", why="0 < c < 1; gamma = c/(1 - c)")
    if {SIGMA_W, SIGMA_B} & (second.free_symbols | cross.free_symbols):
        raise Unsupported("a line of constant c", why="it is explicit for a block with one Dense at its end")
    level = Rational(c.numerator, c.denominator)
    top = second.xreplace({Q1: Q})
    joint = cross.xreplace({Q1: Q, Q2: Q}).xreplace({K: level * Q})
    weight = (1 - level) * Q / (top - joint)
    return weight, Q - weight * top


def level_points(
    line: tuple[Expr, Expr], values: Mapping[str, Any], sigma_b: Fraction, c: Fraction, maps: LayerMaps
) -> tuple[LevelPoint, ...]:
    """Every point of the line with this sigma_b, by sign changes over q in [1e-5, 1e2], each certified.

    maps  the block in floats: they say where to look, with e' of one layer of sigma_w = 1, sigma_b = 0 from
          e = 1 - c: sigma_b^2 = q (1 - e/e')

    Pairs of roots closer than the scan could be missed. The corner q -> 0 of a line is no point of it.
    """
    weight, bias = line
    target = Fraction(sigma_b) ** 2

    def excess(q: Any, digits: int) -> flint.arb:
        return evaluate(bias, {**values, "q": q}, digits)[0] - ball(target)

    def guess(points: list[float]) -> np.ndarray:
        q = np.asarray(points, float)
        found = np.full(len(q), np.nan)
        inside = (q >= LOW) & (q <= HIGH)
        e = np.full(int(inside.sum()), float(1 - c))
        _, after = maps.step(np.log(q[inside]), np.log(e), np.ones_like(e), np.zeros_like(e))
        found[inside] = q[inside] * (1 - e / np.exp(after)) - float(target)
        return found

    roots = sign_changes(excess, guess)
    found = []
    for root in roots:
        with flint.ctx.workprec(120):
            w2 = evaluate(weight, {**values, "q": root}, 20)[0]
        found.append(LevelPoint(to_enclosure(w2), to_enclosure(ball(target)), to_enclosure(root)))
    return tuple(sorted(found, key=lambda point: float(point.q)))


__all__ = ["LevelPoint", "level_line", "level_points"]
