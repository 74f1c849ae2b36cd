"""Writes docs/calibration.md and docs/img/p-values.svg: p-values of true claims over two thousand runs.

python scripts/calibration.py [--share 1] [--folder docs]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from textwrap import fill
from typing import Any

import torch
from scipy.stats import binomtest, kstest, t

from verify.checking import Sampled, checks
from verify.judge import mean_and_error
from verify.stream import stream
from verify.subject import subject
from verify.work import PILOT

ROOT = Path(__file__).resolve().parents[1]
ACTIVATION = "gelu"
WITNESSES = (
    ("sampling on the line", "variance_map", "variance map along q", "sampling", 800),
    ("layers with sampled weights", "variance_map", "variance map along q", "networks", 600),
    ("gradients through sampled weights", "gradient_gain", "gradient gain", "networks", 400),
    ("sampling on the plane", "covariance_map", "covariance map", "sampling", 100),
    ("weight-free networks along depth", "depth_variance", "variance along depth", "weight-free networks", 100),
)
"""Name, check, claim, witness, runs: two thousand in all, fewer where one is dear."""
LEVELS = (0.1, 0.01, 0.001)


def p_values(made: Any, check: str, title: str, witness: str, runs: int) -> Iterator[float]:
    """Two-sided p-values of the claim's last point, a run a seed."""
    claim = next(c for c in checks()[check].claims(made) if c.title == title)
    sampled = next(w for w in claim.witnesses if isinstance(w, Sampled) and w.name == witness)
    predicted = float(claim.points[-1].predicted.mid)
    for seed in range(runs):
        batches = sampled.draw([stream(seed, 0, k) for k in range(PILOT)]).values[:, -1].tolist()
        mean, error = mean_and_error(batches)
        yield 2 * float(t.sf(abs(mean - predicted) / error, PILOT - 1))


def picture(found: dict[str, list[float]], path: Path) -> None:
    """The share of p-values below p less p itself, with the band of 99 % for that many runs."""
    import numpy as np
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 3.2), layout="constrained")
    axes = figure.subplots(1, len(found), sharey=True)
    for (name, values), axis in zip(found.items(), axes, strict=True):
        x = np.sort(values)
        grid = np.linspace(0, 1, 201)
        band = 2.576 * np.sqrt(grid * (1 - grid) / len(x))
        axis.fill_between(grid, -band, band, color="#bbbbbb", alpha=0.5, linewidth=0)
        axis.step(x, np.arange(1, len(x) + 1) / len(x) - x, color="#0072b2", linewidth=1.0)
        axis.set_title(f"{fill(name, 20)}\n{len(x)} runs", fontsize=7)
        axis.set_xlabel("p", fontsize=8)
        axis.tick_params(labelsize=7)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("share below p, less p", fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, format="svg", metadata={"Date": None})


def page(found: dict[str, list[float]]) -> str:
    """The summary."""
    lines = [
        "# Calibration\n",
        "Written by `python scripts/calibration.py`: p-values of true claims about GELU, a run a seed, each the t test",
        f"of the {PILOT} batches that a report starts with. If they are uniform, a true claim is refuted as often as",
        "promised, neither more nor less: standard errors are neither too small nor too large.\n",
        "![Share of p-values below p, less p](img/p-values.svg)\n",
        "The band holds 99 % of such curves point by point.\n",
        f"| witness | runs | Kolmogorov-Smirnov p | {' | '.join(f'below {level:g}' for level in LEVELS)} |",
        f"|---|---|---|{'---|' * len(LEVELS)}",
    ]
    for name, values in found.items():
        shares = []
        for level in LEVELS:
            count = sum(v < level for v in values)
            likely = binomtest(count, len(values), level).pvalue
            shares.append(f"{count} of {level * len(values):g} expected (p = {likely:.2g})")
        lines.append(f"| {name} | {len(values)} | {kstest(values, 'uniform').pvalue:.2g} | {' | '.join(shares)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Draw, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--share", type=float, default=1.0, help="of the runs")
    parser.add_argument("--folder", default=str(ROOT / "docs"))
    parser.add_argument("--json", metavar="FILE", help="also write the p-values")
    options = parser.parse_args()
    torch.set_num_threads(1)
    made, folder = subject(ACTIVATION, seed=0), Path(options.folder)
    found = {
        name: list(p_values(made, check, title, witness, round(options.share * runs)))
        for name, check, title, witness, runs in WITNESSES
    }
    picture(found, folder / "img" / "p-values.svg")
    (folder / "calibration.md").write_text(page(found), encoding="utf-8")
    if options.json:
        Path(options.json).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main()
