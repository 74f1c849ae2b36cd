"""Pairs a second of emitted covariance maps in Gram form, against hand-written torch and SciPy's dblquad, in one run.

    python benchmarks/kernels.py [--side 1000] [--compile] [--json FILE]

A Gram matrix of side x side pairs, float64: variances a row and a column, correlations a pair.
  eager, compiled   the emitted torch function, as it is and under torch.compile (with --compile)
  jax               the emitted JAX function under jit, where JAX is installed
  by hand           the textbook formula in torch, for the activations that have one (Cho & Saul 2009 for ReLU,
                    Williams 1997 for erf); for the others Gauss-Hermite with 25 x 25 points, as libraries do
  dblquad           one value by SciPy, default tolerances, as research code does it
Without a closed form the emitted function is asked for fewer pairs; the rate is the same question.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from scipy import integrate

from derive import Activation, theory

CLOSED = {"relu": "relu", "gelu": "gelu", "erf": "erf(x)", "sin": "sin(x)"}
OPEN = {"tanh": "tanh(x)", "silu": "silu", "mish": "mish"}


def rate(work: Callable[[], Any], pairs: int, seconds: float = 0.5) -> float:
    """Pairs a second: the best of repeats within about that many seconds, after one warm-up."""
    work()
    best, spent = math.inf, 0.0
    while spent < seconds:
        start = time.perf_counter()
        work()
        took = time.perf_counter() - start
        best, spent = min(best, took), spent + took
    return pairs / best


def gram(side: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Variances of rows and columns, and correlations."""
    generator = torch.Generator().manual_seed(0)
    q = 0.2 + 0.8 * torch.rand(side, dtype=torch.float64, generator=generator)
    c = 2 * torch.rand(side, side, dtype=torch.float64, generator=generator) - 1
    return q[:, None], q[None, :], c


def by_hand(name: str) -> Callable[..., torch.Tensor]:
    """What a user would write."""
    if name == "relu":
        return _arc_cosine
    if name == "erf":
        return _arc_sine
    phi = Activation({**CLOSED, **OPEN}[name]).compile("torch")
    nodes, weights = np.polynomial.hermite_e.hermegauss(25)
    z, w = torch.tensor(nodes), torch.tensor(weights / math.sqrt(2 * math.pi))

    def quadrature(q1: torch.Tensor, q2: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
        u = phi(torch.sqrt(q1)[..., None, None] * z[:, None])
        inner = c[..., None, None] * z[:, None] + torch.sqrt(1 - c * c)[..., None, None] * z
        v = phi(torch.sqrt(q2)[..., None, None] * inner)
        return (u * v * w[:, None] * w).sum((-1, -2))

    return quadrature


def _arc_cosine(q1: torch.Tensor, q2: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    angle = torch.arccos(c)
    return torch.sqrt(q1 * q2) * (torch.sin(angle) + (math.pi - angle) * c) / (2 * math.pi)


def _arc_sine(q1: torch.Tensor, q2: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    return 2 / math.pi * torch.arcsin(2 * c * torch.sqrt(q1 * q2) / torch.sqrt((1 + 2 * q1) * (1 + 2 * q2)))


def dblquad(name: str) -> float:
    """Pairs a second of one value at q1 = q2 = 1, c = 0.5."""
    phi = Activation({**CLOSED, **OPEN}[name]).compile("numpy")
    side = math.sqrt(0.75)

    def integrand(y: float, x: float) -> float:
        return float(phi(x)) * float(phi(0.5 * x + side * y)) * math.exp(-(x * x + y * y) / 2) / (2 * math.pi)

    start = time.perf_counter()
    integrate.dblquad(integrand, -8, 8, -8, 8)
    return 1 / (time.perf_counter() - start)


def with_jax(text: str, side: int) -> float | None:
    """Pairs a second under jit, None without JAX."""
    try:
        import jax
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    kernel = jax.jit(theory(text).covariance_map.compile("jax"))
    arguments = [jax.numpy.asarray(a.numpy()) for a in gram(side)]
    return rate(lambda: kernel(*arguments).block_until_ready(), side * side)


def measure(name: str, text: str, side: int, compiled: bool) -> dict[str, Any]:
    """One row: pairs a second of every way."""
    closed = name in CLOSED
    size = side if closed else 20
    kernel = theory(text).covariance_map.compile("torch")
    arguments = gram(size)
    row: dict[str, Any] = {"activation": name, "eager": rate(lambda: kernel(*arguments), size * size)}
    if compiled and closed:
        fast = torch.compile(kernel)
        row["compiled"] = rate(lambda: fast(*arguments), size * size)
    row["jax"] = with_jax(text, size)
    mine = by_hand(name)
    few = gram(side if name in ("relu", "erf") else 60)
    row["by hand"] = rate(lambda: mine(*few), few[2].numel())
    row["dblquad"] = dblquad(name)
    best = max(row[key] or 0 for key in ("eager", "compiled", "jax") if key in row)
    row["best / by hand"], row["best / dblquad"] = best / row["by hand"], best / row["dblquad"]
    return row


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", type=int, default=1000)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--json")
    given = parser.parse_args()
    torch.set_num_threads(2)
    rows = []
    for name, text in {**CLOSED, **OPEN}.items():
        rows.append(measure(name, text, given.side, given.compile))
        shown = (f"{k} {v:.2g}" if isinstance(v, float) else f"{k} -" for k, v in rows[-1].items() if k != "activation")
        print(f"{name:6s}", "  ".join(shown), flush=True)
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
