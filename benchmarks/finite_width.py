"""Finite width: networks per second without weights, and the time to resolve a mean correction.

1. Random networks of width 1024 and depth 20 on one input, per second: the weight-free chain (float64) against a loop
   over torch.nn.Linear (float32, weights redrawn). Goal: 300 times.
2. K1 of tanh at width 128, layer 20, sigma_w = 1: seconds until its standard error is 1 %. Goal: 2 s.

    python benchmarks/finite_width.py [--width 1024] [--depth 20] [--seconds 3] [--threads 2] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
import torch

# this file must not shadow a package that bears its name
sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(__file__).resolve().parent]

from verify.finite_width.chains import chains  # noqa: E402
from verify.finite_width.estimates import estimate  # noqa: E402
from verify.finite_width.tables import OneLayer  # noqa: E402
from verify.stream import stream  # noqa: E402

FASTER, WITHIN = 300.0, 2.0


def loop_of_linear(width: int, depth: int) -> float:
    """The way it is usually written: a fresh nn.Linear a layer, its weights redrawn. One network."""
    x = torch.nn.functional.normalize(torch.randn(1, width), dim=1) * width**0.5
    with torch.no_grad():
        for _ in range(depth):
            layer = torch.nn.Linear(width, width, bias=False)
            torch.nn.init.normal_(layer.weight, std=(2 / width) ** 0.5)
            x = torch.relu(layer(x))
    return float(x.square().mean())


def rate(work, each: int, seconds: float) -> float:
    """Networks per second of `work(k)`, which makes `each` networks, after one call to warm up."""
    work(0)
    started, done = time.perf_counter(), 0
    while time.perf_counter() - started < seconds or done < 2:
        done += 1
        work(done)
    return each * done / (time.perf_counter() - started)


def resolve(width: int, layers: int, accuracy: float) -> tuple[float, float, float, int]:
    """(seconds, K1, standard error, networks) until the standard error of n (E G - K) is `accuracy` of it."""
    started, found, layer, each = time.perf_counter(), [], OneLayer(torch.tanh), 125
    below = [width] * (layers - 1)
    while True:
        drawn = chains(torch.tanh, 1.0, below, 1.0, 0.0, each, stream(0, 0, len(found)))
        found.append(estimate(layer, drawn, below, 1.0, 0.0).correction[-1])
        mean, error = np.mean(found), np.std(found, ddof=1) / len(found) ** 0.5 if len(found) > 1 else np.inf
        if len(found) >= 8 and error < accuracy * abs(mean):
            return time.perf_counter() - started, float(mean), float(error), each * len(found)


def main() -> int:
    """Measure, print, and say by the exit status whether both goals were met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--depth", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    below = [options.width] * options.depth
    slow = rate(lambda k: loop_of_linear(options.width, options.depth), 1, options.seconds)
    fast = rate(
        lambda k: chains(torch.relu, 1.0, below, 2**0.5, 0.0, 512, stream(0, 0, k)), 512, options.seconds
    )  # fmt: skip
    print(f"width {options.width}, depth {options.depth}, {options.threads} threads")
    print(f"loop over nn.Linear  {slow:10.1f} networks/s")
    print(f"weight-free chain    {fast:10.1f} networks/s  {fast / slow:.0f} x")
    seconds, mean, error, networks = resolve(128, 20, 0.01)
    print(f"K1 of tanh, width 128, layer 20: {mean:.5f} ± {error:.5f} in {seconds:.2f} s ({networks} networks)")
    if options.json:
        found = {"loop": slow, "chain": fast, "ratio": fast / slow, "seconds": seconds, "K1": mean, "error": error}
        Path(options.json).write_text(json.dumps(found, indent=1), encoding="utf-8")
    return 0 if fast / slow >= FASTER and seconds <= WITHIN else 1


if __name__ == "__main__":
    sys.exit(main())
