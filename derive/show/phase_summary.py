"""A phase diagram and a comparison of activations as tables: for terminals, JSON and offline pages."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from derive.depth.grid import GEOMETRY, GRADIENT, VARIANCE
from derive.records import EocError
from derive.show.document import attempt
from derive.show.phase import PhaseDiagram


def phase_document(d: PhaseDiagram, question: Mapping[str, Any], arrays: bool = False) -> dict[str, Any]:
    """Shares of phases and of numbers of fixed points, points of the edge; every node's values where asked."""
    import derive

    counts, sizes = np.unique(d.count, return_counts=True)
    document: dict[str, Any] = {
        "eoc": derive.__version__,
        "question": dict(question),
        "title": d.title,
        "kind": "floats that agree with certified numbers to about 1e-10",
        "sigma_w": [float(d.sigma_w[0]), float(d.sigma_w[-1])],
        "sigma_b": [float(d.sigma_b[0]), float(d.sigma_b[-1])],
        "n": [len(d.sigma_w), len(d.sigma_b)],
        "q0": d.q0,
        "variance": _shares(d.variance, VARIANCE),
        "gradient": _shares(d.gradient, GRADIENT),
        "geometry": _shares(d.geometry, GEOMETRY),
        "fixed_points": {str(int(k)): float(n / d.count.size) for k, n in zip(counts, sizes, strict=True)},
        "edge": edge_rows(d),
        "notes": [d.note] if d.note else [],
    }
    if arrays:
        names = ("q", "count", "separatrix", "chi", "chi_parallel", "c", "xi_q", "xi_c")
        document["arrays"] = {name: _listed(getattr(d, name)) for name in names}
        document["arrays"] |= {name: getattr(d, name).tolist() for name in ("variance", "gradient", "geometry")}
        document["axes"] = {"sigma_b": d.sigma_b.tolist(), "sigma_w": d.sigma_w.tolist()}
        document["labels"] = {"variance": VARIANCE, "gradient": GRADIENT, "geometry": GEOMETRY}
    return document


def _shares(labels: np.ndarray, names: Sequence[str]) -> dict[str, float]:
    found = {name: float((labels == i).mean()) for i, name in enumerate(names)}
    return {name: share for name, share in found.items() if share > 0}


def _listed(values: np.ndarray) -> list[Any]:
    """Nested lists with null for NaN and text for infinities: JSON has neither."""

    def one(x: float) -> Any:
        return None if np.isnan(x) else x if np.isfinite(x) else ("inf" if x > 0 else "-inf")

    return [[one(float(x)) for x in row] for row in values]


def edge_rows(d: PhaseDiagram, count: int = 6) -> list[dict[str, Any]]:
    """A few points of the edge of chaos inside the rectangle, spread along it."""
    q, w, b = d.edge
    if not len(q):
        return []
    inside = np.flatnonzero((w >= d.sigma_w[0]) & (w <= d.sigma_w[-1]) & (b >= d.sigma_b[0]) & (b <= d.sigma_b[-1]))
    if not len(inside):
        return []
    if np.ptp(w) < 1e-9:
        return [{"q": None, "sigma_w": float(w[0]), "sigma_b": 0.0, "stable": None}]
    steps = np.hypot(np.diff(w[inside]), np.diff(np.nan_to_num(b[inside])))
    along = np.concatenate([[0.0], np.cumsum(steps)])
    chosen = inside[np.unique(np.searchsorted(along, np.linspace(0, along[-1], count) * (1 - 1e-12)))]
    return [
        {"q": float(q[i]), "sigma_w": float(w[i]), "sigma_b": float(b[i]), "stable": bool(d.edge_stable[i])}
        for i in chosen
    ]


PHASE_WORDS = {
    "variance": "variance of a signal that starts at q₀",
    "gradient": "gradients at the variance that attracts it",
    "geometry": "correlation of two signals",
    "fixed_points": "number of positive fixed points of V",
}


