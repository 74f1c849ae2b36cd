"""How long a newcomer waits: import, the first derivation, the cached one, a refusal.

    python benchmarks/start.py [--repeat N] [--json FILE]

Each row is the smallest of N fresh processes, and its ratio to `python -c "import sympy"` in the same run, so that
machines can be compared.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

HOSTILE = {
    "a call": '__import__("os").getpid()',
    "an attribute": "x.__class__",
    "a lambda": "(lambda: 1)()",
    "a tower of powers": "9**9**9",
    "a huge degree": "x**(10**8)",
}
LIMIT = 10.0


def seconds(command: list[str], environment: dict[str, str], expected: int = 0, stdin: str | None = None) -> float:
    """Wall clock of one fresh process; it is killed after the limit."""
    start = time.perf_counter()
    try:
        done = subprocess.run(command, env=environment, input=stdin, capture_output=True, text=True, timeout=10 * LIMIT)
    except subprocess.TimeoutExpired:
        return float("inf")
    elapsed = time.perf_counter() - start
    if done.returncode != expected:
        raise SystemExit(f"{' '.join(command)[:200]} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return elapsed


def best(repeat: int, *args, **kwargs) -> float:
    return min(seconds(*args, **kwargs) for _ in range(repeat))


def rows(repeat: int):
    """Name, seconds, goal in seconds (None: no goal)."""
    python = [sys.executable, "-c"]
    eoc = [sys.executable, "-m", "eoc"]
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "EOC_CACHE_DIR": cache}
        yield "python -c 'import sympy'", best(repeat, [*python, "import sympy"], environment), None
        yield "import derive", best(repeat, [*python, "import derive"], environment), 0.5
        yield (
            "from derive import Activation",
            best(repeat, [*python, "from derive import Activation"], environment),
            None,
        )
        yield "eoc --help", best(repeat, [*eoc, "--help"], environment), None
        yield "eoc list", best(repeat, [*eoc, "list"], environment), None
        yield "eoc derive gelu, cold", best(repeat, [*eoc, "derive", "gelu", "--no-cache"], environment), 3.0
        seconds([*eoc, "derive", "gelu"], environment)
        yield "eoc derive gelu, cached", best(repeat, [*eoc, "derive", "gelu"], environment), 0.6
        for name, text in HOSTILE.items():
            yield f"refusing {name}", best(repeat, [*eoc, "derive", text], environment, expected=2), 1.0
        long = "x+" * 5_000_000 + "x"
        yield "refusing 10 MB of text", best(repeat, [*eoc, "derive", "-"], environment, expected=2, stdin=long), 1.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", help="write the rows to this file")
    args = parser.parse_args()
    table, unit = [], None
    print(f"{'':34} {'seconds':>8} {'x sympy':>8} {'goal':>8}")
    for name, value, goal in rows(args.repeat):
        unit = unit or value
        table.append(
            {"row": name, "seconds": value, "ratio": value / unit, "goal": goal, "met": goal is None or value <= goal}
        )
        verdict = "" if goal is None else f"{'<' if value <= goal else '> MISSED'} {goal:g} s"
        print(f"{name:34} {value:8.2f} {value / unit:8.2f} {verdict:>8}", flush=True)
    if args.json:
        with open(args.json, "w") as file:
            json.dump(table, file, indent=1)
    return 0 if all(row["met"] for row in table) else 1


if __name__ == "__main__":
    sys.exit(main())
