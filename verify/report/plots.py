"""Plots of claims against evidence: the predicted curve, and measured points with error bars."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle

from derive.show.plots import BLUE, GREY, ORANGE, svg
from verify.report.record import Report, TestedClaim

LABELS = {"q": "$q$", "c": "$c$", "layer": "layer"}
ORDINATES = {
    "variance map along q": "$V(q)$",
    "correlation map along c": "$C(q, q, c)$",
    "variance along depth": "$q^l$",
    "correlation along depth": "$c^l$",
    "gradient growth along depth": r"$|J^l v|^2 / |v|^2$",
}
NAMES = {"sigma_w": "σ_w", "sigma_b": "σ_b", "q1": "q₁", "q2": "q₂"}
BAR = 5
"""Standard errors shown by a bar."""


def figures(report: Report) -> Iterator[tuple[str, str]]:
    """(caption, inline SVG) for every claim whose points form a curve and were sampled."""
    for claim in report.claims:
        if claim.abscissa and claim.title in ORDINATES and any(item.batches for item in claim.evidence):
            yield _caption(claim), _figure(claim)


def _caption(claim: TestedClaim) -> str:
    constant = [(n, v) for n, v in claim.points[0].values if n != claim.abscissa and _constant(claim, n)]
    fixed = [f"{NAMES.get(n, n)} = {v:g}" for n, v in constant]
    return f"{claim.title[0].upper()}{claim.title[1:]}: {', '.join(fixed)}. Bars are {BAR} standard errors."


def _constant(claim: TestedClaim, name: str) -> bool:
    return len({dict(point.values)[name] for point in claim.points}) == 1


def _limits(curve: list[float], spans: list[tuple[float, float]]) -> tuple[float, float]:
    """Ends of the ordinate: the curve and every bar, but no farther from the curve than 1.5 times its own height or
    the median bar's reach, whichever is more: one noisy layer does not flatten the others."""
    bottom, top = min(curve), max(curve)
    distances = sorted(
        max(abs(low - v), abs(high - v)) for (low, high), v in zip(spans, cycle(curve), strict=False) if high - low >= 0
    )
    room = 1.5 * max(top - bottom, distances[len(distances) // 2] if distances else 0.0)
    room = room or 0.05 * max(abs(top), 1e-12)
    least = min([bottom, *(low for low, _ in spans if low == low)])
    most = max([top, *(high for _, high in spans if high == high)])
    low, high = max(least, bottom - room), min(most, top + room)
    edge = 0.04 * (high - low) or room
    return low - edge, high + edge


def _figure(claim: TestedClaim) -> str:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.6, 3.3), layout="constrained")
    axes = figure.subplots()
    x = [dict(point.values)[claim.abscissa] for point in claim.points]
    order = sorted(range(len(x)), key=x.__getitem__)
    xs = [x[i] for i in order]
    curve = [claim.points[i].predicted for i in order]
    axes.plot(xs, curve, color=BLUE, linewidth=1.6, label="theory")
    spans: list[tuple[float, float]] = []
    for item, color, mark in zip((e for e in claim.evidence if e.batches), (ORANGE, GREY), "os", strict=False):
        y = [item.judgements[i].estimate for i in order]
        bars = [BAR * item.judgements[i].standard_error for i in order]
        spans += [(v - b, v + b) for v, b in zip(y, bars, strict=True)]
        axes.errorbar(
            xs, y, yerr=bars, fmt=mark, color=color, markersize=4, capsize=2.5, linewidth=1, label=item.witness
        )
        if claim.abscissa == "layer":
            low, high = ([v + s * b for v, b in zip(y, bars, strict=True)] for s in (-1, 1))
            axes.fill_between(xs, low, high, color=color, alpha=0.15, linewidth=0)
    if claim.abscissa == "layer":
        axes.set_xticks(xs)
    axes.set_ylim(*_limits([float(v) for v in curve], spans))
    axes.set_xlabel(LABELS[claim.abscissa])
    axes.set_ylabel(ORDINATES[claim.title])
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)
    axes.grid(True, linewidth=0.4, alpha=0.35)
    axes.legend(fontsize=8, frameon=False)
    return svg(figure)
