"""Questions a second of `eoc eval --batch`: asked the first time, and again from the cache (goal 10 000 a second).

    python benchmarks/batch.py [--questions 20000] [--json FILE]

A fresh process each, its start counted; the questions are 600 different ones, shuffled, over five activations.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GOAL = 10_000.0
TEXTS = ("gelu", "relu", "tanh", "sin(x)", "erf")


def questions(count: int) -> list[str]:
    """Lines of the file."""
    draw = random.Random(0)
    different = [
        {"of": text, "ask": "covariance_map", "at": {"q1": 1 + k / 60, "q2": 1.5, "c": 0.25}}
        for text in TEXTS
        for k in range(120)
    ]
    return [json.dumps({**draw.choice(different), "id": i}) for i in range(count)]


def ask(file: Path, folder: str) -> tuple[float, float]:
    """Wall and CPU seconds of one process."""
    eoc = Path(__file__).resolve().parents[1] / "eoc.py"
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    env = {**os.environ, "EOC_CACHE_DIR": folder}
    subprocess.run([sys.executable, str(eoc), "eval", "--batch", str(file)], check=True, env=env, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - start, cpu


def main() -> None:
    """Print the rates; exit status 1 where the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=20000)
    parser.add_argument("--json")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "questions.jsonl"
        file.write_text("\n".join(questions(asked.questions)) + "\n", encoding="utf-8")
        rows = {}
        for name in ("first", "from the cache"):
            wall, cpu = ask(file, str(Path(folder) / "cache"))
            rows[name] = {"wall": asked.questions / wall, "cpu": asked.questions / cpu}
            print(
                f"{name}: {rows[name]['wall']:.0f} a second, {rows[name]['cpu']:.0f} a second of CPU time", flush=True
            )
    if asked.json:
        Path(asked.json).write_text(json.dumps(rows, indent=1), encoding="utf-8")
    sys.exit(rows["from the cache"]["cpu"] < GOAL)


if __name__ == "__main__":
    main()
