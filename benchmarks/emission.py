"""Pairs a second of emitted kernels in Gram form against neural-tangents' hand-written ones: the table in docs/code.md.

    python benchmarks/emission.py [--side 1000] [--rounds 15] [--peer-python PATH] [--write] [NAME ...]

Gram form: a variance a row, a variance a column, a covariance a pair; float64, two threads. Every way is called once a
round, in turn, so that a busy machine slows all of them alike; the rate is that of the fastest round, and ratios are of
one run. --peer-python names a Python that has neural-tangents (with a JAX it still works with); without it the peer is
left out, and the table says so.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_name] = "2"

import numpy as np  # noqa: E402
import torch  # noqa: E402

from derive import theory  # noqa: E402

PAGE = Path(__file__).resolve().parents[1] / "docs" / "code.md"
NAMES: dict[str, dict[str, float]] = {
    "relu": {}, "leaky_relu": {"a": 0.125}, "abs": {}, "squared_relu": {}, "erf": {}, "gelu": {}, "sin": {}, "cos": {},
    "elu": {"alpha": 1.0},
}  # fmt: skip
WAYS = ("numpy", "torch", "torch.compile", "jax")


class Peer:
    """neural-tangents in a process of its own; asked for one call at a time."""

    def __init__(self, python: str, file: str) -> None:
        script = Path(__file__).with_name("peer_kernels.py")
        self.file = file
        self.process = subprocess.Popen([python, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def seconds(self, name: str) -> float:
        """One call; infinite where it has no such kernel."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{name} {self.file}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        return math.inf if answer == "none" else float(answer)


def gram(side: int) -> dict[str, np.ndarray]:
    """Variances of rows and columns, and covariances: those of random inputs."""
    generator = np.random.default_rng(0)
    x, y = generator.normal(size=(2, side, 64))
    return {"K": x @ y.T / 64, "q1": (x * x).mean(1), "q2": (y * y).mean(1)}


def ways(name: str, given: dict[str, np.ndarray]) -> dict[str, Callable[[], Any]]:
    """Each way to call the emitted kernel on covariances."""
    keywords = NAMES.get(name, {})
    result = theory("sin(x)" if name == "sin" else name).covariance_map

    def mapped(kernel: Callable[..., Any], root: Callable[..., Any]) -> Callable[..., Any]:
        def on_covariances(k: Any, q1: Any, q2: Any) -> Any:
            q1, q2 = q1[:, None], q2[None, :]
            return kernel(q1, q2, k / (root(q1) * root(q2)), **keywords)

        return on_covariances

    plain = [given[key] for key in ("K", "q1", "q2")]
    tensors = [torch.from_numpy(value) for value in plain]
    eager = mapped(result.compile("torch"), torch.sqrt)
    compiled = torch.compile(eager)
    on_arrays = mapped(result.compile("numpy"), np.sqrt)
    found = {
        "numpy": lambda: on_arrays(*plain),
        "torch": lambda: eager(*tensors),
        "torch.compile": lambda: compiled(*tensors),
    }
    try:
        import jax
    except ImportError:
        return found
    jax.config.update("jax_enable_x64", True)
    jitted, moved = jax.jit(mapped(result.compile("jax"), jax.numpy.sqrt)), [jax.numpy.asarray(v) for v in plain]
    return {**found, "jax": lambda: jitted(*moved).block_until_ready()}


def measure(name: str, given: dict[str, np.ndarray], rounds: int, peer: Peer | None) -> dict[str, float]:
    """Pairs a second of each way: the fastest of rounds that take each way in turn."""
    calls, best = ways(name, given), {}
    for round_ in range(rounds + 2):
        for way, call in calls.items():
            start = time.perf_counter()
            call()
            took = time.perf_counter() - start
            if round_ >= 2:
                best[way] = min(best.get(way, math.inf), took)
        if peer is not None:
            took = peer.seconds(name)
            if round_ >= 2:
                best["neural-tangents"] = min(best.get("neural-tangents", math.inf), took)
    return {way: given["K"].size / seconds for way, seconds in best.items()}


def row(name: str, rates: dict[str, float]) -> str:
    """One line of the table: rates, and the ratio of each way to the peer."""
    peer = rates.get("neural-tangents", 0.0)
    cells = [f"{rates[way]:.1e}" + (f" ({rates[way] / peer:.2g}×)" if peer else "") for way in WAYS if way in rates]
    return f"| {name} | " + " | ".join(cells) + f" | {f'{peer:.1e}' if peer else '–'} |"


def main() -> None:
    """Print the table, or write it between its two marks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--side", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--peer-python")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    torch.set_num_threads(2)
    given = gram(asked.side)
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "gram.npz")
        np.savez(file, **given)
        peer = Peer(asked.peer_python, file) if asked.peer_python else None
        if peer is None:
            print("neural-tangents is left out: --peer-python names no Python that has it")
        lines: list[str] = []
        for name in asked.names or NAMES:
            rates = measure(name, given, asked.rounds, peer)
            if not lines:
                shown = [way for way in WAYS if way in rates]
                lines = [
                    "| activation | " + " | ".join([*shown, "neural-tangents"]) + " |",
                    "|---" * (len(shown) + 2) + "|",
                ]
            lines.append(row(name, rates))
            print(lines[-1], flush=True)
    if asked.write:
        text = PAGE.read_text(encoding="utf-8")
        before, _, rest = text.partition("<!-- speed -->\n")
        _, _, after = rest.partition("<!-- end -->\n")
        PAGE.write_text(f"{before}<!-- speed -->\n" + "\n".join(lines) + f"\n<!-- end -->\n{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
