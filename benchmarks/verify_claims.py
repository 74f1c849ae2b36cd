"""What a claim costs at equal statistical error: the witnesses against a loop over networks of torch.nn.Linear.

For each claim the loop is the way it is usually written: a fresh layer of width 1024 a network, its weights drawn in
float32, the statistic averaged over its units. Cost is variance of a batch times its seconds, so that the ratio is one
of seconds at equal standard error, whatever the sizes. Roofline: random numbers and multiplications of the networks
witness at this machine's measured peak, against its time. Only ratios of one run mean something.

    python benchmarks/verify_claims.py [--seconds 2] [--threads 1] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

# a neighbour of this file must not shadow the package that bears its name
sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(__file__).resolve().parent]

from verify.checking import checks  # noqa: E402
from verify.networks import layer  # noqa: E402
from verify.stream import normals, stream  # noqa: E402
from verify.subject import subject  # noqa: E402

WIDTH = 1024
CLAIMS = (
    ("variance_map", "variance map along q"),
    ("gradient_gain", "gradient gain"),
    ("covariance_map", "covariance map"),
)


def loop(check: str, point: dict[str, Any]) -> float:
    """One network of the loop: its statistic at the point."""
    gelu, v = torch.nn.functional.gelu, {name: float(value) for name, value in point.items()}
    count = 2 if check == "covariance_map" else 1
    q, q2, c = v.get("q", v.get("q1", 1.0)), v.get("q2", 1.0), v.get("c", 0.0)
    rows = [torch.randn(WIDTH)]
    rows[0] *= (WIDTH * q) ** 0.5 / rows[0].norm()
    if count == 2:
        other = torch.randn(WIDTH)
        other -= rows[0] * (other @ rows[0]) / (rows[0] @ rows[0])
        other *= WIDTH**0.5 / other.norm()
        rows.append(q2**0.5 * (c * rows[0] / q**0.5 + ((1 - c) * (1 + c)) ** 0.5 * other))
    first = torch.nn.Linear(WIDTH, WIDTH, bias=False)
    torch.nn.init.normal_(first.weight, std=WIDTH**-0.5)
    z = first(torch.stack(rows)).detach().requires_grad_(True)
    if check == "gradient_gain":
        second = torch.nn.Linear(WIDTH, WIDTH, bias=False)
        torch.nn.init.normal_(second.weight, std=v["sigma_w"] * WIDTH**-0.5)
        above = torch.randn(1, WIDTH)
        (below,) = torch.autograd.grad(second(gelu(z)), z, grad_outputs=above)
        return float(below.square().sum() / above.square().sum())
    y = gelu(z).detach()
    if check == "covariance_map":
        return float((y[0] * y[1]).mean())
    return v["sigma_w"] ** 2 * float(y.square().mean()) + v["sigma_b"] ** 2


def cost(draw: Callable[[int], torch.Tensor], seconds: float) -> tuple[torch.Tensor, float]:
    """(Variance times seconds of one batch, seconds of one batch); draw(k) gives (batches, points)."""
    draw(0)
    rows, started, k = [], time.perf_counter(), 0
    while time.perf_counter() - started < seconds or sum(len(r) for r in rows) < 40:
        k += 1
        rows.append(draw(k))
    batches = torch.cat(rows)
    each = (time.perf_counter() - started) / len(batches)
    return batches.var(0) * each, each


def peaks(seconds: float) -> dict[str, float]:
    """Normals and multiply-adds a second of float64 on this machine."""
    generator, a = stream(0, 0, 0), torch.randn(1024, 1024, dtype=torch.float64)
    found = {}
    work = {
        "normals": (1 << 16, lambda: normals((1 << 16,), generator, torch.float64)),
        "flops": (2 * 1024**3, lambda: a @ a),
    }
    for name, (count, run) in work.items():
        run()
        started, done = time.perf_counter(), 0
        while time.perf_counter() - started < seconds:
            run()
            done += 1
        found[name] = count * done / (time.perf_counter() - started)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    made, peak, table = subject("gelu"), peaks(options.seconds / 2), {}
    for check, title in CLAIMS:
        claim = next(c for c in checks()[check].claims(made) if c.title == title)
        point = dict(claim.points[-1 if check != "covariance_map" else 3].values)
        place = [p.values for p in claim.points].index(tuple(point.items()))
        base, _ = cost(lambda k, check=check, point=point: torch.tensor([[loop(check, point)]]), options.seconds)
        row = {}
        for witness in claim.witnesses:
            if not hasattr(witness, "draw"):
                continue
            found, each = cost(
                lambda k, w=witness: w.draw([stream(0, k, j) for j in range(20)]).values, options.seconds
            )
            row[witness.name] = float(base[0] / found[place])
            if witness.name == "networks":
                inputs, out = (
                    (2, 0) if check == "covariance_map" else (1, layer.FAN_OUT if check == "gradient_gain" else 0)
                )
                units = layer.NETWORKS * layer.WIDTH
                drawn = units * (inputs + out) / peak["normals"]
                multiplied = units * len(claim.points) * (2 * inputs * inputs + 4 * out) / peak["flops"]
                row["share of the roofline"] = (drawn + multiplied) / each
        table[title] = row
        print(f"{title:24s} " + "   ".join(f"{name} {value:.3g}" for name, value in row.items()))
    print(f"peaks: {peak['normals']:.2g} normals/s, {peak['flops']:.2g} flop/s; {options.threads} threads")
    if options.json:
        Path(options.json).write_text(json.dumps({"ratios": table, "peaks": peak}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
