"""Deep MLPs alive or dead: torch's default, Kaiming, Xavier, LSUV and `verify.initialise_`.

Networks of 50 layers with eight activations. For each way to initialise: the second moment of the last hidden
pre-activation over that of the first, the squared gradient at the first over that at the last, and 1 - c of two
inputs at the last. Alive: neither ratio is outside [1e-3, 1e3] and 1 - c is above 1e-6. For `initialise_` also how
far the mean of the networks (of width --wide) is from the prediction, and the share of layers inside the predicted
95 % band. The band of the mean is what chance allows: it narrows as 1/sqrt(width networks), and a deviation is told
apart from 10 % only where the band is narrower than that.

    python benchmarks/init.py [--width 512] [--wide 1024] [--depth 50] [--networks 30] [--only gelu]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import torch
from torch import nn

# this file must not shadow a package that bears its name
sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(__file__).resolve().parent]

from verify import diagnose, initialise_  # noqa: E402

ALIVE, APART, FEW = 1e3, 1e-6, 3


class Sine(nn.Module):
    """sin(30 x), as SIREN has it."""

    def forward(self, x):
        """Elementwise."""
        return torch.sin(30 * x)


ACTIVATIONS = {
    "gelu": (nn.GELU, None),
    "silu": (nn.SiLU, None),
    "mish": (nn.Mish, None),
    "tanh": (nn.Tanh, "tanh"),
    "selu": (nn.SELU, "selu"),
    "hard-swish": (nn.Hardswish, None),
    "softplus": (nn.Softplus, None),
    "sin(30x)": (Sine, None),
}


def network(activation, width: int, depth: int) -> nn.Sequential:
    """`depth` layers and a head of ten, with torch's default weights."""
    parts = [part for _ in range(depth) for part in (nn.Linear(width, width), activation())]
    return nn.Sequential(*parts, nn.Linear(width, 10))


def linears(model) -> list[nn.Linear]:
    """The layers with weights."""
    return [part for part in model if isinstance(part, nn.Linear)]


def kaiming(model, batch, gain) -> None:
    """As for a ReLU, which is what torch offers."""
    for layer in linears(model):
        nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
        nn.init.zeros_(layer.bias)


def xavier(model, batch, gain) -> None:
    """With calculate_gain, or 1 where torch has none."""
    for layer in linears(model):
        nn.init.xavier_normal_(layer.weight, nn.init.calculate_gain(gain) if gain else 1.0)
        nn.init.zeros_(layer.bias)


def lsuv(model, batch, gain) -> None:
    """Orthogonal weights, each layer divided by the standard deviation of its output on the batch.

    Source: Mishkin & Matas 2016 (arXiv 1511.06422), algorithm 1.
    """
    x = batch
    with torch.no_grad():
        for part in model:
            if isinstance(part, nn.Linear):
                nn.init.orthogonal_(part.weight)
                nn.init.zeros_(part.bias)
                for _ in range(10):
                    spread = float(part(x).std())
                    if abs(spread - 1) < 0.01 or spread == 0:
                        break
                    part.weight /= spread
            x = part(x)


def default(model, batch, gain) -> None:
    """What nn.Linear does by itself."""


def ours(model, batch, gain) -> None:
    """`verify.initialise_`."""
    initialise_(model, batch, seed=int(torch.initial_seed()) % 2**31)


WAYS = {"torch": default, "Kaiming": kaiming, "Xavier": xavier, "LSUV": lsuv, "eoc": ours}


def ends(model, batch) -> tuple[float, float, float]:
    """(last over first second moment, first over last squared gradient, 1 - c at the last hidden layer)."""
    x, seen = batch, []
    for part in model:
        x = part(x)
        if isinstance(part, nn.Linear):
            x.retain_grad()
            seen.append(x)
    (x * torch.randn_like(x)).sum().backward()
    first, last = seen[0], seen[-2]
    moments = [float((h.detach().double() ** 2).mean()) for h in (first, last)]
    gradients = [float((h.grad.double() ** 2).sum()) for h in (first, last)]
    a, b = last.detach().double()[:2]
    apart = 1 - float(a @ b / (a.norm() * b.norm())) if float(a.norm() * b.norm()) > 0 else 0.0
    return moments[1] / moments[0], _ratio(gradients), apart


