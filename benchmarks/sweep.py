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


def seconds(workers: int, points: list) -> float:
    """Wall time of the points on that many workers, after one point each."""
    options = {"n_workers": workers, "threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        executor = client.get_executor()
        run(points[: 2 * workers], evaluate, executor, lambda rows: None)
        start = time.perf_counter()
        run(points, evaluate, executor, lambda rows: None)
        return time.perf_counter() - start


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
    one, two = seconds(1, points), seconds(2, points)
    each = one / len(points)
    print(f"{len(points)} points, {each:.2f} s each: 1 worker {one:.1f} s, 2 workers {two:.1f} s")
    print(f"{one / two:.2f} times")


if __name__ == "__main__":
    main()
