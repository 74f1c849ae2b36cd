"""The picture of the phases of guessing bias."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from derive.depth.bias.phases import BiasGrid

LEVELS = (0.25, 0.5, 0.75, 0.9)
"""Correlations whose contours are drawn: gamma = 1/3, 1, 3, 9."""


@dataclass(frozen=True, eq=False, repr=False)
class BiasDiagram:
    """Phases of guessing bias over a rectangle: `grid` holds the arrays, `plot` draws them."""

    grid: BiasGrid
    title: str

    def plot(self, path: str | Path | None = None) -> Any:
        """Regions, the lines chi = 1 (black), dV/dq = 1 where it is another (grey, dashed) and gamma = 1 (thick), and
        contours of gamma; written to `path` where one is given."""
        from derive.show.phase_plots import SIGMA_B, SIGMA_W, new_figure, save

        grid = self.grid
        figure = new_figure(5.4, 4.2)
        axes = figure.add_subplot()
        region = np.where(grid.bias == 2, grid.gradient, 3 + grid.bias)
        colours = {0: "#cfe3f1", 1: "#e8e4f0", 2: "#e3d0ea", 3: "#d9f0d3", 4: "#fbdcc0", 6: "#d9d9d9"}
        names = {0: "ordered-deep prejudice", 2: "chaotic-deep prejudice", 3: "neutrality", 4: "prejudice"}
        from matplotlib.colors import BoundaryNorm, ListedColormap
        from matplotlib.patches import Patch

        palette = ListedColormap([colours.get(i, "#ffffff") for i in range(7)])
        axes.pcolormesh(
            grid.sigma_w,
            grid.sigma_b,
            region,
            cmap=palette,
            norm=BoundaryNorm(np.arange(-0.5, 7), 7),
            shading="nearest",
            rasterized=True,
        )
        chi = np.where(np.isfinite(grid.chi), grid.chi, np.nan)
        if np.nanmin(chi) < 1 < np.nanmax(chi):
            axes.contour(grid.sigma_w, grid.sigma_b, chi, [1.0], colors="black")
        if np.nanmin(grid.slope) < 1 < np.nanmax(grid.slope) and not np.allclose(chi, grid.slope, equal_nan=True):
            axes.contour(grid.sigma_w, grid.sigma_b, grid.slope, [1.0], colors="grey", linestyles="dashed")
        inner = np.where(grid.c < 1, grid.c, np.nan)
        if np.isfinite(inner).any() and np.nanmin(inner) < np.nanmax(inner):
            lines = axes.contour(
                grid.sigma_w, grid.sigma_b, inner, LEVELS, colors="#7a5230", linewidths=(0.8, 1.8, 0.8, 0.8)
            )
            axes.clabel(lines, fmt=lambda c: f"γ = {c / (1 - c):.3g}, c = {c:g}", fontsize=7)
        shown = [Patch(color=colours[i], label=name) for i, name in names.items() if (region == i).any()]
        axes.legend(handles=shown, fontsize=7, loc="best")
        axes.set(xlabel=SIGMA_W, ylabel=SIGMA_B, title=f"{self.title}:\nguessing bias in the limit of depth")
        if path is not None:
            save(figure, path, f"phases of guessing bias of {self.title}")
        return figure

    def __repr__(self) -> str:
        w, b = self.grid.sigma_w, self.grid.sigma_b
        return f"<BiasDiagram of {self.title}: sigma_w {w[0]:g} to {w[-1]:g}, sigma_b {b[0]:g} to {b[-1]:g}>"


__all__ = ["BiasDiagram"]
