"""Pictures of trained networks' bias."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from verify.guessing.training import Absorption


def absorption_figure(found: Absorption, path: Any = None) -> Any:
    """Three panels: largest share, accuracy, accuracy by class at the end; one line an initialisation."""
    from derive.show.phase_plots import new_figure, save
    from derive.show.plots import BLUE, GREEN, GREY, ORANGE

    figure = new_figure(9.6, 3.3)
    shares, right, classes = figure.subplots(1, 3)
    colours = (BLUE, "black", ORANGE, GREEN)
    at = np.arange(found.classes)
    width = 0.8 / len(found.runs)
    for index, run in enumerate(found.runs):
        colour = colours[index % len(colours)]
        label = f"{run.start.name}: γ = {run.start.gamma:.3g}"
        for axes, values in ((shares, run.largest), (right, run.accuracy)):
            axes.plot(run.steps, values.mean(0), color=colour, label=label, linewidth=1.5)
            if len(values) > 1:
                axes.fill_between(run.steps, values.min(0), values.max(0), color=colour, alpha=0.12, linewidth=0)
        place = at + (index - (len(found.runs) - 1) / 2) * width
        classes.bar(place, run.by_class[:, -1].mean(0), width, color=colour)
    for axes, level in ((shares, found.fair), (right, 1 / found.classes), (classes, 1 / found.classes)):
        axes.axhline(level, color=GREY, linestyle="dashed", linewidth=0.8)
        axes.set_ylim(0, 1.03)
    for axes in (shares, right):
        axes.set_xscale("symlog", linthresh=1)
        axes.set_xlim(0, found.runs[0].steps[-1])
        axes.set_xlabel("training step")
        ticks = [0, *(10**k for k in range(6) if 10**k < found.runs[0].steps[-1])]
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
    shares.set_ylabel("share of the most predicted class")
    right.set_ylabel("accuracy on held-out inputs")
    right.legend(fontsize=7, loc="upper left")
    classes.set(xlabel="class", ylabel="accuracy at the end", xticks=at)
    if path is not None:
        save(figure, path, "bias during training")
    return figure


__all__ = ["absorption_figure"]