def _ratio(pair: list[float]) -> float:
    return pair[0] / pair[1] if pair[1] > 0 else float("nan")


def one(name: str, way: str, args) -> dict:
    """The geometric mean of a few networks."""
    activation, gain = ACTIVATIONS[name]
    rows = []
    for seed in range(FEW):
        torch.manual_seed(seed)
        batch = torch.randn(args.inputs, args.width)
        model = network(activation, args.width, args.depth)
        WAYS[way](model, batch, gain)
        rows.append(ends(model, batch))
    moment, gradient, apart = torch.tensor(rows, dtype=torch.float64).log().mean(0).exp().tolist()
    sizes = all(1 / ALIVE < size < ALIVE for size in (moment, gradient))
    return {"moment": moment, "gradient": gradient, "apart": apart, "alive": sizes and apart > APART}


def against_prediction(name: str, args) -> dict:
    """Means over many networks after `initialise_`, against what was predicted for them."""
    torch.manual_seed(0)
    batch = torch.randn(args.inputs, args.wide)
    model = network(ACTIVATIONS[name][0], args.wide, args.depth)
    changes = initialise_(model, batch)
    rows = [r for r in diagnose(model, batch, networks=args.networks, seed=1).rows if r.sigma_w is not None][:-1]
    found: dict = {"point": vars_of(changes.points[0]), "layers": len(rows)}
    for what in ("moment", "gradient"):
        pairs = [(getattr(r.measured, what), getattr(r.predicted, what), r.predicted.band(what, args.networks))
                 for r in rows]  # fmt: skip
        found[f"{what} off"] = max(abs(m / p - 1) for m, p, _ in pairs)
        found[f"{what} in band"] = sum(low <= m <= high for m, _, (low, high) in pairs) / len(pairs)
        found[f"{what} band"] = max(max(high / p, p / low) - 1 for _, p, (low, high) in pairs)
        found[f"{what} within 10 %"] = sum(abs(m / p - 1) < 0.1 for m, p, _ in pairs) / len(pairs)
    return found


def vars_of(point) -> dict:
    """The numbers of an operating point."""
    return {name: getattr(point, name) for name in ("q", "sigma_w", "sigma_b", "chi", "chi_parallel", "reason")}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for flag, usual in (("width", 512), ("wide", 1024), ("depth", 50), ("networks", 30), ("inputs", 8), ("threads", 2)):
        parser.add_argument(f"--{flag}", type=int, default=usual)
    parser.add_argument("--only", choices=[*ACTIVATIONS], action="append")
    parser.add_argument("--json")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    result: dict = {}
    print("moment last/first, gradient^2 first/last, 1 - c at the last hidden layer")
    for name in args.only or ACTIVATIONS:
        result[name] = {way: one(name, way, args) for way in WAYS}
        for way, row in result[name].items():
            mark = "alive" if row["alive"] else "DEAD"
            print(f"{name:11s}{way:9s}{row['moment']:10.2e}{row['gradient']:10.2e}{row['apart']:10.2e}  {mark}")
        started = time.process_time()
        told = result[name]["prediction"] = against_prediction(name, args)
        point = told["point"]
        print(
            f"  mean of {args.networks}: moment off by {told['moment off']:.1%}, {told['moment in band']:.0%} of "
            f"layers in the band (up to {told['moment band']:.0%} wide); gradient {told['gradient off']:.1%}, "
            f"{told['gradient in band']:.0%} ({told['gradient band']:.0%})\n"
            f"  q = {point['q']:.3g}, sigma_w = {point['sigma_w']:.4f}, sigma_b = {point['sigma_b']:.4f}, "
            f"chi_parallel = {point['chi_parallel']:.3f}: {point['reason']} ({time.process_time() - started:.0f} s)",
            flush=True,
        )
    if args.json:
        Path(args.json).write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
