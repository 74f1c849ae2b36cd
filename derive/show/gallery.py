"""The portrait of an activation: phases, variances, and the maps on its edge of chaos, on one page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from derive.show.document import attempt
from derive.show.phase import PhaseDiagram, grid_maps, phase_diagram
from derive.show.phase_curves import draw_map
from derive.show.phase_plots import draw_phases, draw_variance, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Portrait:
    """What a portrait draws: a diagram, and the maps at one point (sigma_w, sigma_b) with fixed point q.

    edge    whether that point is on the edge of chaos
    stable  whether q attracts; None where every variance stays
    """

    diagram: PhaseDiagram
    sigma_w: float
    sigma_b: float
    q: float
    edge: bool
    stable: bool | None
    variance: dict[str, Any]
    correlation: dict[str, Any]


def portrait(theory: Any, title: str, n: int = 160, **parameters: Any) -> Portrait:
    """Phases for sigma_w in (0.5, 3), sigma_b in (0, 1); the maps at the edge of chaos with q* = 1 where there is one.

    Elsewhere at sigma_b = 0.3 and the sigma_w that keeps q = 1.
    """
    maps = grid_maps(theory, **parameters)
    diagram = phase_diagram(theory, n=n, title=title, **parameters)
    edge = attempt(lambda: theory.edge_of_chaos(q=1, **parameters))
    joint = not isinstance(edge, str) and bool(edge.points) and bool(edge.points[0].valid)
    one = np.array([1.0])
    if joint:
        sigma_w, sigma_b = float(edge.points[0].sigma_w), float(edge.points[0].sigma_b)
    else:
        sigma_b = 0.3
        sigma_w = float(np.sqrt((1 - sigma_b**2) / maps.variance(one, one, 0 * one)[0]))
    q = np.linspace(0, 3, 121)
    v = np.array(maps.variance(np.maximum(q, 1e-11), np.array(sigma_w), np.array(sigma_b)))
    slope = abs(float(np.ravel(maps.slope(one, np.array(sigma_w), np.array(sigma_b)))[0]))
    stable = None if abs(slope - 1) < 1e-9 else slope < 1
    ordered = bool(np.ravel(maps.gain(one, np.array(sigma_w), np.array(sigma_b)))[0] < 1 + 1e-9)
    given = {name: float(value) for name, value in parameters.items()}
    c = np.sin(np.linspace(-np.pi / 2, np.pi / 2, 81))
    f = theory.correlation_map.compile("numpy")
    mapped = np.asarray(f(1.0, 1.0, c, sigma_w=sigma_w, sigma_b=sigma_b, **given))
    return Portrait(
        diagram, sigma_w, sigma_b, 1.0, joint, stable,
        {"x": q, "y": v, "points": [(1.0, stable)], "starts": [] if stable is None else [0.15, 2.6]},
        {"x": c, "y": mapped, "points": [(1.0, ordered)], "starts": [-0.8]},
    )  # fmt: skip


def draw(found: Portrait) -> Figure:
    """Four panels."""
    figure = new_figure(9.2, 8.2)
    panels = figure.subplots(2, 2)
    draw_phases(panels[0, 0], found.diagram)
    draw_variance(figure, panels[0, 1], found.diagram)
    where = "on the edge of chaos" if found.edge else "at a point with $q^*$ = 1"
    at = rf"$\sigma_w$ = {found.sigma_w:.4g}, $\sigma_b$ = {found.sigma_b:.4g}"
    draw_map(panels[1, 0], found.variance, ("$q$ at one layer", "$V(q)$ at the next", f"variance map {where}"))
    draw_map(
        panels[1, 1], found.correlation, ("$c$ at one layer", "$C(1, 1, c)$ at the next", f"correlation map, {at}")
    )
    figure.suptitle(found.diagram.title, fontsize=12)
    return figure
