"""The picture of a phase diagram: regions, depth scales, edge of chaos, separatrix."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from derive.records import EocError
from derive.show.plots import BLUE, GREY, ORANGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from derive.show.phase import PhaseDiagram

SIGMA_W = r"$\sigma_w$ (weights have variance $\sigma_w^2$/fan-in)"
SIGMA_B = r"$\sigma_b$ (standard deviation of biases)"
ORDERED, CHAOTIC, GROWS, DIES = "#cfe3f1", "#fbdcc0", "#d9d9d9", "#f4f4f4"
LEVELS = (3, 10, 30)
LABEL = 0.12
"""Room that a label takes, in parts of a side."""
CROWDED = 0.03
"""Of the side of a panel: a line with less room than that has no label."""
FORMATS = {".svg": "svg", ".pdf": "pdf", ".png": "png"}


def save(figure: Figure, path: str | Path, question: str, dpi: int = 150) -> Path:
    """Write a figure as SVG, PDF or PNG by its suffix, with the version and the question in its metadata."""
    import io

    import matplotlib

    import derive
    from derive.show.files import write_bytes

    path = Path(path)
    kind = FORMATS.get(path.suffix.lower())
    if kind is None:
        raise EocError(f"{path.name} has no suffix of a picture", instead=f"{path.stem or 'picture'}.svg, .pdf or .png")
    maker = f"eoc {derive.__version__}"
    metadata = {
        "svg": {"Date": None, "Creator": maker, "Title": question},
        "pdf": {"CreationDate": None, "Creator": maker, "Title": question},
        "png": {"Software": maker, "Title": question},
    }[kind]
    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "eoc", "svg.fonttype": "path", "pdf.fonttype": 42}):
        figure.savefig(buffer, format=kind, dpi=dpi, metadata=metadata)
    return write_bytes(path, buffer.getvalue())


def new_figure(width: float, height: float) -> Figure:
    """A figure without pyplot's registry."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def phase_figure(diagram: PhaseDiagram) -> Figure:
    """Two panels: phases with the edge of chaos and depth scales; the fixed point's variance with the separatrix."""
    figure = new_figure(9.2, 4.4)
    left, right = figure.subplots(1, 2)
    draw_phases(left, diagram)
    draw_variance(figure, right, diagram)
    figure.suptitle(
        f"{diagram.title}: what becomes of signals that start at variance $q_0$ = {diagram.q0:g}", fontsize=10
    )
    return figure


def draw_phases(axes: Axes, d: PhaseDiagram) -> None:
    """Regions by the gradient gain at the attractor, contours of xi_c, and the edge of chaos."""
    from matplotlib.colors import ListedColormap
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    region = np.select([d.variance == 2, d.variance == 3, d.gradient == 0, d.gradient == 2], [2, 3, 0, 1], 0)
    colors = (ORDERED, CHAOTIC, GROWS, DIES)
    cells: dict[str, Any] = {"vmin": -0.5, "vmax": 3.5, "shading": "nearest", "rasterized": True}
    axes.pcolormesh(d.sigma_w, d.sigma_b, region, cmap=ListedColormap(colors), **cells)
    with np.errstate(invalid="ignore", divide="ignore"):
        depth = np.where(np.isfinite(d.xi_c) & (d.variance == 1), d.xi_c, np.nan)
    shown = [level for level in LEVELS if np.nanmin(depth, initial=np.inf) < level < np.nanmax(depth, initial=0)]
    if shown:
        lines = axes.contour(d.sigma_w, d.sigma_b, depth, levels=shown, colors=GREY, linewidths=0.8)
        label_lines(axes, lines, d, d.edge[1:])
    handles: list[Any] = []
    names = (r"$\chi < 1$: gradients vanish", r"$\chi > 1$: gradients explode", "variance unbounded", "does not settle")
    handles += [Patch(color=colors[i], label=name) for i, name in enumerate(names) if (region == i).any()]
    handles += draw_edge(axes, d)
    if shown:
        handles.append(Line2D([], [], color=GREY, linewidth=0.8, label=r"$\xi_c$, depth scale of $c$ in layers"))
    _frame(axes, d)
    axes.set_title("gradients and correlations", fontsize=10)
    below(axes, handles)


