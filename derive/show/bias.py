"""The picture of the phases of guessing bias."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from derive.depth.bias.phases import BiasGrid

LEVELS = (0.25, 0.5, 0.75, 0.9)
"""Correlations whose contours are drawn: gamma = 1/3, 1, 3, 9."""
DEEPER = (*LEVELS, 30 / 31, 100 / 101, 1000 / 1001, 1e4 / 10001)
"""The same at a finite depth: gamma = 30, 100, 1000 and 10 000 too."""
COLOURS = ("#cfe3f1", "#e8e4f0", "#e3d0ea", "#d9f0d3", "#fbdcc0", "#ffffff", "#d9d9d9")
NAMES = {0: "ordered-deep prejudice", 2: "chaotic-deep prejudice", 3: "neutrality", 4: "prejudice"}


@dataclass(frozen=True, eq=False, repr=False)
class BiasDiagram:
    """Phases of guessing bias over a rectangle: `grid` holds the arrays, `plot` draws them.

    layers, c  a depth, and the correlations gamma/(1 + gamma) there, whose contours are drawn instead of the limit's
    """

    grid: BiasGrid
    title: str
    layers: int | None = None
    c: Any = None

    def plot(self, path: str | Path | None = None) -> Any:
        """Regions of the limit of depth, the lines chi = 1 (black), dV/dq = 1 where it is another (grey, dashed) and
        gamma = 1 (thick), and contours of gamma; written to `path` where one is given."""
        from derive.show.phase_plots import new_figure, save

        figure = new_figure(5.4, 4.2)
        self.draw(figure.add_subplot())
        if path is not None:
            save(figure, path, f"phases of guessing bias of {self.title}")
        return figure

    def draw(self, axes: Any) -> None:
        """The same on axes of the caller's."""
        from matplotlib.colors import BoundaryNorm, ListedColormap
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        from derive.show.phase_plots import SIGMA_B, SIGMA_W

        grid = self.grid
        region = np.where(grid.bias == 2, grid.gradient, 3 + grid.bias)
        axes.pcolormesh(
            grid.sigma_w,
            grid.sigma_b,
            region,
            cmap=ListedColormap(COLOURS),
            norm=BoundaryNorm(np.arange(-0.5, 7), 7),
            shading="nearest",
            rasterized=True,
        )
        shown: list[Any] = [Patch(color=COLOURS[i], label=name) for i, name in NAMES.items() if (region == i).any()]
        chi = np.where(np.isfinite(grid.chi), grid.chi, np.nan)
        if np.nanmin(chi) < 1 < np.nanmax(chi):
            axes.contour(grid.sigma_w, grid.sigma_b, chi, [1.0], colors="black")
            shown.append(Line2D([], [], color="black", label="χ = 1 (edge of chaos)"))
        if np.nanmin(grid.slope) < 1 < np.nanmax(grid.slope) and not np.allclose(chi, grid.slope, equal_nan=True):
            axes.contour(grid.sigma_w, grid.sigma_b, grid.slope, [1.0], colors="grey", linestyles="dashed")
            shown.append(Line2D([], [], color="grey", linestyle="dashed", label="dV/dq = 1"))
        shown += self._levels(axes)
        axes.legend(handles=shown, fontsize=7, loc="best")
        where = "in the limit of depth" if self.layers is None else f"regions in the limit, γ at layer {self.layers}"
        axes.set(xlabel=SIGMA_W, ylabel=SIGMA_B, title=f"{self.title}:\nguessing bias, {where}")

    def _levels(self, axes: Any) -> list[Any]:
        """Contours of gamma, that of 1 thick; what the legend says of it."""
        from matplotlib.lines import Line2D

        c = self.grid.c if self.c is None else self.c
        inner = np.where(c < 1, c, np.nan)
        levels = [v for v in (LEVELS if self.c is None else DEEPER) if (inner > v).any() and (inner < v).any()]
        if not levels:
            return []
        wide = [1.8 if v == 0.5 else 0.8 for v in levels]
        lines = axes.contour(self.grid.sigma_w, self.grid.sigma_b, inner, levels, colors="#7a5230", linewidths=wide)
        axes.clabel(lines, fmt=_label, fontsize=7)
        return [Line2D([], [], color="#7a5230", linewidth=1.8, label="γ = 1 (neutrality)")] if 0.5 in levels else []

    def __repr__(self) -> str:
        w, b = self.grid.sigma_w, self.grid.sigma_b
        return f"<BiasDiagram of {self.title}: sigma_w {w[0]:g} to {w[-1]:g}, sigma_b {b[0]:g} to {b[-1]:g}>"


def _label(c: float) -> str:
    gamma = f"γ = {float(f'{c / (1 - c):.3g}'):g}"
    return f"{gamma}, c = {c:.3g}" if c < 0.95 else gamma


__all__ = ["BiasDiagram"]
