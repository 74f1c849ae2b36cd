"""A 200 x 200 phase diagram against the loop of SciPy quad and dblquad that research code uses, in one run.

    python benchmarks/phase.py [--nodes 2]

The loop iterates V from q = 1 until it moves by less than 1e-8, then C from 0.5, both by quadrature, at a few nodes of
the grid, and is scaled to 40 000 nodes. It is no sharper than its tolerances; so q*, c*, chi and the slopes behind
xi_q and xi_c are compared with sharper rules (phase_reference.py) at random nodes, and the number of fixed points at
all nodes. The exit status is 1 where a goal is missed: 10^4 times, 1e-10, every count right, 2 s.

The grid is asked for after derivation, tables included. Both are given in CPU seconds beside seconds of the clock,
which other processes stretch; the ratio is that of CPU seconds.
"""

from __future__ import annotations

import argparse
import math
import sys
import time

import numpy as np
from phase_reference import counts, point
from scipy import integrate

from derive import theory


def by_loop(phi, w: float, b: float, most: int = 60) -> tuple[float, float]:
    """(q*, c*) as research code finds them."""

    def density(z: float) -> float:
        return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)

    def variance(q: float) -> float:
        return w**2 * integrate.quad(lambda z: density(z) * float(phi(math.sqrt(q) * z)) ** 2, -10, 10)[0] + b**2

    q = 1.0
    for _ in range(500):
        q, old = variance(q), q
        if abs(q - old) < 1e-8 or q > 1e8:
            break
    c = 0.5
    for _ in range(most):
        side = math.sqrt(1 - c * c)

        def pair(y: float, x: float, c: float = c, side: float = side) -> float:
            v = math.sqrt(q) * (c * x + side * y)
            return density(x) * density(y) * float(phi(math.sqrt(q) * x)) * float(phi(v))

        after = (w**2 * integrate.dblquad(pair, -8, 8, -8, 8, epsabs=1e-6)[0] + b**2) / q
        c, old = min(after, 1.0), c
        if abs(c - old) < 1e-6 or q > 1e8:
            break
    return q, c


def compared(name: str, d, nodes: int) -> float:
    """The largest difference to the sharper rules at random nodes; of q relative, of slopes e^(-1/xi)."""
    chaotic = (d.chi > 1 + 1e-4) & (d.q < 30)
    asked = (d.variance == 1) & (d.q > 1e-6) & (d.q < 1e6) & ((d.chi < 1) | chaotic)
    worst = 0.0
    for i, j in np.random.default_rng(1).permutation(np.argwhere(asked))[:nodes]:
        want = point(name, float(d.sigma_w[j]), float(d.sigma_b[i]), float(d.q[i, j]))
        differ = {
            "q": d.q[i, j] / want["q"] - 1,
            "chi": d.chi[i, j] - want["chi"],
            "c": d.c[i, j] - want["c"],
            "xi_q": math.exp(-1 / d.xi_q[i, j]) - abs(want["parallel"]),
            "xi_c": (math.exp(-1 / d.xi_c[i, j]) if d.xi_c[i, j] else 0.0) - abs(want["pair"]),
            "phase": float(d.gradient[i, j] != (2 if want["chi"] > 1 else 0)),
        }
        what = max(differ, key=lambda key: abs(differ[key]))
        if abs(differ[what]) > 1e-10:
            print(f"    sigma_w {d.sigma_w[j]:.4f}, sigma_b {d.sigma_b[i]:.4f}: {what} differs by {differ[what]:.1e}")
        worst = max(worst, abs(differ[what]))
    return worst


def main() -> None:
    """Print seconds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--iterations", type=int, default=60)
    parser.add_argument("--compared", type=int, default=40, help="nodes compared with sharper rules")
    given = parser.parse_args()
    good = True
    for name, function in (("tanh", math.tanh), ("silu", lambda x: x / (1 + math.exp(-x)))):
        t = theory(name)
        t.maps, t.chi, t.variance_map, t.edge_of_chaos(q=1)
        theory("x*exp(-x**2)").phase(n=3)  # modules are loaded
        clock, start = time.perf_counter(), time.process_time()
        d = t.phase(n=200)
        grid, waited = time.process_time() - start, time.perf_counter() - clock
        rng = np.random.default_rng(0)
        chosen = rng.permutation(np.argwhere((d.variance == 1) & (d.q > 0)))[: given.nodes]
        start = time.process_time()
        worst = 0.0
        for i, j in chosen:
            q, _ = by_loop(function, float(d.sigma_w[j]), float(d.sigma_b[i]), given.iterations)
            worst = max(worst, abs(q / d.q[i, j] - 1))
        loop = (time.process_time() - start) / max(1, len(chosen))
        ratio = loop * d.q.size / grid
        print(f"{name}: grid {grid:.2f} s of CPU ({waited:.2f} s by the clock); loop {loop:.2f} s a node,")
        print(f"    {ratio:.1e} times slower; q* differs by {worst:.0e} (the loop stops at steps of 1e-8)")
        agrees = compared(name, d, given.compared)
        wrong = np.argwhere(counts(name, d.sigma_w, d.sigma_b) != d.count)
        print(
            f"    sharper rules at {given.compared} nodes: {agrees:.0e}; fixed points miscounted at {len(wrong)} nodes"
        )
        for i, j in wrong[:5]:
            print(f"    sigma_w {d.sigma_w[j]:.6f}, sigma_b {d.sigma_b[i]:.6f}: {d.fixed_points[i, j]}")
        good &= ratio > 1e4 and grid < 2 and agrees < 1e-10 and not len(wrong)
    sys.exit(not good)


if __name__ == "__main__":
    main()
