"""Draws docs/img/pooling.png: where pooling moves the edge of chaos."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from derive import theory

IMG = Path(__file__).parent.parent / "docs" / "img"
VARIANCES = [0.005, 0.02, 0.06, 0.15, 0.4, 0.8, 1.2, 1.7, 2.2, 2.5, 2.6, 2.8, 3.1, 3.5]
EDGES = {
    "tanh, and tanh >> maxpool(2)": "dense >> tanh >> maxpool(2)",
    "tanh >> maxpool(3)": "dense >> tanh >> maxpool(3)",
    "tanh >> avgpool(2)": "dense >> tanh >> avgpool(2)",
    "tanh >> avgpool(3)": "dense >> tanh >> avgpool(3)",
}


def edge(text: str) -> tuple[list[float], list[float]]:
    """(sigma_b^2, sigma_w^2) along the curve of q, where sigma_b^2 >= 0."""
    block, found = theory(text), []
    for q in VARIANCES:
        gain = float(block.chi.number(q=str(q), sigma_w=1))
        noise = q - float(block.second_moment.number(q=str(q))) / gain
        found.append((noise, 1 / gain))
    kept = [pair for pair in found if pair[0] >= 0]
    return [x for x, _ in kept], [y for _, y in kept]


def draw() -> None:
    """Both panels."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for label, text in EDGES.items():
        left.plot(*edge(text), label=label, marker=".", markersize=4)
    left.set(xlim=(0, 0.3), ylim=(0.9, 8), xlabel=r"$\sigma_b^2$", ylabel=r"$\sigma_w^2$", title="edge of chaos, tanh")
    left.legend(fontsize=7, frameon=False)
    sizes = range(1, 7)
    for pool, colour in (("maxpool", "C0"), ("avgpool", "C1")):
        blocks = [theory(f"dense >> relu >> {pool}({k})") for k in sizes]
        keep = [1 / float(b.second_moment.number(q=1)) for b in blocks]
        steady = [1 / float(b.chi.number(q=1, sigma_w=1)) for b in blocks]
        right.plot(sizes, keep, colour, marker="o", markersize=4, label=f"{pool}: variance kept")
        right.plot(sizes, steady, colour, linestyle="--", marker="s", markersize=4, label=f"{pool}: gradients kept")
    right.set(yscale="log", xlabel="units in a window", ylabel=r"$\sigma_w^2$", title="ReLU: no gain keeps both")
    right.legend(fontsize=7, frameon=False)
    IMG.mkdir(exist_ok=True)
    figure.savefig(IMG / "pooling.png", dpi=130)


if __name__ == "__main__":
    draw()
