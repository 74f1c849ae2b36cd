"""E f(u) g(v) on a tensor grid of the two standardised variables: for correlations away from -1 and 1."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, pi
from typing import TYPE_CHECKING

import flint
from flint import acb, arb, arb_mat

from derive.gaussian.enclosure.budget import check
from derive.gaussian.enclosure.corner_panels import Panel
from derive.gaussian.enclosure.panels import Interval, damp, panels_between, rough_supremum
from derive.gaussian.enclosure.quadrature import rule

if TYPE_CHECKING:
    from derive.gaussian.enclosure.prepared import Analysed

MAX_PAIRS = 12_000
UP = 1 + 1e-9


@dataclass(frozen=True)
class Side:
    """f(sigma x) on an interval: panels with rows of weighted values; damped integral of |f|, remainder."""

    panels: list[Panel]
    rows: list[list[arb]]
    mass: float
    remainder: float


def tensor(
    functions: tuple[Analysed, Analysed],
    sigmas: tuple[arb, arb],
    c: arb,
    s: arb,
    ranges: tuple[Interval, Interval],
    n: int,
    goal: float,
) -> arb | None:
    """The integral over a rectangle of (x, y), or None where the panels would be too many.

    On a pair of panels with centres X, Y and half-widths h, k the density of (x, y) factors into
    exp(c X Y/s^2) exp(c Y h xi/s^2) exp(c X k eta/s^2) exp(c h k xi eta/s^2) and functions of one variable,
    s^2 = 1 - c^2; the last matrix is shared by all pairs with the same h, k. At x = a + ib and real y the density is
    at most exp(-(a^2 + y^2)/(2 + 2|c|) + b^2/(2 s^2))/(2 pi s), the least eigenvalue of the form being 1/(1 + |c|):
    this bounds the remainder of the rule in one variable by a product of one-variable bounds.

    Args:
        functions: f and g
        sigmas: standard deviations of u and v (the same object where they are equal)
        c, s: correlation and sqrt(1 - c^2), as balls
        ranges: exact ends of x and of y
        n: points of the rule on a panel
        goal: absolute radius wanted
    """
    small = float(s.lower()) / UP
    damping = 1 / (2 + 2 * float(abs(c).upper())) / UP
    sides: list[Side] = []
    for mine, other in ((0, 1), (1, 0)):
        if mine and functions[0] is functions[1] and sigmas[0] is sigmas[1] and ranges[0] is ranges[1]:
            sides.append(sides[0])
            break
        rough = rough_supremum(functions[other], sigmas[other], ranges[other], damping)
        spread = float(ranges[other][1] - ranges[other][0]) / (2 * pi * small) * UP
        side = _side(functions[mine], sigmas[mine], s, ranges[mine], n, damping, goal / (10 * spread * rough))
        if side is None:
            return None
        sides.append(side)
    first, second = sides
    error = (first.remainder * second.mass + second.remainder * first.mass) / (2 * pi * small) * UP
    summed = _sum(first, second, c, s, n, goal)
    if summed is None:
        return None
    total, skipped = summed
    return total / (2 * arb.pi() * s) + arb(0, (error + skipped / (2 * pi * small)) * UP)


def _sum(first: Side, second: Side, c: arb, s: arb, n: int, goal: float) -> tuple[arb, float] | None:
    """The tensor sum over pairs of panels without the factor 1/(2 pi s), and a bound of the pairs left out."""
    ratio = c / (s * s)
    floor = log(goal / 1000)
    small_sq, slope = float((s * s).upper()) * UP, abs(float(c.mid()))
    total, skipped, cores, count = arb(0), 0.0, {}, 0
    flips = -1.0 if c < 0 else 1.0
    nodes = rule(n, flint.ctx.prec)[0]
    for p, row in zip(first.panels, first.rows, strict=True):
        check("a row of the grid")
        for q, column in zip(second.panels, second.rows, strict=True):
            # the size of the pair's contribution, in logarithms: the factors alone may overflow
            size = _exponent(p, q, slope, flips, small_sq) + log(p.size + 1e-300) + log(q.size + 1e-300)
            if size < floor:
                skipped += 4 * float(p.half) * float(q.half) * exp(size) * UP
                continue
            count += 1
            if count > MAX_PAIRS:
                return None
            with flint.ctx.extraprec(300):  # exact (but next to corners): equal products share their matrix
                area = p.half * q.half
            key = area.mid().man_exp(), area.rad().man_exp()
            if key not in cores:
                step = ratio * area
                cores[key] = arb_mat(n, n, [(step * a * b).exp() for a in nodes for b in nodes])
            left, right = ratio * q.centre * p.half, ratio * p.centre * q.half
            before = arb_mat(1, n, [x * (left * node).exp() for x, node in zip(row, nodes, strict=True)])
            after = arb_mat(n, 1, [y * (right * node).exp() for y, node in zip(column, nodes, strict=True)])
            total += (before * cores[key] * after)[0, 0] * (ratio * p.centre * q.centre).exp()
    return total, skipped


def _exponent(p: Panel, q: Panel, slope: float, flips: float, small_sq: float) -> float:
    """An upper bound of -(x^2 - 2cxy + y^2)/(2 s^2) on a pair of panels, |c| = slope up to rounding."""
    x, y, h, k = float(p.centre), flips * float(q.centre), float(p.half), float(q.half)
    across = max(0.0, abs(y - slope * x) - (k + slope * h) * UP - 1e-9)
    along = max(0.0, abs(x) - h * UP - 1e-9)
    return -(across * across / small_sq + along * along) / 2 / UP


def _side(f, sigma: arb, s: arb, span: Interval, n: int, damping: float, goal: float) -> Side | None:
    panels, doubt = panels_between(f, sigma, s, span, n, damping, goal)
    if panels is None:
        return None
    nodes, weights = rule(n, flint.ctx.prec)
    kept, rows = [panel for panel in panels if not panel.tiny], []
    for panel in kept:
        row = []
        for i, (node, weight) in enumerate(zip(nodes, weights, strict=True)):
            x = panel.centre + panel.half * node
            density = (-(x * x) / (2 * s * s)).exp()
            if panel.weights:
                row.append(panel.weights[i] * density)
            else:
                row.append(f.value(panel.piece, acb(sigma * x), False).real * (weight * panel.half * density))
        rows.append(row)
    mass = sum(
        2 * float(panel.half) * panel.size * damp(abs(float(panel.centre)) - float(panel.half), damping)
        for panel in panels
    )
    return Side(kept, rows, mass * UP, (sum(panel.remainder for panel in panels) + doubt) * UP)