def label_lines(axes: Axes, lines: Any, d: PhaseDiagram, other: Any = ()) -> None:
    """A label on each line where it is farthest from other lines, the curve `other` and the frame; none in a crowd."""
    start = np.array([d.sigma_w[0], d.sigma_b[0]])
    size = np.array([np.ptp(d.sigma_w), np.ptp(d.sigma_b)])
    pieces = (np.split(p.vertices, np.flatnonzero(p.codes == 1)[1:]) for p in lines.get_paths() if len(p.vertices))
    parts = [(part - start) / size for path in pieces for part in path]
    curve = [(np.stack(other, 1) - start) / size] if len(other) and len(other[0]) else []
    places: list[tuple[float, ...]] = []
    taken: list[np.ndarray] = []
    for i, part in enumerate(parts):
        rest = np.concatenate([*parts[:i], *parts[i + 1 :], *curve, np.empty((0, 2))])
        rest = rest[np.isfinite(rest).all(1)]
        room = np.minimum(part, 1 - part).min(1)
        if len(rest):
            apart = np.hypot(*(part[:, None] - rest[None]).transpose(2, 0, 1)).min(1)
            room = np.minimum(room, 2 * apart)
        for other in taken:  # labels of close contours stand above one another
            room = np.where(np.hypot(*(part - other).T) < LABEL, 0, room)
        best = int(np.argmax(room))
        if room[best] > CROWDED:
            taken.append(part[best])
            places.append(tuple(part[best] * size + start))
    if places:
        axes.clabel(lines, fontsize=7, fmt="%g", inline_spacing=2, manual=places)


def draw_edge(axes: Axes, d: PhaseDiagram) -> list[Any]:
    """The edge of chaos, solid where q* attracts and dotted where it repels; the handles of its legend."""
    from matplotlib.lines import Line2D

    _, w, b = d.edge
    if not len(w):
        return []
    if np.ptp(w) < 1e-9:
        axes.plot(w[:1], b[:1], "o", color=BLUE, markersize=7, clip_on=False, zorder=5)
        return [Line2D([], [], color=BLUE, marker="o", linestyle="", label="edge of chaos (one point)")]
    handles = []
    inside = (w >= d.sigma_w[0]) & (w <= d.sigma_w[-1]) & (b >= d.sigma_b[0]) & (b <= d.sigma_b[-1])
    styles: tuple[tuple[bool, Any, str], ...] = ((True, "-", "edge of chaos"), (False, ":", "edge, $q^*$ unstable"))
    for stable, dashes, text in styles:
        here = d.edge_stable == stable
        near = here | np.roll(here, 1) | np.roll(here, -1) if stable else here
        axes.plot(np.where(near, w, np.nan), np.where(near, b, np.nan), color=BLUE, linestyle=dashes, linewidth=2)
        if (here & inside).any():
            handles.append(Line2D([], [], color=BLUE, linestyle=dashes, linewidth=2, label=text))
    return handles


def draw_variance(figure: Figure, axes: Axes, d: PhaseDiagram) -> None:
    """log10 q* in colour; the separatrix in contours where variances above it leave the basin."""
    from matplotlib.colors import LogNorm
    from matplotlib.lines import Line2D

    q = np.where((d.variance == 1) & (d.q > 0), d.q, np.nan)
    axes.set_facecolor(GROWS)
    if np.isfinite(q).any():
        low, high = max(np.nanmin(q), 1e-3), max(min(np.nanmax(q), 1e3), 2e-3)
        norm = LogNorm(vmin=low, vmax=high)
        image = axes.pcolormesh(
            d.sigma_w, d.sigma_b, q, norm=norm, cmap="cividis", shading="nearest", rasterized=True
        )  # fmt: skip
        figure.colorbar(image, ax=axes, label=r"$q^*$, variance of pre-activations", extend="both")
    handles: list[Any] = []
    edge = np.where(np.isfinite(d.separatrix), d.separatrix, np.nan)
    several = np.isfinite(edge).any()
    if several:
        levels = [v for v in (0.3, 1, 3, 10, 30, 100) if np.nanmin(edge) < v < np.nanmax(edge)]
        if levels:
            lines = axes.contour(d.sigma_w, d.sigma_b, edge, levels=levels, colors=ORANGE, linewidths=1.1)
            label_lines(axes, lines, d)
        label = "separatrix: from a variance above, it explodes"
        handles.append(Line2D([], [], color=ORANGE, linewidth=1.1, label=label))
    if (d.variance == 2).any():
        from matplotlib.patches import Patch

        handles.append(Patch(color=GROWS, label="variance unbounded"))
    _frame(axes, d)
    axes.set_title("the variance that attracts $q_0$", fontsize=10)
    below(axes, handles)


def below(axes: Axes, handles: list[Any]) -> None:
    """A legend under the axes, where it hides nothing."""
    if handles:
        axes.legend(
            handles=handles, fontsize=7.5, loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2, frameon=False
        )


def _frame(axes: Axes, d: PhaseDiagram) -> None:
    axes.set_xlim(d.sigma_w[0], d.sigma_w[-1])
    axes.set_ylim(d.sigma_b[0], d.sigma_b[-1])
    axes.set_xlabel(SIGMA_W, fontsize=9)
    axes.set_ylabel(SIGMA_B, fontsize=9)
    axes.tick_params(labelsize=8)
