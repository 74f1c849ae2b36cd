"""E f(u) g(v) on a tensor grid of the two standardised variables: for correlations away from -1 and 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import exp, inf, log, pi, sqrt
from typing import TYPE_CHECKING

import flint
from flint import acb, arb, arb_mat

from derive.gaussian.enclosure.corner_panels import Panel, Setting, corner_panel
from derive.gaussian.enclosure.quadrature import best_bound, rule, upper

if TYPE_CHECKING:
    from derive.gaussian.enclosure.prepared import Analysed

MAX_PANELS = 1500
MAX_PAIRS = 12_000
RHOS = (4.0, 8.0, 2.7, 1.9)
UP = 1 + 1e-9
REAL_PARTS = tuple(acb(arb(mid, 0.25)) for mid in (-0.75, -0.25, 0.25, 0.75))


Interval = tuple[arb, arb]


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
        rough = _rough_supremum(functions[other], sigmas[other], ranges[other], damping)
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
    panels, doubt = _panels(f, sigma, s, span, n, damping, goal)
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
        2 * float(panel.half) * panel.size * _damp(abs(float(panel.centre)) - float(panel.half), damping)
        for panel in panels
    )
    return Side(kept, rows, mass * UP, (sum(panel.remainder for panel in panels) + doubt) * UP)


def _damp(nearest: float, damping: float) -> float:
    return exp(-(max(0.0, nearest * (1 - 1e-12)) ** 2) * damping) * UP


def _panels(
    f, sigma: arb, s: arb, span: Interval, n: int, damping: float, goal: float
) -> tuple[list[Panel] | None, float]:
    """Panels between breaks, bisected until every remainder is small against the goal; the doubt about breaks."""
    edges = [edge / sigma for edge in f.breaks]
    inside = [(k, edge) for k, edge in enumerate(edges) if span[0] < edge.mid() < span[1]]
    doubt = sum(_doubt(f, k, edge, sigma) for k, edge in inside)
    centre = [arb(0)] if span[0] < 0 < span[1] else []
    marks = sorted({*span, *centre, *(edge.mid() for _, edge in inside)}, key=float)
    small_sq = float((s * s).lower()) / UP
    setting = Setting(f, sigma, n, damping, small_sq)
    widest, panels = min(1.1, 3 * sqrt(small_sq)), []
    with flint.ctx.extraprec(200):  # endpoints stay exact under bisection
        spans = [(left, right) for left, right in pairwise(marks) if left < right]
    todo = []
    for left, right in spans:
        found = _at_corners(setting, inside, left, right, goal / 30)
        if found is None:
            return None, inf
        own, (left, right) = found
        panels += own
        doubt += sum(_gap(f, sigma, panel) for panel in own)
        with flint.ctx.extraprec(200):
            todo.append(((left + right) / 2, (right - left) / 2))
    while todo:
        centre, half = todo.pop()
        if float(half) <= widest:
            piece = sum(1 for edge in edges if edge.mid() < centre)
            panel = _panel(f, sigma, (centre, half, piece), n, (damping, small_sq), goal / 30)
            if panel is not None:
                panels.append(panel)
                continue
        if len(todo) + len(panels) > MAX_PANELS or not half > 1e-40:
            return None, inf
        with flint.ctx.extraprec(200):
            todo += [(centre - half / 2, half / 2), (centre + half / 2, half / 2)]
    return panels, doubt


def _at_corners(
    setting: Setting, inside: list[tuple[int, arb]], left: arb, right: arb, goal: float
) -> tuple[list[Panel], tuple[arb, arb]] | None:
    """The panels next to singular ends of an interval, and what is left of it; None where there is no such panel."""
    panels, width = [], float(right - left)
    for k, edge in inside:
        for side, piece, end in ((1, k + 1, left), (-1, k, right)):
            near = setting.f.corner(piece, side) if edge.mid() == end else None
            if near is None:
                continue
            panel = corner_panel(setting, near, edge, piece, side, min(0.5, width / 2), goal)
            if panel is None:
                return None
            panels.append(panel)
            with flint.ctx.extraprec(200):
                cut = (end + side * 2 * panel.half).mid()
            left, right = (cut, right) if side > 0 else (left, cut)
    return panels, (left, right)


def _gap(f, sigma: arb, panel: Panel) -> float:
    """What a corner panel at an inexact break costs at its other end, as a remainder."""
    if panel.centre.rad() == 0:
        return 0.0
    edges = [panel.centre + side * panel.half for side in (-1, 1)]
    inner = max(edges, key=lambda edge: min([float(abs(edge - b / sigma).mid()) for b in f.breaks]))
    return float(inner.rad()) * upper(f.value(panel.piece, acb(sigma * inner), False)) * UP


def _panel(f, sigma: arb, place: tuple[arb, arb, int], n: int, law: tuple[float, float], goal: float) -> Panel | None:
    """The panel, if the remainder of its rule is under the goal (or all of it is, next to a singularity)."""
    centre, half, piece = place
    width = float(half) * UP
    bound, _ = best_bound(_weigher(f, piece, (sigma, centre, half), law), n, RHOS, goal / width)
    size = max(upper(f.value(piece, acb(sigma * (centre + half * part)), False)) for part in REAL_PARTS)
    if bound * width <= goal and size < inf:
        return Panel(centre, half, piece, size, bound * width)
    if 2 * width * size <= goal:
        return Panel(centre, half, piece, size, 2 * width * size * UP, True)
    return None


def _weigher(
    f, piece: int, place: tuple[arb, arb, arb], law: tuple[float, float]
) -> Callable[[acb], tuple[float, float]]:
    """Bounds of |f| exp(-a^2 damping + b^2/(2 s^2)), and of |f|, on boxes of the panel's coordinate."""
    (sigma, centre, half), (damping, small_sq) = place, law

    def weigh(box: acb) -> tuple[float, float]:
        z = centre + half * box
        value = upper(f.value(piece, sigma * z, True))
        a, b = float(z.real.abs_lower()), float(z.imag.abs_upper())
        exponent = -a * a * damping / UP + b * b / (2 * small_sq) * UP
        return (value * exp(exponent) * UP, value) if exponent < 300 else (inf, inf)

    return weigh


def _doubt(f, k: int, edge: arb, sigma: arb) -> float:
    """What cutting at the midpoint of an inexact break can cost, as a remainder."""
    if edge.rad() == 0:
        return 0.0
    x = acb(sigma * edge)
    # a piece with a corner is integrated from the break itself
    values = [f.value(i, x, False) for i, side in ((k, -1), (k + 1, 1)) if f.corner(i, side) is None]
    return float(edge.rad()) * upper(values[0] - values[1] if len(values) == 2 else sum(values, acb(0))) * UP


def _rough_supremum(f, sigma: arb, span: Interval, damping: float) -> float:
    """The damped size of f on the range, for choosing tolerances only."""
    best, step = 1e-290, (span[1] - span[0]) / 32
    for k in range(33):
        z = span[0] + step * k
        x = acb(sigma * z)
        value = upper(f.value(sum(1 for edge in f.breaks if edge.mid() < x.real), x, False))
        best = max(best, value * _damp(abs(float(z)), damping) if value < inf else 0.0)
    return best
