"""A phase diagram of a block: its grid, its edge of chaos, and the picture of both."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from derive.depth.grid import GRADIENT, PhaseGrid, phase_grid
from derive.depth.grid_maps import TemplateMaps, gap_of
from derive.records import EocError


@dataclass(frozen=True, eq=False, repr=False)
class PhaseDiagram(PhaseGrid):
    """A `PhaseGrid` with a title and the edge of chaos.

    title  the block
    edge   q, sigma_w, sigma_b of points of the edge of chaos, ascending in q (empty where there is none)
    edge_stable  whether |chi_parallel| <= 1 there: an unstable point is not where a signal settles
    note   a warning that travels with it
    """

    title: str
    edge: tuple[np.ndarray, np.ndarray, np.ndarray]
    edge_stable: np.ndarray
    note: str

    def plot(self, path: str | Path | None = None) -> Any:
        """The diagram as a matplotlib figure; written to `path` (.svg, .pdf, .png) where one is given."""
        from derive.show.phase_plots import phase_figure, save

        figure = phase_figure(self)
        if path is not None:
            save(figure, path, f"phase diagram of {self.title}")
        return figure

    @property
    def labels(self) -> np.ndarray:
        """The gradient phase at each node in words: vanishing, critical, exploding, none."""
        return np.array(GRADIENT)[self.gradient]

    def __repr__(self) -> str:
        w, b = self.sigma_w, self.sigma_b
        return f"<PhaseDiagram of {self.title}: sigma_w {w[0]:g} to {w[-1]:g}, sigma_b {b[0]:g} to {b[-1]:g}>"


def grid_maps(theory: Any, **parameters: Any) -> TemplateMaps:
    """The float maps of a theory with numbers for its parameters. Raises EocError, Unsupported."""
    values = theory._values(parameters)
    maps = theory.maps
    second, cross = maps.cycle.second1, maps.cycle.cross
    finite = theory.chi.template if not maps.jumps else theory.variance_map.template
    return TemplateMaps(theory.variance_map.template, finite, gap_of(second, cross), values, bool(maps.jumps))


def phase_diagram(
    theory: Any,
    sigma_w: Any = (0.5, 3),
    sigma_b: Any = (0, 1),
    n: int = 200,
    q0: float = 1.0,
    title: str = "",
    **parameters: Any,
) -> PhaseDiagram:
    """The phases over a rectangle of (sigma_w, sigma_b).

    sigma_w, sigma_b  a tuple (first, last), or an ascending list or array of values
    n                 points along each side given by its ends
    q0                the starting variance whose attractor is shown where there are several
    parameters        a number for each parameter of the block

    Kind: floats that agree with the certified numbers of `theory.at` to about 1e-10.
    Raises EocError for a bad rectangle, Unsupported where the block's expectations are not of one and two units.
    """
    if not isinstance(n, int) or not 2 <= n <= 4000:
        raise EocError(f"n = {n!r} points", why="the grid has n x n nodes", instead="n=200")
    if not 1e-11 < float(q0) < 1e10:
        raise EocError(f"q0 = {q0} is no starting variance", instead="q0=1")
    w, b = axis(sigma_w, n, "sigma_w", positive=True), axis(sigma_b, n, "sigma_b")
    maps = grid_maps(theory, **parameters)
    grid = phase_grid(maps, w, b, float(q0))
    edge, stable = edge_curve(theory, maps)
    given = ", ".join(f"{name} = {value}" for name, value in parameters.items())
    name = getattr(theory._first, "name", "") or repr(theory.block)
    jumping = "the activation jumps: its gradient gain is infinite and it has no edge of chaos" if maps.jumps else ""
    note = "; ".join(filter(None, [jumping, *unresolved(maps, grid)]))
    kept = {field.name: getattr(grid, field.name) for field in fields(PhaseGrid)}
    return PhaseDiagram(
        **kept, title=title or (f"{name} ({given})" if given else name), edge=edge, edge_stable=stable, note=note
    )


def unresolved(maps: TemplateMaps, grid: PhaseGrid) -> list[str]:
    """What of the diagram is open, because the activation is not resolved in floats far out."""
    q = np.geomspace(1e-11, 1e10, 211)
    known = np.isfinite(maps.variance(q, np.ones_like(q), np.zeros_like(q)))
    found = []
    if (grid.variance == 3).any() and not known.all():
        found.append(
            f"V is resolved up to q = {q[known].max(initial=0):.3g}: fixed points beyond are not counted, and nodes "
            "whose variance may go there are unsettled"
        )
    pairs = (grid.chi > 1) & np.isfinite(grid.chi) & np.isnan(grid.c) & (grid.q > 0) & np.isfinite(grid.q)
    if pairs.any():
        found.append(f"c* is open at {pairs.mean():.1%} of the nodes: pairs of such variances are not resolved")
    return found


def axis(ends: Any, n: int, name: str, positive: bool = False) -> np.ndarray:
    """The values along one side. Raises EocError."""
    try:
        values = np.asarray([float(end) for end in ends])
    except (TypeError, ValueError):
        raise EocError(f"{name} = {ends!r} is no range", instead=f"{name}=(0.5, 3)") from None
    low = values.min() if len(values) else -1.0
    if not len(values) or not np.isfinite(values).all() or (np.diff(values) <= 0).any() or low < 0:
        raise EocError(
            f"{name} = {ends!r} is no range", why="it wants ascending numbers >= 0", instead=f"{name}=(0.5, 3)"
        )
    if positive and low == 0:
        raise EocError(f"{name} begins at 0", why="without weights there is no signal", instead=f"{name}=(0.1, 3)")
    return np.linspace(values[0], values[-1], n) if isinstance(ends, tuple) and len(values) == 2 else values


def edge_curve(theory: Any, maps: TemplateMaps) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray], np.ndarray]:
    """(q, sigma_w, sigma_b) with sigma_w^2 = 1/E phi'^2 and sigma_b^2 = q - E phi^2/E phi'^2 >= 0, and stability."""
    from derive.depth.edge import homogeneous, split
    from derive.records import Unsupported

    nothing = (np.empty(0),) * 3, np.empty(0, bool)
    variance, gain = theory.variance_map.template, theory.chi.template
    if maps.jumps:
        return nothing
    try:
        split(variance, gain)
    except Unsupported:
        return nothing
    q = np.geomspace(1e-6, 1e6, 2401)
    one, zero = np.ones_like(q), np.zeros_like(q)
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = 1 / maps.gain(q, one, zero)
        bias = q - weight * maps.variance(q, one, zero)
        stable = np.abs(weight * maps.slope(q, one, zero)) < 1 + 1e-9
        bias = np.zeros_like(q) if homogeneous(variance, gain) else np.where(np.abs(bias) < 1e-13 * q, 0, bias)
        good = np.isfinite(weight) & (bias >= 0)
    broken = np.where(good, np.sqrt(np.abs(bias)), np.nan)
    if not good.any():
        return nothing
    first, last = np.flatnonzero(good)[[0, -1]]
    here = slice(first, last + 1)
    return (q[here], np.sqrt(weight[here]), broken[here]), stable[here]


__all__ = ["PhaseDiagram", "edge_curve", "grid_maps", "phase_diagram"]
