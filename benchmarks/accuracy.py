"""Accuracy of emitted covariance maps: the table in docs/code.md.

    python benchmarks/accuracy.py [--write] [NAME ...]

The worst error over q1 <= q2 in {1e-12, ..., 1e6} and c in [-1, 1], ends included, in units of
sqrt(m2(q1) m2(q2)), m2(q) = E phi(x)^2, against certified numbers; in float64 and float32, NumPy and torch.
"""

from __future__ import annotations

import argparse
import itertools
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import torch

from derive import theory

PAGE = Path(__file__).resolve().parents[1] / "docs" / "code.md"
NAMES = {
    "relu": {}, "leaky_relu": {"a": "0.125"}, "abs": {}, "squared_relu": {}, "erf": {}, "gelu": {}, "sin": {},
    "elu": {"alpha": "0.75"}, "selu": {},
}  # fmt: skip
VARIANCES = ("1e-12", "1e-6", "1e-2", "1", "100", "1e6")
CORRELATIONS = ("-1", "-0.999999", "-0.5", "0", "0.25", "0.99", "1")


def worst(name: str) -> dict[str, float]:
    """The worst error of each backend and precision."""
    t, given = theory("sin(x)" if name == "sin" else name), NAMES[name]
    floats = {k: float(v) for k, v in given.items()}
    kernel = {"numpy": t.covariance_map.compile("numpy"), "torch": t.covariance_map.compile("torch")}
    found = dict.fromkeys(("numpy float64", "torch float64", "numpy float32", "torch float32"), 0.0)
    for precision in ("float64", "float32"):
        grid = VARIANCES if precision == "float64" else VARIANCES[1:-1]
        for q1, q2, c in itertools.product(grid, grid, CORRELATIONS):
            if float(q1) > float(q2):
                continue
            point = [getattr(np, precision)(v) for v in (q1, q2, c)]
            at = [Fraction(float(v)) for v in point]  # what the number in that precision is
            scale = math.sqrt(math.prod(float(t.second_moment.number(q=q, **given)) for q in at[:2]))
            truth = float(t.covariance_map.number(q1=at[0], q2=at[1], c=at[2], **given))
            for backend, f in kernel.items():
                arguments = [torch.tensor(v) for v in point] if backend == "torch" else point
                error = abs(float(f(*arguments, **floats)) - truth) / scale
                key = f"{backend} {precision}"
                found[key] = max(found[key], error) if error == error else math.nan
    return found


def main() -> None:
    """Print the table, or write it between its two marks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    lines: list[str] = []
    for name in given.names or NAMES:
        row = worst(name)
        if not lines:
            lines = ["| activation | " + " | ".join(row) + " |", "|---" * (len(row) + 1) + "|"]
        lines.append(f"| {name} | " + " | ".join(f"{value:.0e}" for value in row.values()) + " |")
        print(lines[-1], flush=True)
    if given.write:
        text = PAGE.read_text(encoding="utf-8")
        before, _, rest = text.partition("<!-- accuracy -->\n")
        _, _, after = rest.partition("<!-- end -->\n")
        PAGE.write_text(
            f"{before}<!-- accuracy -->\n" + "\n".join(lines) + f"\n<!-- end -->\n{after}", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
