"""A sheet that compares activations: the functions, their edges of chaos, their correlation maps on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from derive.show.curves import _activation
from derive.show.document import attempt
from derive.show.phase import edge_curve, grid_maps
from derive.show.phase_curves import CYCLE, DASHES, dress
from derive.show.phase_plots import SIGMA_B, SIGMA_W, new_figure
from derive.show.plots import GREY

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def sheet_data(theories: Sequence[tuple[str, Any]]) -> list[dict[str, Any]]:
    """For each activation what the sheet draws; what does not exist is left out."""
    return [_drawn(name, theory) for name, theory in theories]


def _drawn(name: str, theory: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"name": name, "function": _activation(theory)}
    maps = attempt(lambda: grid_maps(theory))
    if isinstance(maps, str):
        return found
    found["edge"], found["stable"] = edge_curve(theory, maps)
    edge = attempt(lambda: theory.edge_of_chaos(q=1))
    point = None if isinstance(edge, str) or not edge.points or not edge.points[0].valid else edge.points[0]
    if point is not None:
        c = np.sin(np.linspace(-np.pi / 2, np.pi / 2, 61))
        f = theory.correlation_map.compile("numpy")
        w, b = float(point.sigma_w), float(point.sigma_b)
        found["correlation"] = (c, np.asarray(f(1.0, 1.0, c, sigma_w=w, sigma_b=b)))
    return found


def sheet(data: Sequence[dict[str, Any]]) -> Figure:
    """Three panels; a colour and a dash pattern an activation (at most 8 told apart)."""
    figure = new_figure(12.4, 4.3)
    functions, edges, maps = figure.subplots(1, 3)
    for i, item in enumerate(data):
        style: dict[str, Any] = {"color": CYCLE[i % 8], "linestyle": DASHES[i % 8], "linewidth": 1.7}
        functions.plot(item["function"]["x"], item["function"]["phi"], label=item["name"], **style)
        _edge(edges, item, style)
        if "correlation" in item:
            maps.plot(*item["correlation"], **style)
    maps.plot([-1, 1], [-1, 1], color=GREY, linewidth=0.9, linestyle=":")
    dress(functions, "$x$", r"$\varphi(x)$", "activations")
    functions.set_xlim(-4, 4)
    functions.set_ylim(-2.2, 4)
    dress(edges, SIGMA_W, SIGMA_B, r"edge of chaos: $V(q) = q$, $\chi(q) = 1$")
    edges.set_xlim(*_range(data))
    edges.set_ylim(-0.02, 1)
    if any("stable" in item and not item["stable"].all() for item in data):
        edges.plot([], [], color=GREY, linewidth=1.0, label="thin: $q^*$ unstable")
    dress(maps, "$c$ at one layer", "$C(1, 1, c)$ at the next", "correlation map on the edge, $q^*$ = 1")
    figure.legend(loc="outside lower center", ncols=min(len(data) + 1, 8), fontsize=8.5, frameon=False)
    return figure


def _range(data: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """The sigma_w of the curves where sigma_b <= 1, with a margin; not beyond 3."""
    seen = [w[b <= 1] for _, w, b in (item["edge"] for item in data if "edge" in item and len(item["edge"][0]))]
    shown = np.concatenate([*seen, np.empty(0)])
    if not len(shown):
        return 0.4, 3.0
    low, high = float(shown.min()), min(float(shown.max()), 3.0)
    margin = max(0.1, (high - low) / 8)
    return max(0.0, low - margin), high + margin


def _edge(axes: Any, item: dict[str, Any], style: dict[str, Any]) -> None:
    """The curve, faint where its fixed point is unstable; a marker where it is one point."""
    if "edge" not in item or not len(item["edge"][0]):
        return
    _, w, b = item["edge"]
    if np.ptp(w) < 1e-9:
        axes.plot(w[:1], b[:1], "o", color=style["color"], markersize=6, clip_on=False)
        return
    axes.plot(w, np.where(item["stable"], b, np.nan), **style)
    axes.plot(w, np.where(item["stable"], np.nan, b), **{**style, "linewidth": 1.0, "alpha": 0.55})
