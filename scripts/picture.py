"""Draws docs/img/edges.png, the picture of the README: edges of chaos and correlation maps, from the toolkit itself.

python scripts/picture.py [FILE]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from derive import theory

TARGET = Path(__file__).resolve().parents[1] / "docs" / "img" / "edges.png"
NAMES = {"tanh": "tanh", "erf": "erf", "gelu": "GELU", "silu": "SiLU", "mish": "Mish", "selu": "SELU", "relu": "ReLU"}


def edge(t, variances):
    """The curve (sigma_b, sigma_w) along which V(q) = q and chi = 1, one point a variance q."""
    points = [t.edge_of_chaos(q=q) for q in variances]
    good = [(float(p.sigma_b), float(p.sigma_w)) for p in points if p.valid]
    return np.array(good)


def correlation_map(t, c):
    """C(1, 1, c) on the edge of chaos at q = 1."""
    point = t.edge_of_chaos(q=1)
    f = t.correlation_map.compile("numpy")
    return f(1.0, 1.0, c, sigma_w=float(point.sigma_w), sigma_b=float(point.sigma_b))


def draw(path: Path) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    c = np.linspace(-1, 1, 401)
    for name, label in NAMES.items():
        t = theory(name)
        variances = [f"{q:.4g}" for q in np.geomspace(0.02, 4, 24)] if name != "relu" else ["1"]
        curve = edge(t, variances)
        marker = {"marker": "o", "linestyle": ""} if len(curve) == 1 or np.ptp(curve[:, 0]) == 0 else {}
        (line,) = left.plot(curve[:, 0], curve[:, 1], label=label, **marker)
        right.plot(c, correlation_map(t, c), color=line.get_color())
    left.set(xlabel=r"$\sigma_b$", ylabel=r"$\sigma_w$", xlim=(-0.02, 0.8), title="Edge of chaos: V(q) = q and χ = 1")
    right.plot(c, c, color="0.6", linewidth=0.8, linestyle="--")
    right.set(xlabel="correlation of two inputs", ylabel="after one layer", title="Correlation map on the edge, q = 1")
    left.legend(frameon=False, ncols=2)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET)
