"""A diagnosis as a table and as a plot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verify.diagnosis import Diagnosis

CURVES = (("moment", "second moment"), ("correlation", "correlation"), ("gradient", "squared gradient"))


TITLES = ("step", "layer", "sigma_w", "sigma_b", "E x²", "correlation", "gradient²", "advice")


def number(value: float | None) -> str:
    """Four digits, a dash for what is not known."""
    return "–" if value is None or value != value else f"{value:.4g}"


def table(diagnosis: Diagnosis) -> Any:
    """A rich table: predicted and measured side by side, and the advice for every layer."""
    from rich.table import Table

    networks = f"{diagnosis.networks} network{'s' if diagnosis.networks > 1 else ''}"
    made = Table(title=f"predicted | measured on {networks}; advice: sigma_w, sigma_b")
    for title in TITLES:
        made.add_column(title, overflow="fold")
    for cells in _cells(diagnosis):
        made.add_row(*cells)
    return made


def _cells(diagnosis: Diagnosis) -> list[list[str]]:
    advice = {a.layer: a for a in diagnosis.plan.advice}
    rows = []
    for row in diagnosis.rows:
        told = advice.get(row.name)
        pairs = [
            f"{number(getattr(row.predicted, what))} | {number(getattr(row.measured, what))}" for what, _ in CURVES
        ]
        mark = {"theory": "", "sampled": " ~", "measured": " (measured)"}[row.predicted.how]
        sigmas = [number(value) if value is not None else "" for value in (row.sigma_w, row.sigma_b)]
        told_text = f"{number(told.sigma_w)}, {number(told.sigma_b)}" if told else ""
        rows.append([row.module or row.name, row.label + mark, *sigmas, *pairs, told_text])
    return rows


def remarks(diagnosis: Diagnosis) -> list[str]:
    """What goes with the table: reasons, what is not read, what was assumed."""
    lines = [f"{p.formula}: q = {p.q:.4g}, sigma_w = {p.sigma_w:.4g}, sigma_b = {p.sigma_b:.4g}, chi = {p.chi:.4g}, "
             f"chi_parallel = {p.chi_parallel:.4g}: {p.reason}" for p in diagnosis.plan.points]  # fmt: skip
    lines += [f"not read: {unread}" for unread in diagnosis.network.unread]
    lines += [f"{name}: {why}; its prediction starts again from what is measured" for name, why in diagnosis.lost]
    if any(row.predicted.how == "sampled" for row in diagnosis.rows):
        lines.append("~ moments of drawn features: the law there is not Gaussian (relative error about 2 %)")
    return [*lines, *diagnosis.network.notes, *diagnosis.plan.notes]


def figure_of(diagnosis: Diagnosis) -> Any:
    """Three panels against the step; the band holds 95 % of such measurements where the spread is known."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 8), layout="constrained")
    axes = figure.subplots(3, 1, sharex=True)
    steps = range(len(diagnosis.rows))
    for axis, (what, title) in zip(axes, CURVES, strict=True):
        predicted = [getattr(row.predicted, what) for row in diagnosis.rows]
        measured = [getattr(row.measured, what) for row in diagnosis.rows]
        axis.plot(steps, predicted, color="black", label="predicted")
        axis.plot(steps, measured, ".", color="tab:red", label="measured")
        if what != "correlation":
            axis.set_yscale("log")
            low, high = zip(*(row.predicted.band(what, diagnosis.networks) for row in diagnosis.rows), strict=True)
            axis.fill_between(steps, low, high, color="black", alpha=0.15, linewidth=0)
        axis.set_ylabel(title)
    axes[0].legend()
    axes[-1].set_xlabel("step")
    return figure


def plot(diagnosis: Diagnosis, path: str) -> None:
    """Write the figure to a file, whose ending says in what format."""
    figure_of(diagnosis).savefig(path)


def page(diagnosis: Diagnosis, title: str) -> str:
    """A self-contained HTML page: the curves, the table and the remarks."""
    import io
    from html import escape

    from derive import __version__

    buffer = io.StringIO()
    figure_of(diagnosis).savefig(buffer, format="svg", metadata={"Date": None})
    svg = buffer.getvalue()
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>" for cells in _cells(diagnosis)
    )
    head = "".join(f"<th>{escape(name)}</th>" for name in TITLES)
    notes = "".join(f"<li>{escape(line)}</li>" for line in remarks(diagnosis))
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        "<style>body{font:15px sans-serif;margin:2em auto;max-width:70em}td,th{padding:.2em .6em;text-align:left;"
        "border-bottom:1px solid #ccc}table{border-collapse:collapse}svg{max-width:100%;height:auto}</style>"
        f"<h1>{escape(title)}</h1><p>eoc {__version__}, measured on {diagnosis.networks} network(s), traced by "
        f"{escape(diagnosis.network.how)}. Each cell: predicted | measured.</p>"
        f"{svg[svg.index('<svg') :]}<table><tr>{head}</tr>{rows}</table><ul>{notes}</ul></html>\n"
    )
