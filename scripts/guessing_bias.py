"""Trains deep networks from four phases on handwritten digits and draws how each loses its initial bias.

python scripts/guessing_bias.py [tanh] [--networks 3] [--steps 300] [--picture docs/img/guessing-bias-training.png]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import torch

from derive import theory
from verify.guessing.data import digits
from verify.guessing.training import absorb, starts
from verify.subject import subject

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "img" / "guessing-bias-training.png"


def main() -> None:
    """Train, print the table, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("activation", nargs="?", default="tanh", help="any with an edge of chaos at this sigma_b")
    parser.add_argument("--variance-b", type=float, default=0.1, help="sigma_b^2 of the biases")
    parser.add_argument("--depth", type=int, default=100)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--networks", type=int, default=3, help="networks of each initialisation")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--rate", type=float, default=3e-5, help="learning rate of Adam")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0, help="of torch; 0: torch's own choice")
    parser.add_argument("--picture", type=Path, default=PICTURE)
    given = parser.parse_args()
    if given.threads:
        torch.set_num_threads(given.threads)
    begun, busy = time.perf_counter(), time.process_time()
    found = absorb(
        subject(given.activation).phi,
        starts(theory(given.activation), given.depth, given.variance_b**0.5),
        digits(),
        depth=given.depth,
        width=given.width,
        steps=given.steps,
        rate=given.rate,
        networks=given.networks,
        seed=given.seed,
        progress=lambda step, of: print(f"\rstep {step} of {of}", end="", flush=True),
    )
    print(f"\r{found}")
    print(f"{time.perf_counter() - begun:.0f} s, {time.process_time() - busy:.0f} s of processor time")
    print(found.plot(given.picture) and given.picture)


if __name__ == "__main__":
    main()
