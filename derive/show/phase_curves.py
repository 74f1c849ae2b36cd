"""Pictures of what depth does: maps with cobwebs, depth scales, variances and correlations against the layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from derive.show.phase_plots import new_figure
from derive.show.plots import BLUE, GREEN, GREY, ORANGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CYCLE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f")
"""Colours of Okabe and Ito: told apart with every kind of colour vision."""
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (7, 2)), (0, (3, 2)))


def dress(axes: Axes, x: str, y: str, title: str = "") -> None:
    """Labels and a quiet frame."""
    axes.set_xlabel(x, fontsize=9)
    axes.set_ylabel(y, fontsize=9)
    axes.set_title(title, fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)
    axes.grid(True, linewidth=0.4, alpha=0.35)


def cobweb(axes: Axes, x: Sequence[float], y: Sequence[float], start: float, steps: int = 30) -> None:
    """Iterates of a map given by points, as a staircase between it and the diagonal."""
    xs, ys, here = [start], [start], start
    for _ in range(steps):
        after = float(np.interp(here, x, y))
        xs += [here, after]
        ys += [after, after]
        if not x[0] <= after <= x[-1] or abs(after - here) < 1e-4 * abs(x[-1] - x[0]):
            break
        here = after
    axes.plot(xs, ys, color=GREEN, linewidth=0.9, alpha=0.9, label="layer after layer")


def draw_map(axes: Axes, data: Mapping[str, Any], labels: tuple[str, str, str]) -> None:
    """A map of one variable with the identity, its fixed points (filled: stable) and cobwebs.

    data    x, y; points (value, stable); starts of cobwebs
    labels  of the axes, and the title
    """
    axes.plot(data["x"], data["y"], color=BLUE, linewidth=1.8, label="map")
    ends = [data["x"][0], data["x"][-1]]
    axes.plot(ends, ends, color=GREY, linestyle=":", linewidth=1, label="identity")
    for start in data["starts"]:
        cobweb(axes, data["x"], data["y"], start)
    for point, stable in data["points"]:
        face, name = {
            True: (ORANGE, "fixed point"), False: ("white", "fixed point, unstable"),
            None: (GREY, "every point is fixed"),
        }[stable]  # fmt: skip
        axes.plot(
            [point], [point], "o", color=ORANGE, markerfacecolor=face, markersize=6, label=name, zorder=5, clip_on=False
        )
    dress(axes, *labels)
    axes.set_xlim(*ends)
    axes.locator_params(axis="x", nbins=5)
    handles, names = axes.get_legend_handles_labels()
    once = dict(zip(names, handles, strict=True))
    axes.legend(once.values(), once.keys(), fontsize=7.5, frameon=False)


def maps_figure(title: str, variance: Mapping[str, Any], correlation: Mapping[str, Any] | None) -> Figure:
    """V and C with fixed points and cobwebs, from lists of numbers."""
    texts = (
        ("$q$ at one layer", "$V(q)$ at the next", "variance map"),
        ("$c$ at one layer", "$C(q^*, q^*, c)$ at the next", "correlation map"),
    )
    drawn = [data for data in (variance, correlation) if data is not None]
    figure = new_figure(4.4 * len(drawn), 3.7)
    for axes, data, labels in zip(figure.subplots(1, len(drawn), squeeze=False)[0], drawn, texts, strict=False):
        draw_map(axes, data, labels)
    figure.suptitle(title, fontsize=10)
    return figure


def lines_figure(
    title: str, x: str, y: str, data: Sequence[tuple[str, Any, Any]], *, log: bool = False, marks: Sequence[float] = ()
) -> Figure:
    """A few labelled curves, logarithmic in y where asked, with vertical marks."""
    figure = new_figure(4.8, 3.5)
    axes = figure.subplots()
    for i, (label, xs, ys) in enumerate(data):
        axes.plot(xs, ys, color=CYCLE[i % 8], linestyle=DASHES[i % 8], linewidth=1.6, label=label)
    for mark in marks:
        axes.axvline(mark, color=GREY, linewidth=0.8, linestyle=":")
    if log:
        axes.set_yscale("log")
    dress(axes, x, y, title)
    axes.legend(fontsize=7, frameon=False)
    return figure


def depth_figure(title: str, panels: Sequence[Mapping[str, Any]]) -> Figure:
    """Quantities against depth: theory as lines, measured means as points with bands of two standard errors.

    Each panel: label; curves (name, layers, values); bands (layers, means, errors) or nothing, in the same order.
    """
    figure = new_figure(4.4 * len(panels), 3.4)
    for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        for i, (name, xs, ys) in enumerate(panel["curves"]):
            axes.plot(xs, ys, color=CYCLE[i % 8], linestyle=DASHES[i % 8], linewidth=1.5, label=name)
        for i, (xs, mean, error) in enumerate(panel.get("bands", ())):
            xs, mean, error = (np.asarray(a, float) for a in (xs, mean, error))
            axes.fill_between(xs, mean - 2 * error, mean + 2 * error, color=CYCLE[i % 8], alpha=0.25, linewidth=0)
            axes.plot(xs, mean, "o", color=CYCLE[i % 8], markersize=3, markerfacecolor="white", markeredgewidth=0.8)
        dress(axes, "layer", panel["label"], panel.get("title", ""))
        axes.legend(fontsize=7, frameon=False)
    figure.suptitle(title, fontsize=10)
    return figure
