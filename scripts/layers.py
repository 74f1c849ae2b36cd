"""Draws the pictures of docs/layers.md: what each layer makes of two inputs, the map beside wide random layers.

python scripts/layers.py [--folder docs/img] [--only dropout]
"""

from __future__ import annotations

import argparse
from fractions import Fraction
from pathlib import Path

import numpy as np
import torch
from matplotlib.figure import Figure

from derive.gaussian.numbers import number
from derive.layers.attention import attend
from derive.layers.block import maps
from derive.layers.finite import Finite
from derive.layers.nested import act
from derive.show.phase_plots import save
from derive.show.plots import BLUE, GREEN, GREY, ORANGE
from derive.surface.block_text import read_block

WIDTH, NETWORKS = 768, 6
CS = tuple(Fraction(i, 50) for i in (-49, -40, -30, -20, -10, 0, 10, 20, 30, 40, 49))
COLORS = (BLUE, ORANGE, GREEN, GREY)
# file -> blocks drawn together; q1 = q2 = 1 before them, sigma_w = 1.5 and sigma_b = 0 where they are open
PICTURES = {
    "dense": ("dense >> relu >> dense(1.5, 0)", "dense >> relu >> dense(1.5, 1)"),
    "activation": ("dense >> relu", "dense >> tanh", "dense >> gelu"),
    "glu": ("dense >> glu", "dense >> glu(silu)", "dense >> glu(relu)"),
    "residual": ("residual(relu >> dense)", "residual(relu >> dense, scale=0.5)", "residual(relu >> dense, scale=0)"),
    "sum-concat": ("sum(relu >> dense, tanh >> dense)", "dense >> concat(relu, tanh)"),
    "dropout-noise": ("dense >> relu", "dense >> relu >> dropout(0.5)", "dense >> relu >> noise(0.5, 0)"),
    "norms": ("dense >> relu >> rmsnorm", "dense >> relu >> layernorm", "dense >> rmsnorm >> relu"),
    "embedding": ("dense >> embedding(1) >> relu", "dense >> embedding(1, shared=0) >> relu"),
    "weights": ("dense >> relu >> orthogonal >> identity", "dense >> relu >> weightnorm >> identity",
                "dense >> relu >> weightstandard >> identity"),
}  # fmt: skip


def value(expr) -> float:
    """A number at open sigmas."""
    return float(expr.subs({s: 1.5 if s.name == "sigma_w" else 0.0 for s in expr.free_symbols}))


def finite(generator: torch.Generator) -> Finite:
    """Layers on arrays of doubles."""
    options = {"generator": generator, "dtype": torch.float64}
    return Finite(
        WIDTH, torch, lambda shape: torch.randn(shape, **options), lambda shape: torch.rand(shape, **options), value,
        lambda stage: stage.source.compile("torch"),
    )  # fmt: skip


def stages_of(block):
    """What acts on the first pre-activation."""
    stages = block.cycle()
    return stages[:-1] if hasattr(stages[-1], "weights") else stages


def theory_of(block) -> tuple[list[float], float]:
    """(correlation behind the block at each c, growth of squared gradients)."""
    output, found = maps(block).output, []
    given = {"q1": 1, "q2": 1, "sigma_w": Fraction(3, 2), "sigma_b": 0}

    def at(expr, c):
        used = {s.name for s in expr.free_symbols}
        values = {**given, "c": c}
        return float(number(expr, {k: v for k, v in values.items() if k in used or k in ("q1", "q2", "c")}))

    for c in CS:
        found.append(at(output.cross, c) / (at(output.second1, c) * at(output.second2, c)) ** 0.5)
    return found, at(output.gain, Fraction(1, 2))


def measured(block) -> list[float]:
    """The same of wide random layers: cosines of two rows."""
    generator, found = torch.Generator().manual_seed(3), []
    tools = finite(generator)
    for c in map(float, CS):
        rows = []
        for _ in range(NETWORKS):
            noise = torch.randn((2, WIDTH), generator=generator, dtype=torch.float64)
            x = torch.stack([noise[0], c * noise[0] + max(1 - c * c, 0) ** 0.5 * noise[1]])
            y = act(stages_of(block), x, tools)
            rows.append(float(y[0] @ y[1] / (y[0].norm() * y[1].norm())))
        found.append(float(np.mean(rows)))
    return found


def picture(texts: tuple[str, ...]) -> Figure:
    """Correlation behind a layer against that before it; lines: maps, dots: random layers."""
    figure = Figure(figsize=(5.2, 3.1), layout="constrained")
    axes = figure.subplots()
    axes.plot([-1, 1], [-1, 1], color=GREY, linewidth=0.8, linestyle=":")
    for text, color in zip(texts, COLORS, strict=False):
        block = read_block(text)
        line, gain = theory_of(block)
        title = text.removeprefix("dense >> ").removesuffix(" >> identity")
        axes.plot([float(c) for c in CS], line, color=color, label=f"{title}: gain {gain:.3g}")
        axes.plot([float(c) for c in CS], measured(block), "o", color=color, markersize=3.5)
    dressed(axes, "correlation before", "correlation behind")
    return figure


