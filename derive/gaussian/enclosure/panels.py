"""Panels of one variable for the grid of two: bisected between breaks until every remainder is small."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import exp, inf, sqrt

import flint
from flint import acb, arb

from derive.gaussian.enclosure.budget import check
from derive.gaussian.enclosure.corner_panels import Panel, Setting, corner_panel
from derive.gaussian.enclosure.quadrature import best_bound, upper

MAX_PANELS = 1500
RHOS = (4.0, 8.0, 2.7, 1.9)
UP = 1 + 1e-9
FINEST = 256
Interval = tuple[arb, arb]


def damp(nearest: float, damping: float) -> float:
    return exp(-(max(0.0, nearest * (1 - 1e-12)) ** 2) * damping) * UP


def panels_between(
    f, sigma: arb, s: arb, span: Interval, n: int, damping: float, goal: float
) -> tuple[list[Panel] | None, float]:
    """Panels between breaks, bisected until every remainder is small against the goal; the doubt about breaks."""
    edges = [edge / sigma for edge in f.breaks]
    inside = [(k, edge) for k, edge in enumerate(edges) if span[0] < edge.mid() < span[1]]
    doubt = sum(_doubt(f, k, edge, sigma) for k, edge in inside)
    origin = [arb(0)] if span[0] < 0 < span[1] else []
    marks = sorted({*span, *origin, *(edge.mid() for _, edge in inside)}, key=float)
    small_sq = float((s * s).lower()) / UP
    setting = Setting(f, sigma, n, damping, small_sq)
    usual = 8 * rough_supremum(f, sigma, span, 0.0)
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
        check("a panel of the grid")
        if float(half) <= widest:
            piece = sum(1 for edge in edges if edge.mid() < centre)
            panel = _panel(f, sigma, (centre, half, piece), n, (damping, small_sq), goal / 30, usual)
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


def _panel(
    f, sigma: arb, place: tuple[arb, arb, int], n: int, law: tuple[float, float], goal: float, usual: float
) -> Panel | None:
    """The panel, if the remainder of its rule is under the goal (or all of it is, next to a singularity)."""
    centre, half, piece = place
    width = float(half) * UP
    bound, _ = best_bound(_weigher(f, piece, (sigma, centre, half), law), n, RHOS, goal / width)
    size = _size_on(f, sigma, place, usual)
    if bound * width <= goal and size < inf:
        return Panel(centre, half, piece, size, bound * width)
    if 2 * width * size <= goal:
        return Panel(centre, half, piece, size, 2 * width * size * UP, True)
    return None


def _size_on(f, sigma: arb, place: tuple[arb, arb, int], usual: float) -> float:
    """A bound of |f| on the panel; on shorter boxes where those say more than is usual."""
    centre, half, piece = place
    size, parts = inf, 4
    while parts <= FINEST and not size <= usual:
        boxes = [acb(arb((2 * k + 1 - parts) / parts, 1 / parts)) for k in range(parts)]
        size = max(upper(f.value(piece, acb(sigma * (centre + half * box)), False)) for box in boxes)
        parts = parts * 4 if size < inf else FINEST + 1
    return size


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


def rough_supremum(f, sigma: arb, span: Interval, damping: float) -> float:
    """The damped size of f on the range, for choosing tolerances only."""
    best, step = 1e-290, (span[1] - span[0]) / 32
    points = [span[0] + step * k for k in range(33)]
    points += [z for k in range(1, 40, 2) for z in (arb(2) ** -k, -(arb(2) ** -k)) if span[0] < z < span[1]]
    for z in points:
        x = acb(sigma * z)
        value = upper(f.value(sum(1 for edge in f.breaks if edge.mid() < x.real), x, False))
        best = max(best, value * damp(abs(float(z)), damping) if value < inf else 0.0)
    return best
