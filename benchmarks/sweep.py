"""40 Monte-Carlo points of a sweep on 1 and on 2 warm Dask workers of one thread.

python benchmarks/sweep.py [--points 40] [--networks 6000]
"""

from __future__ import annotations

import argparse
import sys
import time

sys.path[:] = [entry for entry in sys.path if not entry.endswith("benchmarks")]  # verify.py there is no package

from distributed import Client, LocalCluster  # noqa: E402

from derive.sweep import run, sweep_of  # noqa: E402
from verify.sweeps import evaluate  # noqa: E402


def seconds(workers: int, points: list) -> tuple[float, float]:
    """Wall time of the points on that many workers, after two points each, and the CPU time that the workers got."""
    options = {"n_workers": workers, "threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        executor = client.get_executor()
        run(points[: 2 * workers], evaluate, executor, lambda rows: None)
        start, before = time.perf_counter(), sum(client.run(time.process_time).values())
        run(points, evaluate, executor, lambda rows: None)
        return time.perf_counter() - start, sum(client.run(time.process_time).values()) - before


def main() -> None:
    """Print both times and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=40)
    parser.add_argument("--networks", type=int, default=6000)
    given = parser.parse_args()
    table = {
        "activations": ["tanh"], "sigma_w": {"from": 1, "to": 2, "n": given.points}, "depth": [20],
        "measures": ["monte-carlo"], "monte_carlo": {"width": 512, "networks": given.networks},
    }  # fmt: skip
    points = list(sweep_of(table).points())
    (one, busy_one), (two, busy_two) = seconds(1, points), seconds(2, points)
    each = busy_one / len(points)
    print(f"{len(points)} points, {each:.2f} s of CPU each: 1 worker {one:.1f} s, 2 workers {two:.1f} s by the clock")
    print(f"{one / two:.2f} times; the workers had {busy_one / one:.2f} and {busy_two / two:.2f} cores")
    if busy_one / one < 0.95 or busy_two / two < 1.9:
        print("other processes had a part of the cores: the ratio by the clock says nothing about the workers")
    print(f"of the CPU time of one worker, two waste {max(0.0, busy_two / busy_one - 1):.1%}")


if __name__ == "__main__":
    main()