def dressed(axes, x: str, y: str) -> None:
    """Labels, a light grid, a legend that lies on nothing."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(True, linewidth=0.4, alpha=0.35)
    axes.tick_params(labelsize=8)
    axes.figure.legend(*axes.get_legend_handles_labels(), fontsize=8, loc="outside upper left", frameon=False)


def batchnorm() -> Figure:
    """Gradient growth of a normalised ReLU against the size of the batch; the map is its limit."""
    figure = Figure(figsize=(5.2, 3.1), layout="constrained")
    axes, width, sizes = figure.subplots(), 512, (8, 16, 32, 64, 128)
    generator, found = torch.Generator().manual_seed(2), []
    for batch in sizes:
        rows = []
        for _ in range(16):
            x = torch.randn((batch, width), generator=generator, dtype=torch.float64).requires_grad_()
            for _ in range(8):  # to the fixed point of the batch
                x = x - x.mean(0)
                x = torch.relu(x / x.square().mean(0).sqrt())
                x = x @ (torch.randn((width, width), generator=generator, dtype=torch.float64) * (2 / width) ** 0.5)
            last = x.detach().requires_grad_()
            y = torch.relu((last - last.mean(0)) / (last - last.mean(0)).square().mean(0).sqrt())
            out = y @ (torch.randn((width, width), generator=generator, dtype=torch.float64) * (2 / width) ** 0.5)
            probe = torch.randn(out.shape, generator=generator, dtype=torch.float64)
            (grad,) = torch.autograd.grad((out * probe).sum(), last)
            scale = float(
                (out.detach() - out.detach().mean(0)).square().mean() / (last - last.mean(0)).square().mean().detach()
            )
            rows.append(float(grad.square().sum() / probe.square().sum()) * scale)
        found.append(float(np.mean(rows)))
    axes.plot(sizes, found, "o", color=ORANGE, label="networks: growth of squared gradients a layer")
    axes.axhline(np.pi / (np.pi - 1), color=BLUE, label="large batch: π/(π − 1)")
    axes.set_xscale("log", base=2)
    dressed(axes, "inputs in the batch", "growth")
    return figure


def convolution() -> Figure:
    """Second moments along a line under zero padding, layer after layer, and with weights at the centre only."""
    from derive import Conv

    figure = Figure(figsize=(5.2, 3.1), layout="constrained")
    axes, generator, wide, channels = figure.subplots(), torch.Generator().manual_seed(4), 24, 256
    start = np.eye(wide)
    second, x = start, torch.randn((64, channels, wide), generator=generator, dtype=torch.float64)
    layer = Conv(kernel=5, padding="zeros", dims=1)
    axes.plot(np.diag(Conv(kernel=5, padding="zeros", dims=1, taps_of="centre").position_covariance(start, 1, 0)),
              color=GREY, linestyle="--", label="weights at the centre only, any depth")  # fmt: skip
    for depth in range(1, 9):
        second = layer.position_covariance(second, 1.0, 0.0)
        weights = torch.randn((channels, channels, 5), generator=generator, dtype=torch.float64)
        x = torch.nn.functional.conv1d(x, weights / (5 * channels) ** 0.5, padding=2)
        if depth in (1, 3, 8):
            color = COLORS[(1, 3, 8).index(depth)]
            axes.plot(np.diag(second), color=color, label=f"zero padding, kernel 5, {depth} layers")
            axes.plot(x.square().mean((0, 1)), "o", color=color, markersize=3.5)
    axes.set_ylim(0, 1.15)
    dressed(axes, "position", "second moment")
    return figure


def attention() -> Figure:
    """Correlation of two positions behind softmax attention, against their number."""
    figure = Figure(figsize=(5.2, 3.1), layout="constrained")
    axes, generator, ns = figure.subplots(), np.random.default_rng(5), (8, 16, 32, 64, 128, 256)
    for r, color in ((0.0, BLUE), (0.3, ORANGE)):
        lines, dots = [], []
        for n in ns:
            lines.append(float(attend(1, Fraction(str(r)), n, Fraction(1, 2)).correlation))
            size = (1 - r) * np.eye(n) + r
            root, rows = np.linalg.cholesky(size + 1e-12 * np.eye(n)), []
            for _ in range(40):
                a = np.exp(0.5**0.5 * root @ generator.standard_normal((n, n)) @ root.T)
                out = (a / a.sum(1, keepdims=True)) @ size @ (a / a.sum(1, keepdims=True)).T
                rows.append((np.trace(out) / n, (out.sum() - np.trace(out)) / (n * (n - 1))))
            own, cross = np.mean(rows, 0)
            dots.append(cross / own)
        axes.plot(ns, lines, color=color, label=f"correlation {r:g} before")
        axes.plot(ns, dots, "o", color=color, markersize=3.5)
    axes.set_xscale("log", base=2)
    axes.set_ylim(0, 1.05)
    dressed(axes, "positions", "correlation behind attention")
    return figure


def main() -> None:
    """Write the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("docs/img"))
    parser.add_argument("--only", action="append")
    args = parser.parse_args()
    torch.set_num_threads(1)
    others = {"batchnorm": batchnorm, "conv": convolution, "attention": attention}
    for name in args.only or [*PICTURES, *others]:
        figure = others[name]() if name in others else picture(PICTURES[name])
        save(figure, args.folder / f"layer-{name}.png", f"layer {name}", dpi=110)
        print(f"layer-{name}.png", flush=True)


if __name__ == "__main__":
    main()
