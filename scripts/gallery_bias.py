"""Draws docs/gallery/guessing-bias.md: phases, depth, class fractions and gradients of guessing bias.

python scripts/gallery_bias.py [--folder docs/gallery]
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path

import numpy as np

from derive import theory
from derive.depth.bias.gradients import UNDERFLOW, mean_ratio, ratio
from derive.depth.bias.guess import Classes, TwoClasses
from derive.show.phase_curves import CYCLE, DASHES, dress
from derive.show.phase_plots import new_figure, save

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "gallery"
DIAGRAMS = (
    ("tanh", (0.8, 2), (0.02, 0.6), None),
    ("relu", (0.8, 1.8), (0, 1), 10),
    ("dense >> relu >> maxpool(2)", (0.6, 1.4), (0, 1), 10),
)
"""Block, ranges of sigma_w and sigma_b, and the depth of the contours of gamma (None: the limit)."""
STARTS = (
    ("relu, edge of chaos", "relu", 2**0.5, 0.0),
    ("dense >> relu >> maxpool(2), χ = 1", "dense >> relu >> maxpool(2)", (4 / 3) ** 0.5, 0.0),
    ("tanh, ordered", "tanh", 1.2, 0.3),
    ("tanh, edge of chaos", "tanh", 1.3951, 0.3),
    ("tanh, prejudice", "tanh", 1.5, 0.3),
    ("tanh, neutrality", "tanh", 1.8, 0.3),
)
PAGE = """# Guessing bias in pictures

Drawn by `python scripts/gallery_bias.py` from the toolkit itself; what the words mean and the numbers behind them:
[why your untrained network already has an opinion](../guessing-bias.md). γ = c/(1 − c) is the drift ratio, σ_w² the
variance of the weights times fan-in, σ_b² that of the biases.

## Phases

![phases of tanh, ReLU and ReLU with max-pooling](bias_phases.png)

Colours are the phases in the limit of depth, black is χ = 1, brown are contours of γ, thick where γ = 1. Left: γ in the
limit, between neutrality and the edge of chaos it takes every value above 1. Middle and right: these blocks tend to
γ = ∞ on both sides, so the contours are those of layer 10; a block that pools has two critical lines, χ = 1 for
gradients and dV/dq = 1 (dashed) for the variance.

`theory("tanh").guessing_bias.phase((0.8, 2), (0.02, 0.6)).plot("tanh.png")` draws one panel; `layers=10` asks for γ at
that depth.

## Against depth

![drift ratio against depth](bias_depth.png)

Lines: infinite width. Points: random networks of width {width} with two standard errors, {networks} for each start,
up to layer 20. From centred data γ = σ_b²/σ_w² at layer 1; a start without biases has γ = 0 there, off this scale. It
grows like l² on the edge of ReLU, like l on that of tanh, exponentially on the ordered side and where units are pooled.
Deep ReLU networks fall below the line, like one over the width: at layer 20 by 28 % at width 256, 9 % at 1024 and 2 %
at 4096.

## Which class

![density of the fraction of inputs in one class](bias_classes.png)

Left: the density of the fraction G₀ of inputs that a random network of two classes puts into the first, for four
values of γ, and the fractions of {drawn} random ReLU networks with one and with three hidden layers ({inputs} inputs
each, width {wide}). Right: how often the largest class is expected to be guessed, for two, ten and a hundred classes;
the points are the same networks' (two classes) and ten other outputs of theirs.

## Gradients of the two classes

