"""Networks per second: the exact weight-free sampler against a loop over torch.nn.Linear.

Both draw the variances of the pre-activations of independent random networks of width 1024 and depth 20 on one
input; rates are of one run on one machine, only the ratio means something.

    python benchmarks/verify.py [--width 1024] [--depth 20] [--seconds 3] [--threads 2] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

# this file must not shadow the package that bears its name
sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(__file__).resolve().parent]

from verify.conditional import kernels  # noqa: E402
from verify.stream import stream  # noqa: E402

SIGMA_W, SIGMA_B = 1.3, 0.2


def loop_of_linear(width: int, depth: int) -> float:
    """The way it is usually written: a fresh nn.Linear a layer, its weights redrawn, float32. One network."""
    x = torch.nn.functional.normalize(torch.randn(1, width), dim=1) * width**0.5
    with torch.no_grad():
        for _ in range(depth):
            layer = torch.nn.Linear(width, width)
            torch.nn.init.normal_(layer.weight, std=SIGMA_W / width**0.5)
            torch.nn.init.normal_(layer.bias, std=SIGMA_B)
            x = torch.nn.functional.gelu(layer(x))
    return float(x.square().mean())


def weight_free(width: int, depth: int, networks: int, batch: int, dtype: torch.dtype) -> None:
    """The same networks without their weights."""
    gram = torch.full((1, 1), SIGMA_W**2 + SIGMA_B**2, dtype=dtype)
    kernels(
        torch.nn.functional.gelu, gram, width=width, depth=depth + 1, networks=networks, sigma_w=SIGMA_W,
        sigma_b=SIGMA_B, generator=stream(0, 0, batch),
    )  # fmt: skip


def rate(work: Callable[[int], object], each: int, seconds: float) -> float:
    """Networks per second of `work(k)`, which makes `each` networks, after one call to warm up."""
    work(0)
    started, done = time.perf_counter(), 0
    while time.perf_counter() - started < seconds or done < 2:
        done += 1
        work(done)
    return each * done / (time.perf_counter() - started)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--depth", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    shape = (options.width, options.depth)
    rows = {"loop over nn.Linear, float32": rate(lambda k: loop_of_linear(*shape), 1, options.seconds)}
    for dtype in (torch.float64, torch.float32):
        name = f"weight-free sampler, {str(dtype).removeprefix('torch.')}"
        rows[name] = rate(lambda k, dtype=dtype: weight_free(*shape, 256, k, dtype), 256, options.seconds)
    base = rows["loop over nn.Linear, float32"]
    print(f"width {options.width}, depth {options.depth}, {options.threads} threads")
    for name, value in rows.items():
        print(f"{name:32s} {value:12.1f} networks/s   {value / base:8.1f} x")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"width": options.width, "depth": options.depth, "networks_per_second": rows}, file, indent=1)


if __name__ == "__main__":
    main()
