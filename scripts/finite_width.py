"""Draws the pictures of docs/finite-width.md: random networks of several widths beside the formulas.

python scripts/finite_width.py [--folder docs/img]
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure

from derive import theory
from derive.show.phase_plots import save
from derive.show.plots import BLUE, GREEN, GREY, ORANGE
from verify.finite_width.chains import chains
from verify.finite_width.residual import verify_residual
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


def collapse_figure(networks: int = 1500) -> Figure:
    """Var log G against depth over width, a panel for each class of activations at criticality."""
    figure = Figure(figsize=(8.6, 3.0), layout="constrained")
    panels = figure.subplots(1, 3, sharey=True)
    gelu = theory("gelu").finite_width
    point = gelu.theory.universality.points[0].point
    start = {"relu": 1.0, "tanh": 1.0, "gelu": float(point.q)}
    cases: tuple[tuple[Any, ...], ...] = (
        ("relu", torch.relu, ROOT, 0.0, "scale-invariant: ReLU", ORANGE, (0.05, 1.2)),
        ("tanh", torch.tanh, 1.0, 0.0, "K* = 0: tanh", BLUE, (0.05, 4.0)),
        ("gelu", torch.nn.functional.gelu, float(point.sigma_w), float(point.sigma_b), "half-stable: GELU", GREEN,
         (0.05, 0.6)),
    )  # fmt: skip
    for axes, (name, phi, gain, bias, title, color, (low, high)) in zip(panels, cases, strict=True):
        law, t = theory(name).finite_width.criticality, np.geomspace(low, high, 25)
        for n, mark in ((16, "o"), (32, "s"), (64, "^")):
            layers = int(n * high) + 2
            g = chains(phi, start[name], [n] * (layers - 1), gain, bias, networks, stream(2, n, len(name))).kernel
            picked = np.unique(np.geomspace(max(4, low * n), layers - 2, 9).astype(int))
            alive = np.where(g > 0, g, np.nan)
            axes.plot(picked / n, np.nanvar(np.log(alive), 1)[picked], mark, color=color, markersize=3.5, alpha=0.8)
        axes.plot(t, float(law.spread) * t, color=GREY, linestyle=":", linewidth=1, label="first order")
        if name != "gelu":
            axes.plot(t, [law.at_ratio(x)[1] for x in t], color=color, label="law at fixed L/n")
        axes.set_xscale("log")
        axes.set_yscale("log")
        ticks = [x for x in (0.05, 0.1, 0.2, 0.5, 1, 2, 4) if x <= high]
        axes.set_xticks(ticks, [f"{x:g}" for x in ticks])
        axes.minorticks_off()
        dressed(axes, title, "$L/n$", r"$\mathrm{Var}\,\log G$" if name == "relu" else "")
    panels[2].text(0.98, 0.03, "widths 16 (circles), 32 (squares), 64 (triangles)", transform=panels[2].transAxes,
                   fontsize=6.5, ha="right")  # fmt: skip
    return figure


def residual_figure(n: int = 64, networks: int = 4800) -> Figure:
    """Left: the mean correction of a tanh residual network; right: the spread of networks by what they are made of."""
    figure = Figure(figsize=(8.2, 3.3), layout="constrained")
    left, right = figure.subplots(1, 2)
    block, blocks = theory("residual(tanh >> dense, scale=0.2)"), 50
    d = block.finite_width.block_law.depth(2, blocks, "1.4142135623730951")
    t = 0.04 * np.arange(blocks + 1)
    places = tuple(range(5, blocks + 1, 5))
    seen = verify_residual(block, 2, blocks, "1.4142135623730951", at=places, networks=networks, widths=(n, 2 * n))
    measured = [row.judgement for row in seen.rows if row.quantity == "K1"]
    left.plot(t, d.correction, color=BLUE, label="rows remember (two-time theory)")
    left.plot(t, d.closure_correction, color=ORANGE, linestyle="--", label="closed equation for the kernel")
    left.errorbar(t[list(places)], [j.estimate for j in measured], [2 * j.standard_error for j in measured], fmt="o",
                  color=GREY, markersize=3, linewidth=1, label="networks, 2 standard errors")  # fmt: skip
    dressed(left, r"tanh residual network: $n(\mathbb{E}\,G - K)$", r"depth $t = \epsilon^2 l$", "$K_1$")
    layers = 60
    at, tanh = np.arange(1, layers + 1), theory("tanh").finite_width
    plain = tanh.depth(1, layers, n, 1).log_variance
    relu = theory("relu").finite_width.depth(1, layers, n, "1.4142135623730951").log_variance
    orthogonal = tanh.depth(1, layers, n, 1, weights="orthogonal").log_variance
    scaled = theory("residual(relu >> dense, scale=1/sqrt(L))").finite_width.block_law
    stream_of = scaled.depth(1, layers - 1, "1.4142135623730951", L=layers).log_variance(n) - 2 / n
    for values, label, color in ((relu, "ReLU", ORANGE), (plain, "tanh", BLUE),
                                 (stream_of, r"ReLU, residual, scale $1/\sqrt{L}$", GREY),
                                 (orthogonal, "tanh, orthogonal weights", GREEN)):  # fmt: skip
        right.plot(at, values, color=color, label=label)
    dressed(right, f"spread at width {n}, first order in 1/n", "layer or block", r"$\mathrm{Var}\,\log G$")
    return figure


def main() -> None:
    """Draw all four."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path(__file__).resolve().parents[1] / "docs" / "img")
    folder = parser.parse_args().folder
    torch.set_num_threads(1)
    for name, draw in (
        ("depth", depth_figure),
        ("histogram", histogram_figure),
        ("collapse", collapse_figure),
        ("residual", residual_figure),
    ):
        print(save(draw(), folder / f"finite-width-{name}.png", f"finite width: {name}"))


if __name__ == "__main__":
    main()
