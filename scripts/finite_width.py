"""Draws the pictures of docs/finite-width.md: random networks of several widths beside the formulas.

python scripts/finite_width.py [--folder docs/img]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from matplotlib.figure import Figure

from derive import theory
from derive.show.phase_plots import save
from derive.show.plots import BLUE, GREEN, GREY, ORANGE
from verify.finite_width.chains import chains
from verify.stream import stream

ROOT = 1.4142135623730951
COLORS = {32: ORANGE, 128: BLUE, 512: GREEN}


def dressed(axes, title: str, x: str, y: str, legend: bool = True) -> None:
    """Titles, labels, a light grid."""
    axes.set_title(title, fontsize=10)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)
    axes.grid(True, linewidth=0.4, alpha=0.35)
    if legend:
        axes.legend(fontsize=8, framealpha=1, edgecolor="none")


def depth_figure(layers: int = 30, networks: int = 1500) -> Figure:
    """Mean and spread of the kernel of tanh networks against depth; lines: formulas, dots: networks."""
    figure = Figure(figsize=(8.2, 3.3), layout="constrained")
    left, right = figure.subplots(1, 2)
    at = np.arange(1, layers + 1)
    fw = theory("tanh").finite_width
    for n, color in COLORS.items():
        d = fw.depth(1, layers, n, 1)
        g = chains(torch.tanh, 1.0, [n] * (layers - 1), 1.0, 0.0, networks, stream(0, n, 0)).kernel
        left.plot(at, d.mean / d.kernel, color=color, label=f"width {n}")
        left.plot(at[::3], (g.mean(1) / d.kernel)[::3], "o", color=color, markersize=3)
        right.plot(at, np.sqrt(d.variance) / d.kernel, color=color, label=f"width {n}")
        right.plot(at[::3], (g.std(1) / d.kernel)[::3], "o", color=color, markersize=3)
    left.axhline(1, color=GREY, linestyle=":", linewidth=1)
    dressed(left, r"tanh, $\sigma_w = 1$: mean kernel over its limit", "layer", r"$\mathbb{E}\,G/K$")
    dressed(right, "spread over networks", "layer", r"$\sqrt{\mathrm{Var}\,G}/K$", legend=False)
    return figure


def histogram_figure(n: int = 64, layers: int = 20, networks: int = 6000) -> Figure:
    """log G of ReLU networks at the last layer: networks, the log-normal law, mean and typical kernel."""
    figure = Figure(figsize=(4.6, 3.3), layout="constrained")
    axes = figure.subplots()
    law, steps = theory("relu").finite_width.exact, layers - 1
    g = chains(torch.relu, 1.0, [n] * steps, ROOT, 0.0, networks, stream(1, n, 0)).kernel[-1]
    mean, variance = steps * float(law.log_mean(n)), steps * float(law.log_variance(n))
    x = np.linspace(mean - 4 * variance**0.5, mean + 4 * variance**0.5, 200)
    axes.hist(np.log(g[g > 0]), bins=60, density=True, color=BLUE, alpha=0.35, label="networks")
    density = np.exp(-((x - mean) ** 2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)
    axes.plot(x, density, color=BLUE, label="normal law, exact mean and variance")
    axes.axvline(0, color=GREY, linestyle=":", label="infinite width, and the mean of G")
    axes.axvline(mean, color=ORANGE, linestyle="--", label="typical network")
    axes.set_ylim(0, 1.75 * density.max())
    dressed(axes, f"ReLU, width {n}, layer {layers}: log of the kernel", r"$\log G/K$", "density")
    return figure


def collapse_figure(networks: int = 5000) -> Figure:
    """Var G/K^2 against depth over width, for three classes of activations at criticality."""
    figure = Figure(figsize=(4.6, 3.6), layout="constrained")
    axes = figure.subplots()
    cases = (("relu", torch.relu, ROOT, 5, ORANGE), ("linear", lambda x: x, 1.0, 2, GREEN),
             ("tanh", torch.tanh, 1.0, 2 / 3, BLUE))  # fmt: skip
    for name, phi, gain, rate, color in cases:
        for n, mark in ((32, "o"), (64, "s"), (128, "^")):
            layers = n // 4 + 2
            g = chains(phi, 1.0, [n] * (layers - 1), gain, 0.0, networks, stream(2, n, len(name))).kernel
            limit = theory("tanh").finite_width.depth(1, layers, n, 1).kernel if name == "tanh" else np.ones(layers)
            picked = np.unique(np.geomspace(4, layers - 1, 9).astype(int))
            axes.plot(picked / n, g.var(1)[picked] / limit[picked] ** 2, mark, color=color, markersize=3.5, alpha=0.8)
        t = np.geomspace(0.025, 0.27, 50)
        exact = np.exp(rate * t) - 1 if name != "tanh" else rate * t
        law = "2/3 L/n" if name == "tanh" else f"exp({rate} L/n) - 1"
        axes.plot(t, exact, color=color, label=f"{name}: {law}")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks([0.03, 0.05, 0.1, 0.2], ["0.03", "0.05", "0.1", "0.2"])
    axes.minorticks_off()
    axes.text(0.99, 0.02, "widths 32 (circles), 64 (squares), 128 (triangles)", transform=axes.transAxes, fontsize=7,
              ha="right")  # fmt: skip
    dressed(axes, "Relative variance of the kernel: depth over width", "$L/n$", r"$\mathrm{Var}\,G/K^2$")
    return figure


def main() -> None:
    """Draw all three."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path(__file__).resolve().parents[1] / "docs" / "img")
    folder = parser.parse_args().folder
    torch.set_num_threads(1)
    for name, draw in (("depth", depth_figure), ("histogram", histogram_figure), ("collapse", collapse_figure)):
        print(save(draw(), folder / f"finite-width-{name}.png", f"finite width: {name}"))


if __name__ == "__main__":
    main()
