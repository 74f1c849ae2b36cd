"""E f(u) g(v) by the conditional law of v: for correlations next to -1 and 1."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import exp, inf, pi
from typing import TYPE_CHECKING, Any

import flint
from flint import acb, arb

from derive.gaussian.enclosure.budget import check
from derive.gaussian.enclosure.quadrature import ellipse, remainder, rule, upper

if TYPE_CHECKING:
    from derive.gaussian.enclosure.prepared import Analysed

MAX_CELLS = 500
RHOS = (4.0, 2.7, 1.9)
TALL_RHOS = (1.9, 1.6)
UP = 1 + 1e-9


@dataclass(frozen=True)
class Edge:
    """A boundary of a cell as a function of x: w = const (height), or the line v = level."""

    height: Any
    level: Any


@dataclass(frozen=True)
class Cell:
    """centre +- half in x; between two edges, the fraction start to stop of the way in w; the pieces of f and g."""

    centre: arb
    half: arb
    below: Edge
    above: Edge
    start: arb
    stop: arb
    first: int
    second: int


@dataclass(frozen=True)
class Law:
    """u = sigma1 x, v = sigma2 (c x + s w) with x, w independent standard normals; |x|, |w| <= reach.

    left_out  disjoint intervals of x that do not belong to the range
    """

    f: Analysed
    g: Analysed
    sigma1: arb
    sigma2: arb
    c: arb
    s: arb
    reach: arb
    left_out: tuple[tuple[arb, arb], ...] = ()

    def at(self, edge: Edge, x):
        """(w, v) on an edge, so that v keeps its exact level on a line."""
        if edge.level is None:
            return edge.height, self.sigma2 * (self.c * x + self.s * edge.height)
        return (edge.level / self.sigma2 - self.c * x) / self.s, edge.level

    def point(self, cell: Cell, x, t):
        """(w, v, length of the cell in w) at the fraction t of the way."""
        (w0, v0), (w1, v1) = self.at(cell.below, x), self.at(cell.above, x)
        way, back = cell.start + (cell.stop - cell.start) * t, 1 - cell.stop + (cell.stop - cell.start) * (1 - t)
        across, rise = w1 - w0, v1 - v0
        if cell.below.level is None and cell.above.level is None:
            rise = self.sigma2 * self.s * across  # x, a wide ball here, cancels
        elif cell.below.level is not None and cell.above.level is not None:
            across = rise / (self.sigma2 * self.s)
        # from the edge that is known exactly: balls of the other one enter by their share of the way
        v = v1 - rise * back if cell.below.level is None and cell.above.level is not None else v0 + rise * way
        w = w1 - across * back if cell.below.height is None and cell.above.height is not None else w0 + across * way
        return w, v, across * (cell.stop - cell.start)


def conditional(law: Law, n: int, goal: float, even: bool) -> arb | None:
    """The integral over the square |x|, |w| <= reach, or None where the cells would be too many.

    The square is cut along x at the breaks of f and where a line v = b enters or leaves it, so that every cell lies
    between two straight edges and its integrand is analytic; cells are bisected until Gauss-Legendre rules in both
    directions have small certified remainders. Nothing degenerates as c -> 1: a line only gets steeper.

    Args:
        law: functions and law
        n: points of a rule in x (in w, or a longer rule on tall cells)
        goal: absolute radius wanted
        even: f(u) g(v) is even in (u, v): half of the square is enough
    """
    cells, doubt = _cells(law, even)
    total, error, top, count = arb(0), 0.0, 0.0, 0
    while cells:
        cell = cells.pop()
        check("a cell of the plane")
        bound, size, points, across = _bound(law, cell, n, goal / 60)
        if bound <= goal / 60:
            total = total + (_quadrature(law, cell, n, points) if points else 0)
            error, top = error + bound, max(top, size)
            continue
        count += 1
        if count > MAX_CELLS or not cell.half > 1e-40:
            return None
        cells += _halves(cell, across)
    error = (error + doubt * top) / (2 * pi) * UP
    return (total / (2 * arb.pi()) + arb(0, error)) * (2 if even else 1)


def _cells(law: Law, even: bool) -> tuple[list[Cell], float]:
    """The first cells, and the area (times two) in doubt because cuts are known as balls only."""
    reach, lines = law.reach, list(law.g.breaks)
    if law.sigma2 * law.s > 0.3 and not any(line.contains(0) for line in lines):
        lines.append(arb(0))  # large arguments: what varies fast does so around zero
    lines.sort(key=lambda line: float(line.mid()))
    cuts = [edge / law.sigma1 for edge in law.f.breaks]
    for line in lines:
        cuts += [(line / law.sigma2 + side * law.s * reach) / law.c for side in (-1, 1)]
    low = arb(0) if even else -reach
    inside = [cut for cut in cuts if low < cut.mid() < reach]
    doubt = sum(float(cut.rad()) for cut in inside) * 8 * float(reach)
    out = [end for span in law.left_out for end in span if low < end < reach]
    marks = sorted({low, arb(0), reach, *(cut.mid() for cut in inside), *out}, key=float)
    marks = [mark for k, mark in enumerate(marks) if k == 0 or mark > marks[k - 1]]
    bottom, top = Edge(-reach, None), Edge(reach, None)
    cells = []
    for left, right in pairwise(marks):
        with flint.ctx.extraprec(200):
            centre, half = (left + right) / 2, (right - left) / 2
        if any(span[0] < centre < span[1] for span in law.left_out):
            continue
        first = sum(1 for edge in law.f.breaks if (edge / law.sigma1).mid() < centre)
        edges = [bottom]
        for line in lines:
            edge = Edge(None, line)
            height = law.at(edge, centre)[0]
            if -reach < height.mid() < reach:
                edges.append(edge)
        for below, above in pairwise([*edges, top]):
            v = ((law.at(below, centre)[1] + law.at(above, centre)[1]) / 2).mid()
            second = sum(1 for edge in law.g.breaks if edge.mid() < v)
            cells.append(Cell(centre, half, below, above, arb(0), arb(1), first, second))
    return cells, doubt


def _halves(cell: Cell, across: bool) -> list[Cell]:
    parts = []
    for side in (-1, 1):
        with flint.ctx.extraprec(200):
            if across:
                middle = (cell.start + cell.stop) / 2
                span = (cell.centre, cell.half, (cell.start, middle) if side < 0 else (middle, cell.stop))
            else:
                half = cell.half / 2
                span = (cell.centre + side * half, half, (cell.start, cell.stop))
        centre, half, (start, stop) = span
        parts.append(Cell(centre, half, cell.below, cell.above, start, stop, cell.first, cell.second))
    return parts


def _bound(law: Law, cell: Cell, n: int, goal: float) -> tuple[float, float, int, bool]:
    """(remainder of the cell, bound of |f g|, points of the rule in w, whether w is the direction to bisect)."""
    best_x, size = inf, inf
    for rho in RHOS if float(cell.half) < 1.6 else ():
        worst, plain = _supremum(law, cell, ellipse(rho), _real_boxes(4))
        bound = 2 * remainder(n, rho) * worst * UP
        if bound < best_x:
            best_x, size = bound, plain
        if best_x <= goal / 2:
            break
    best_w, points = inf, n
    if best_x <= goal / 2:
        for count, rhos in ((n, RHOS), (5 * n // 2, TALL_RHOS)):
            for rho in rhos:
                worst, plain = _supremum(law, cell, _real_boxes(2), ellipse(rho))
                bound = 2 * remainder(count, rho) * worst * UP
                if bound < best_w:
                    best_w, points, size = bound, count, max(size, plain)
                if best_w <= goal / 2:
                    return best_x + best_w, size, points, True
    crude, plain = _supremum(law, cell, _real_boxes(1), _real_boxes(1), False)
    if 4 * crude <= goal:  # next to a singularity: all of the cell is small
        return 4 * crude * UP, plain, 0, True
    across = best_x <= goal / 2 or (best_x == inf and _singular_across(law, cell))
    return inf, size, points, across and (best_x == inf or not _is_flat(law, cell))


def _moves(law: Law, cell: Cell) -> tuple[float, float, float]:
    """How far w moves on the way across the cell, and v on the way across and along x."""
    half, ends = arb(1) / 2, (cell.centre - cell.half, cell.centre + cell.half)
    along = law.point(cell, ends[1], half)[1] - law.point(cell, ends[0], half)[1]
    (w0, v0, _), (w1, v1, _) = (law.point(cell, cell.centre, arb(t)) for t in (0, 1))
    return upper(w1 - w0), upper(v1 - v0), upper(along)


def _is_flat(law: Law, cell: Cell) -> bool:
    """Whether bisection in w has done what it can: what is left is the width of the balls in x."""
    height, across, along = _moves(law, cell)
    return height < 0.3 and across < along


def _singular_across(law: Law, cell: Cell) -> bool:
    """Whether it is g alone that is not analytic next to the cell, at a level that is reached by moving in w."""
    for box in ellipse(RHOS[-1]):
        if upper(law.f.value(cell.first, law.sigma1 * (cell.centre + cell.half * box), True)) == inf:
            return False
    _, across, along = _moves(law, cell)
    return across > along


def _real_boxes(parts: int) -> tuple[acb, ...]:
    return tuple(acb(arb(-1 + 2 * k / parts).union(arb(-1 + 2 * (k + 1) / parts))) for k in range(parts))


def _supremum(
    law: Law, cell: Cell, xis: tuple[acb, ...], etas: tuple[acb, ...], analytic: bool = True
) -> tuple[float, float]:
    """Bounds of the transformed integrand and of |f g| alone on a product of boxes."""
    worst = plain = 0.0
    for xi in xis:
        x = cell.centre + cell.half * xi
        first = upper(law.f.value(cell.first, law.sigma1 * x, analytic))
        weight = first * _gauss(x)
        for eta in etas if weight < inf else ():
            w, v, length = law.point(cell, x, (1 + eta) / 2)
            second = upper(law.g.value(cell.second, acb(v), analytic))
            plain = max(plain, first * second)
            worst = max(worst, weight * second * _gauss(w) * upper(length))
            if not worst < inf:
                return inf, inf
        if not weight < inf:
            return inf, inf
    return worst * float(cell.half) / 2 * UP, plain


def _gauss(z: acb) -> float:
    a, b = float(z.real.abs_lower()), float(z.imag.abs_upper())
    exponent = -a * a / 2 / UP + b * b / 2 * UP
    return exp(exponent) * UP if exponent < 600 else inf


def _quadrature(law: Law, cell: Cell, n: int, points: int) -> arb:
    """The tensor rule on a cell, without the factor 1/(2 pi)."""
    outer, inner = rule(n, flint.ctx.prec), rule(points, flint.ctx.prec)
    ways = [cell.start + (cell.stop - cell.start) * ((1 + node) / 2) for node in inner[0]]
    level = cell.below.level is None and cell.above.level is None
    weights, total = None, arb(0)
    for node, weight in zip(*outer, strict=True):
        x = cell.centre + cell.half * node
        (w0, v0), (w1, v1) = law.at(cell.below, x), law.at(cell.above, x)
        across, rise = w1 - w0, v1 - v0
        if weights is None or not level:
            weights = [own * (-((w0 + across * way) ** 2) / 2).exp() for way, own in zip(ways, inner[1], strict=True)]
        part = arb(0)
        for way, own in zip(ways, weights, strict=True):
            part += law.g.value(cell.second, acb(v0 + rise * way), False).real * own
        first = law.f.value(cell.first, acb(law.sigma1 * x), False).real
        total += part * across * weight * first * (-(x * x) / 2).exp()
    return total * (cell.stop - cell.start) * cell.half / 2