![squared gradients of the favoured class over the other's](bias_gradients.png)

Left: the squared gradient of samples of the favoured class over that of the other, from the distance |Δ| of the two
outputs; where outputs spread over the inputs, the ratio of the means is larger than exp(−2|Δ|), because inputs that go
the other way pull. Points: means over {inputs} inputs at the first layer of random ReLU networks, at their own centre,
coloured by their own spread. Right: the median of |Δ| over random networks through depth: where the variance grows,
exp(−2|Δ|) underflows; where it settles, the two classes' gradients stay within a small factor.
"""
WIDTH, NETWORKS = 256, 300
DRAWN, INPUTS, WIDE = 1500, 1000, 400


def phases(folder: Path) -> None:
    figure = new_figure(14.4, 4.4)
    for axes, (text, w, b, layers) in zip(figure.subplots(1, 3), DIAGRAMS, strict=True):
        theory(text).guessing_bias.phase(w, b, layers=layers).draw(axes)
    save(figure, folder / "bias_phases.png", "phases of guessing bias", dpi=80)


def measured(text: str, w: float, b: float, index: int, layers: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """gamma of each layer over networks, means over means, and its error by the jackknife over networks."""
    import torch

    from verify.conditional import kernels
    from verify.stream import stream
    from verify.subject import subject

    gram = torch.tensor([[w * w + b * b, b * b], [b * b, w * w + b * b]], dtype=torch.float64)
    k = kernels(
        subject(text).phi, gram, width=WIDTH, depth=layers, networks=NETWORKS, sigma_w=w, sigma_b=b,
        generator=stream(0, index, 1),
    ).numpy()  # fmt: skip
    cross, own = k[..., 0, 1], (k[..., 0, 0] + k[..., 1, 1]) / 2
    total = cross.sum(0), own.sum(0)
    without = (total[0] - cross) / (total[1] - own - total[0] + cross)
    error = np.sqrt((NETWORKS - 1) * without.var(0))
    return total[0] / (total[1] - total[0]), error


def depth(folder: Path) -> None:
    figure = new_figure(7.2, 4.6)
    axes = figure.add_subplot()
    for i, (label, text, w, b) in enumerate(STARTS):
        found = theory(text).guessing_bias.depth(1000, w, b).gamma
        axes.plot(np.arange(1, 1001), found, linestyle=DASHES[i], color=CYCLE[i], label=label, linewidth=1.4)
        if ">>" not in text:
            gamma, error = measured(text, w, b, i)
            at = np.arange(1, len(gamma) + 1)
            seen = gamma > 0
            axes.errorbar(at[seen], gamma[seen], 2 * error[seen], fmt="o", color=CYCLE[i], markersize=3, linewidth=0.8)
    axes.set(xscale="log", yscale="log", xlim=(0.95, 1000), ylim=(0.02, 1e6))
    dress(axes, "layer", "drift ratio γ", "guessing bias through depth")
    axes.legend(fontsize=7.5, frameon=False, loc="upper left")
    save(figure, folder / "bias_depth.png", "drift ratio against depth", dpi=90)


def drawn(hidden: int) -> np.ndarray:
    """Outputs (networks, inputs, 12) of random ReLU networks on the edge of chaos."""
    import torch

    from verify.guessing.ensemble import outputs
    from verify.stream import stream

    return outputs(
        torch.relu, inputs=INPUTS, width=WIDE, hidden=hidden, classes=12, networks=DRAWN, sigma_w=2**0.5, sigma_b=0.0,
        generator=stream(4, hidden, 1),
    )  # fmt: skip


def classes(folder: Path, found: dict) -> None:
    gammas = theory("relu").guessing_bias.depth(4, 2**0.5).gamma
    figure = new_figure(10, 4)
    left, right = figure.subplots(1, 2)
    g = np.linspace(0.001, 0.999, 999)
    for i, gamma in enumerate((0.25, float(gammas[1]), 1.0, float(gammas[3]))):
        left.plot(
            g,
            TwoClasses(gamma).density(g),
            linestyle=DASHES[i],
            color=CYCLE[i],
            label=f"γ = {gamma:.3g}",
            linewidth=1.6,
        )
    grid = np.geomspace(0.02, 100, 60)
    for i, k in enumerate((2, 10, 100)):
        law = [TwoClasses(v) if k == 2 else Classes(v, k) for v in grid]
        right.plot(grid, [one.mean_largest for one in law], linestyle=DASHES[i], color=CYCLE[i], label=f"K = {k}")
    for hidden, y in found.items():
        colour = CYCLE[1] if hidden == 1 else CYCLE[3]
        share = (y[..., 0] > y[..., 1]).double().mean(1).numpy()
        label = f"{DRAWN} ReLU networks, {hidden} hidden"
        left.hist(share, 25, range=(0, 1), density=True, color=colour, alpha=0.22, label=label)
        ten = y[..., 2:].argmax(-1)
        largest = np.array([np.bincount(row, minlength=10).max() for row in ten.numpy()]) / INPUTS
        at = float(gammas[hidden])
        for values in (np.maximum(share, 1 - share), largest):
            error = 2 * values.std() / DRAWN**0.5
            right.errorbar([at], [values.mean()], [error], fmt="o", color="black", markersize=4)
    left.set(xlim=(0, 1), ylim=(0, 3))
    right.set(xscale="log", ylim=(0, 1.02))
    dress(left, "fraction G₀ of inputs in the first class", "density over networks", "two classes")
    dress(right, "drift ratio γ of the outputs", "E max G", "share of the largest class")
    left.legend(fontsize=7.5, frameon=False)
    right.legend(fontsize=8, frameon=False)
    save(figure, folder / "bias_classes.png", "class fractions of random networks", dpi=90)


def pulled(hidden: int, networks: int = 40) -> np.ndarray:
    """(networks, 3): centre and spread of the two outputs' difference, and the first layer's ratio of gradients."""
    import torch

    from verify.guessing.gradients import class_gradients
    from verify.stream import normals, stream

    generator, rows = stream(5, hidden, 1), []
    for _ in range(networks):
        sizes = [100, *[WIDE] * hidden, 2]
        parts: list[torch.nn.Module] = []
        for n, m in pairwise(sizes):
            layer = torch.nn.Linear(n, m, bias=False)
            with torch.no_grad():
                layer.weight.copy_(normals((m, n), generator, torch.float32) * (2 / n) ** 0.5)
            parts += [layer, torch.nn.ReLU()]
        model = torch.nn.Sequential(*parts[:-1])
        x = normals((INPUTS, 100), generator, torch.float32)
        y = model(x).detach()
        delta = (y[:, 0] - y[:, 1]).double()
        rows.append((float(delta.mean().abs()), float(delta.std()), class_gradients(model, x).ratio[0]))
    return np.array(rows)


def gradients(folder: Path) -> None:
    figure = new_figure(10, 4)
    left, right = figure.subplots(1, 2)
    d = np.linspace(0, 6, 121)
    left.plot(d, ratio(d), linestyle=DASHES[0], color=CYCLE[0], label="exp(−2|Δ|), one Δ for all inputs")
    for i, spread in enumerate((0.5, 1.0, 2.0), 1):
        found = [mean_ratio(float(v), spread) for v in d]
        left.plot(d, found, linestyle=DASHES[i], color=CYCLE[i], label=f"means, Δ spreads by {spread:g}")
    for hidden, mark in ((2, "o"), (10, "s")):
        centre, spread, seen = pulled(hidden).T
        shown = left.scatter(
            centre,
            seen,
            14,
            spread,
            marker=mark,
            cmap="viridis",
            vmin=0,
            vmax=2,
            label=f"ReLU networks, {hidden} hidden",
        )
    figure.colorbar(shown, ax=left, label="spread of Δ over the inputs")
    left.set(yscale="log", xlim=(0, 6), ylim=(1e-5, 2))
    dress(left, "centre of |Δ| over the inputs", "favoured over unfavoured", "mean squared gradients by class")
    left.legend(fontsize=7, frameon=False, loc="lower left")
    deep = (*STARTS[2:], ("relu, σ_w² = 2", "relu", 2**0.5, 0.0), ("relu, σ_w² = 2.2", "relu", 2.2**0.5, 0.0))
    for i, (label, text, w, b) in enumerate(deep):
        t = theory(text).guessing_bias
        found = t.depth(200, w, b)
        medians = [-t.gradients(float(q), float(c)).median_log_ratio / 2 for q, c in zip(found.q, found.c, strict=True)]
        right.plot(np.arange(1, 201), medians, linestyle=DASHES[i], color=CYCLE[i], label=label)
    right.set(xscale="log", yscale="log", xlim=(1, 200), ylim=(0.05, 1e4))
    right.axhline(UNDERFLOW["float32"], color="grey", linewidth=0.8)
    right.text(
        1.1, 1.2 * UNDERFLOW["float32"], "from here one logit's error is 0 in float32", fontsize=7.5, color="grey"
    )
    dress(right, "layer of the outputs", "median of |Δ| over networks", "the ratio is exp(−2|Δ|)")
    right.legend(fontsize=7.5, frameon=False, loc="upper left", bbox_to_anchor=(0, 0.98))
    save(figure, folder / "bias_gradients.png", "gradients by class", dpi=90)


def main() -> None:
    """Draw the four pictures and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    phases(folder)
    depth(folder)
    classes(folder, {hidden: drawn(hidden) for hidden in (1, 3)})
    gradients(folder)
    text = PAGE.format(width=WIDTH, networks=NETWORKS, drawn=DRAWN, inputs=INPUTS, wide=WIDE)
    (folder / "guessing-bias.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