def phase_rows(document: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """(what, label, share of the rectangle)."""
    rows = []
    for field, words in PHASE_WORDS.items():
        for i, (label, share) in enumerate(document[field].items()):
            rows.append((words if i == 0 else "", label, f"{share:.1%}"))
    return rows


COMPARED = ("activation", "rms gain", "edge: σ_w", "σ_b", "q* stable", "χ∥", "ξ_q (layers)", "class")


def comparison(theories: Sequence[tuple[str, Any]], q: Any = 1) -> list[dict[str, Any]]:
    """A row an activation: root-mean-square gain, the edge of chaos at q and its stability, depth scale, class."""
    return [_compared(name, theory, q) for name, theory in theories]


def _compared(name: str, theory: Any, q: Any) -> dict[str, Any]:
    second = attempt(lambda: float(theory.second_moment.number(q=q)))
    gain = second if isinstance(second, str) else (float(q) / second) ** 0.5 if second > 0 else "none: E φ² = 0"
    row: dict[str, Any] = {"activation": name, "rms_gain": gain, "class": _class_of(theory)}
    edge = attempt(lambda: theory.edge_of_chaos(q=q))
    point = edge.points[0] if not isinstance(edge, str) and edge.points else None
    if point is None:
        return {**row, "reason": edge if isinstance(edge, str) else edge.reason}
    parallel = float(point.chi_parallel)
    row |= {"sigma_w": float(point.sigma_w), "chi_parallel": parallel, "stable": point.stable, "valid": point.valid}
    row["sigma_b"] = None if point.sigma_b is None else float(point.sigma_b)
    size = abs(parallel)
    row["xi_q"] = float("inf") if abs(size - 1) < 1e-12 else None if size > 1 else -1 / float(np.log(max(size, 1e-300)))
    return row


def _class_of(theory: Any) -> str:
    if not hasattr(type(theory), "universality"):
        return "–"
    found = attempt(lambda: theory.universality)
    return found if isinstance(found, str) else str(found.name)


def compared_cells(row: Mapping[str, Any]) -> list[str]:
    """A row as text."""
    gain = row["rms_gain"] if isinstance(row["rms_gain"], str) else f"{row['rms_gain']:.10g}"
    if "reason" in row:
        return [row["activation"], gain, f"none: {row['reason']}", "", "", "", "", row["class"]]
    bias = "σ_b² < 0" if row["sigma_b"] is None else f"{row['sigma_b']:.10g}"
    scale = "grows" if row["xi_q"] is None else "∞" if np.isinf(row["xi_q"]) else f"{row['xi_q']:.6g}"
    stable = {True: "yes", False: "no", None: "marginal"}[row["stable"]]
    numbers = [f"{row['sigma_w']:.10g}", bias, stable, f"{row['chi_parallel']:.6g}", scale]
    return [row["activation"], gain, *numbers, row["class"]]


def page(title: str, note: str, tables: Sequence[tuple[str, Sequence[str], Sequence[Sequence[str]]]], svgs: Any) -> str:
    """A self-contained HTML page: tables (caption, head, rows) and figures as inline SVG; nothing from the network."""
    import derive

    if not tables:
        raise EocError("a page without tables")
    parts = []
    for caption, head, rows in tables:
        top = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in rows)
        parts.append(
            f"<h2>{html.escape(caption)}</h2><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
        )
    figures = "".join(f"<figure>{svg}</figure>" for svg in svgs)
    return PAGE.format(
        title=html.escape(title), note=html.escape(note), tables="".join(parts), figures=figures,
        version=html.escape(derive.__version__),
    )  # fmt: skip


PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><meta name="generator" content="eoc {version}"><style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }}
th, td {{ text-align: left; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid #ddd; }}
figure {{ margin: 1rem 0; overflow-x: auto; }} figure svg {{ max-width: 100%; height: auto; background: #fff; }}
</style></head><body><h1>{title}</h1><p>{note}</p>{figures}{tables}<p><small>eoc {version}</small></p></body></html>
"""
