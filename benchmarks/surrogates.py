"""Pairs a second of emitted surrogates of pair maps without a closed form, in one run.

    python benchmarks/surrogates.py [--side 1000] [--threads 2] [--backend torch] [--compile]
                                    [--peer-python PATH] [--json FILE]

float64. For each activation and largest variance, against
  before  the quadrature that emitted code falls back on, on fewer pairs (the rate is the same question)
  peer    neural-tangents' ElementwiseNumerical at degree 25 under jit on a Gram matrix of tanh (its error is about
          4e-7), run with `--peer-python`, an interpreter that has neural-tangents 0.6.5
Gram: variances a row and a column, covariances a pair. Triples: (q1, q2, c) a pair, q1 = q2 and free.
The error is the largest of a few pairs over sqrt(E phi(u)^2 E phi(v)^2), against certified enclosures.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from derive import theory

ACTIVATIONS = {"tanh": "tanh(x)", "silu": "silu", "mish": "mish", "softplus": "log(1+exp(x))"}
TOPS = (1, 2, 10, 100)
PEER = """
import sys, time, types
sys.modules["neural_tangents.experimental"] = types.ModuleType("experimental")
import jax
jax.config.update("jax_enable_x64", True)
from neural_tangents import stax
side = int(sys.argv[1])
x = jax.random.normal(jax.random.PRNGKey(0), (side, 40), dtype="float64")
layers = stax.serial(stax.Dense(1), stax.ElementwiseNumerical(jax.numpy.tanh, deg=25))
kernel = jax.jit(lambda x: layers[2](x, x, "nngp"))
kernel(x).block_until_ready()
best = 1e9
for _ in range(3):
    start = time.perf_counter()
    kernel(x).block_until_ready()
    best = min(best, time.perf_counter() - start)
print(side*side/best)
"""


def rate(work: Callable[[], Any], pairs: int, seconds: float = 1.0) -> float:
    """Pairs a second: the best of repeats within about that many seconds, after one warm-up."""
    work()
    best, spent = float("inf"), 0.0
    while spent < seconds:
        start = time.perf_counter()
        work()
        took = time.perf_counter() - start
        best, spent = min(best, took), spent + took
    return pairs / best


def peer(python: str, side: int) -> float:
    """Pairs a second of neural-tangents' numerical path."""
    found = subprocess.run([python, "-W", "ignore", "-c", PEER, str(side)], capture_output=True, text=True, check=True)
    return float(found.stdout.split()[-1])


def ours(kernel: Callable[..., Any], asarray: Callable[..., Any], top: float, side: int) -> dict[str, float]:
    """Pairs a second of a kernel for variances from top/100 to top."""
    draw = np.random.default_rng(0)
    q, c = top * (0.01 + 0.99 * draw.random(side)), 2 * draw.random((side, side)) - 1
    rows, columns, every = asarray(q[:, None]), asarray(q[None]), asarray(c)
    many = min(side * side, 200000)
    q1, q2 = (asarray(top * (0.01 + 0.99 * draw.random(many))) for _ in range(2))
    some = asarray(c.reshape(-1)[:many].copy())
    return {
        "gram": rate(lambda: kernel(rows, columns, every), side * side),
        "same q": rate(lambda: kernel(q1, q1, some), many),
        "free": rate(lambda: kernel(q1, q2, some), many),
    }


def before(text: str, top: float) -> float:
    """Pairs a second of the quadrature, which a module of a kinked twin of the activation still calls."""
    kernel = theory(f"Piecewise(({text}, x > -1000), (0, True))").covariance_map.compile("numpy")
    draw = np.random.default_rng(0)
    return rate(lambda: kernel(*(top * draw.random((2, 16))), 1.8 * draw.random(16) - 0.9), 16)


def error(text: str, kernel: Callable[..., Any], top: float) -> float:
    """The largest error of a few pairs."""
    t, worst = theory(text), 0.0
    for q1, q2, c in ((top, top, 1), (top, top / 8, 0.75), (top, top / 1024, -1), (top / 2, top, -0.5)):
        size = (float(t.second_moment.number(q=q1)) * float(t.second_moment.number(q=q2))) ** 0.5
        want = float(t.covariance_map.number(q1=q1, q2=q2, c=c))
        worst = max(worst, abs(float(kernel(q1, q2, c)) - want) / size)
    return worst


def kernels(text: str, top: float, backend: str, compiled: bool) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The emitted function of a box and what makes its arrays."""
    kernel = theory(text).covariance_map.compile(backend, box=top)
    if backend == "jax":
        import jax

        jax.config.update("jax_enable_x64", True)
        fast = jax.jit(kernel)
        return lambda *given: fast(*given).block_until_ready(), jax.numpy.asarray
    if backend == "torch":
        return torch.compile(kernel) if compiled else kernel, torch.tensor
    return kernel, np.asarray


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--backend", choices=("numpy", "torch", "jax"), default="torch")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--peer-python")
    parser.add_argument("--activation", choices=sorted(ACTIVATIONS), action="append")
    parser.add_argument("--json")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    rows = []
    for name in given.activation or ACTIVATIONS:
        text = ACTIVATIONS[name]
        for top in TOPS:
            kernel, asarray = kernels(text, top, given.backend, given.compile)
            row: dict[str, Any] = {"activation": name, "q up to": top, **ours(kernel, asarray, top, given.side)}
            row["error"] = error(text, kernels(text, top, "numpy", False)[0], top)
            row["gram / before"] = row["gram"] / before(text, top)
            if given.peer_python:
                row["peer"] = peer(given.peer_python, min(given.side, 300))
                row |= {f"{kind} / peer": row[kind] / row["peer"] for kind in ("gram", "same q", "free")}
            rows.append(row)
            shown = (f"{k} {v:.2g}" for k, v in row.items() if k != "activation")
            print(f"{name:8s}", "  ".join(shown), flush=True)
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
