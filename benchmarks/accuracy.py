"""Accuracy of emitted covariance maps: the table in docs/code.md.

    python benchmarks/accuracy.py [--write] [--points 60] [--jax] [NAME ...]

The worst error over a grid and random points, q1 and q2 in [1e-12, 1e6], c in [-1, 1], ends included, against the
emitted mpmath code at 60 digits. Errors are in units of sqrt(m2(q1) m2(q2)), m2(q) = E phi(x)^2; the last column is the
relative error of NumPy in float64 over the condition number 1 + (|q1 dK/dq1| + |q2 dK/dq2| + |c dK/dc|)/|K|, in units
of the last place. Maps with Phi_2 are slow in mpmath and get a tenth of the points.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from mpmath import mp

from derive import theory
from derive.catalogue import names
from derive.records import EocError, Kind

PAGE = Path(__file__).resolve().parents[1] / "docs" / "code.md"
VARIANCES = (1e-12, 1e-6, 1e-2, 1.0, 100.0, 1e6)
CORRELATIONS = (-1.0, -1 + 1e-12, -0.999999, -0.5, -0.367, 0.0, 0.25, 0.99, 1 - 1e-12, 1.0)
EPS = float(np.finfo(float).eps)


def points(count: int, seed: str) -> Iterator[tuple[float, float, float]]:
    """As many points, half of them from the grid, half random with log-uniform variances; c = 1 - e and e - 1 too."""
    source = random.Random(seed)
    grid = [(a, b, c) for a, b, c in itertools.product(VARIANCES, VARIANCES, CORRELATIONS) if a <= b]
    yield from source.sample(grid, min(len(grid), count // 2))
    for _ in range(count - count // 2):
        near = 10 ** source.uniform(-15, 0)
        c = source.choice((source.uniform(-1, 1), 1 - near, near - 1))
        yield 10 ** source.uniform(-12, 6), 10 ** source.uniform(-12, 6), c


def parameters(t: Any) -> dict[str, float]:
    """A number inside each parameter's domain."""
    found = {}
    for name, domain in t.domains:
        low, high = float(domain.lower), float(domain.upper)
        beside = low + 1 if math.isfinite(low) else high - 1
        found[name] = 0.75 if low < 0.75 < high else (low + high) / 2 if math.isfinite(low + high) else beside
    return found


def condition(kernel: Callable[..., Any], point: tuple[float, float, float], given: dict[str, float]) -> Any:
    """1 + the sum of |x dK/dx|/|K|, by differences (one-sided in c at the ends)."""
    value, total = kernel(*point, **given), mp.mpf(1)
    if value == 0:
        return mp.inf
    for place in range(3):
        step = mp.mpf(10) ** -25
        moved = [mp.mpf(x) for x in point]
        moved[place] = moved[place] * (1 - step)
        total += abs((kernel(*moved, **given) - value) / (value * step))
    return total


def worst(name: str, count: int, with_jax: bool) -> dict[str, float] | None:
    """The worst error of each backend and precision; None without a closed form."""
    t = theory("sin(x)" if name == "sin" else name)
    if t.covariance_map.kind not in (Kind.EXACT, Kind.SPECIAL):
        return None
    given, count = parameters(t), count if t.covariance_map.kind is Kind.EXACT else max(4, count // 10)
    given = {k: v for k, v in given.items() if k in t.covariance_map.parameters}
    kernels = {b: t.covariance_map.compile(b) for b in ("numpy", "torch", *(("jax",) if with_jax else ()), "mpmath")}
    moment, truth_of = t.second_moment.compile("mpmath"), kernels.pop("mpmath")
    found = {f"{backend} {p}": 0.0 for p in ("float64", "float32") for backend in kernels}
    found["ulp"] = 0.0
    for exact in points(count, name):
        for precision in ("float64", "float32"):
            point = [getattr(np, precision)(v) for v in exact]
            if abs(point[2]) > 1:
                continue
            at = tuple(float(v) for v in point)
            with mp.workdps(60):
                truth = truth_of(*at, **given)
                scale = mp.sqrt(moment(at[0], **given) * moment(at[1], **given))
                error = {b: abs(mp.mpf(_value(b, f, point, given)) - truth) / scale for b, f in kernels.items()}
            for backend, size in error.items():
                key = f"{backend} {precision}"
                found[key] = math.nan if mp.isnan(size) else max(found[key], float(size))
            if precision == "float64" and t.covariance_map.kind is Kind.EXACT and abs(truth) > 1e-290:
                with mp.workdps(60):
                    relative = error["numpy"] * scale / (abs(truth) * condition(truth_of, at, given))
                found["ulp"] = max(found["ulp"], float(relative) / EPS)
    return found


def _value(backend: str, kernel: Callable[..., Any], point: list[Any], given: dict[str, float]) -> float:
    if backend == "torch":
        return float(kernel(*(torch.tensor(v) for v in point), **given))
    return float(kernel(*point, **given))


def closed_names() -> Iterator[str]:
    """Catalogue entries whose covariance map is closed."""
    for name in names():
        try:
            if theory(name).covariance_map.kind in (Kind.EXACT, Kind.SPECIAL):
                yield name
        except (EocError, AttributeError):
            continue


def main() -> None:
    """Print the table, or write it between its two marks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--points", type=int, default=60)
    parser.add_argument("--jax", action="store_true")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    if asked.jax:
        import jax

        jax.config.update("jax_enable_x64", True)
    lines: list[str] = []
    for name in asked.names or closed_names():
        row = worst(name, asked.points, asked.jax)
        if row is None:
            continue
        if not lines:
            lines = ["| activation | " + " | ".join(row) + " |", "|---" * (len(row) + 1) + "|"]
        ulp = row.pop("ulp")
        lines.append(
            f"| {name} | " + " | ".join(f"{v:.0e}" for v in row.values()) + f" | {f'{ulp:.2g}' if ulp else '–'} |"
        )
        print(lines[-1], flush=True)
    if asked.write:
        text = PAGE.read_text(encoding="utf-8")
        before, _, rest = text.partition("<!-- accuracy -->\n")
        _, _, after = rest.partition("<!-- end -->\n")
        PAGE.write_text(
            f"{before}<!-- accuracy -->\n" + "\n".join(lines) + f"\n<!-- end -->\n{after}", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
