"""Plots of theory alone, drawn from lists of numbers; matplotlib's Agg and SVG, no pyplot."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#7f7f7f"
"""Colours of Okabe and Ito, told apart with every kind of colour vision; lines differ in dashes as well."""

Curve = tuple[str, Sequence[float], Sequence[float]]
"""A legend, the abscissas, the ordinates (NaN where there is nothing to draw)."""


def curves(
    title: str,
    x_label: str,
    y_label: str,
    data: Sequence[Curve],
    *,
    diagonal: bool = False,
    marks: Sequence[tuple[str, float, float]] = (),
) -> Figure:
    """A figure of a few curves, with the diagonal y = x and marked points where asked."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.6, 3.3), layout="constrained")
    axes = figure.subplots()
    styles = ((BLUE, "-"), (ORANGE, "--"), (GREEN, "-."), (GREY, ":"))
    for (label, xs, ys), (color, dashes) in zip(data, styles, strict=False):
        axes.plot(xs, ys, color=color, linestyle=dashes, linewidth=1.6, label=label)
    if diagonal:
        low, high = axes.get_xlim()
        axes.plot([low, high], [low, high], color=GREY, linestyle=":", linewidth=1.0, label="identity")
        axes.set_xlim(low, high)
    for label, x, y in marks:
        axes.plot([x], [y], "o", color=ORANGE, markersize=5, label=label)
    _dress(axes, title, x_label, y_label, legend=any(label for label, _, _ in data))
    return figure


def _dress(axes: Axes, title: str, x_label: str, y_label: str, legend: bool) -> None:
    axes.set_title(title, fontsize=10)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)
    axes.grid(True, linewidth=0.4, alpha=0.35)
    if legend:
        axes.legend(fontsize=8, frameon=False)


LABELS = {
    "q": "$q$, variance of the pre-activation",
    "q1": "$q_1$, variance of the first pre-activation",
    "q2": "$q_2$, variance of the second pre-activation",
    "c": "$c$, correlation of the pre-activations",
    "sigma_w": r"$\sigma_w$, weight standard deviation times $\sqrt{\mathrm{fan\_in}}$",
    "sigma_b": r"$\sigma_b$, bias standard deviation",
}


def plot_result(result: Any, over: str = "", points: int = 41, **values: Any) -> Figure:
    """A result over one of its arguments, the others given as numbers.

    over    the abscissa: "q" (0 to 4) or "c" (-1 to 1) unless another argument is named (0 to 2)
    values  the other arguments and parameters; q, q1, q2 and sigma_w are 1 and sigma_b is 0 where they are not given

    Every point is a certified number. Raises EocError for a missing value.
    """
    from fractions import Fraction

    arguments = (*result.arguments, *result.parameters)
    over = over or next(name for name in ("c", "q", *arguments) if name in arguments)
    usual = {"q": 1, "q1": 1, "q2": 1, "sigma_w": 1, "sigma_b": 0}
    given = {**{name: value for name, value in usual.items() if name in arguments}, **values}
    given.pop(over, None)
    low, high = {"c": (-1, 1), "q": (0, 4), "q1": (0, 4), "q2": (0, 4)}.get(over, (0, 2))
    steps = range(points) if over == "c" else range(1, points + 1)
    count = points - 1 if over == "c" else points
    xs = [low + Fraction(high - low, count) * i for i in steps]
    ys = [float(result.number({**given, over: x}, digits=6)) for x in xs]
    held = ", ".join(f"{name} = {value}" for name, value in given.items())
    label = f"${result.symbol}$" if result.symbol else result.title
    return curves(result.title or "expectation", LABELS.get(over, over), label, [(held, [float(x) for x in xs], ys)])


def report_figures(data: Mapping[str, Any]) -> list[tuple[str, Figure]]:
    """(caption, figure) for the curves that `document.curves` sampled."""
    figures = []
    if "activation" in data:
        item = data["activation"]
        lines = [(r"$\varphi(x)$", item["x"], item["phi"]), (r"$\varphi'(x)$", item["x"], item["derivative"])]
        figures.append(("The activation and its derivative away from kinks.", curves("activation", "$x$", "", lines)))
    if "variance_map" in data:
        item = data["variance_map"]
        label = rf"$V(q)$, $\sigma_w$ = {item['sigma_w']:.4g}, $\sigma_b$ = {item['sigma_b']:.4g}"
        figure = curves(
            "variance map",
            "$q$",
            "$V(q)$",
            [(label, item["q"], item["V"])],
            diagonal=True,
            marks=[("fixed point", *item["point"])],
        )
        figures.append(
            ("The variance map at the edge-of-chaos point with $q^{*} = 1$; fixed points lie on the diagonal.", figure)
        )
    if "correlation_map" in data:
        item = data["correlation_map"]
        figure = curves("correlation map", "$c$", "$C(c)$", [("$C(q^*, q^*, c)$", item["c"], item["C"])], diagonal=True)
        figures.append(("The correlation map at the same point, both variances $q^{*} = 1$.", figure))
    if "edge" in data:
        item = data["edge"]
        marks = [("$q^*$ = 1", *item["point"])] if item["point"] else []
        first, last = item["range"]
        line = (f"$q^*$ from {first:.3g} to {last:.3g}", item["sigma_w"], item["sigma_b"])
        figure = curves("edge of chaos", r"$\sigma_w$", r"$\sigma_b$", [line], marks=marks)
        caption = r"The edge of chaos, a curve in $(\sigma_w, \sigma_b)$ with the variance $q^{*}$ as parameter."
        figures.append((caption, figure))
    return figures


def svg(figure: Figure) -> str:
    """The figure as inline SVG: same input, same text; black becomes the page's text colour (for dark mode)."""
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "eoc", "svg.fonttype": "path"}):
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"#000000\b", "currentColor", text)
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    for name, color in (("blue", BLUE), ("orange", ORANGE), ("green", GREEN)):
        text = text.replace(color, f"var(--{name}, {color})")
    # paths without a colour of their own are black by SVG's rule
    return text.replace("<svg ", '<svg fill="currentColor" role="img" ', 1).strip()
