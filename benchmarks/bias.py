"""(gamma, c, q, chi) through 100 layers on a 100 x 10 grid, against the quad/dblquad recursion of research code.

    python benchmarks/bias.py [--steps 60]

The loop is timed on layers of nodes spread evenly over the grid and over depth, and scaled to all; each also says how
far the grid's next drift ratio is from the loop's. The grid is asked for after derivation, tables of the block
included, and once more. Seconds are of processor time.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np
from scipy import integrate

from derive import theory


def by_quadrature(phi, slope, q: float, k: float, w2: float, b2: float) -> tuple[float, float, float]:
    """(q', q_ab', chi) of one layer by quad and dblquad."""

    def density(z: float) -> float:
        return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)

    c = k / q
    side, root = math.sqrt(1 - c * c), math.sqrt(q)
    second = integrate.quad(lambda z: density(z) * phi(root * z) ** 2, -10, 10)[0]
    gain = integrate.quad(lambda z: density(z) * slope(root * z) ** 2, -10, 10)[0]

    def pair(y: float, x: float) -> float:
        return density(x) * density(y) * phi(root * x) * phi(root * (c * x + side * y))

    cross = integrate.dblquad(pair, -8, 8, -8, 8, epsabs=1e-8)[0]
    return w2 * second + b2, w2 * cross + b2, w2 * gain


def main() -> None:
    """Print seconds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=60, help="layers timed of the loop")
    given = parser.parse_args()
    functions = {
        "relu": (lambda x: max(x, 0.0), lambda x: float(x > 0)),
        "tanh": (math.tanh, lambda x: 1 / math.cosh(x) ** 2),
    }
    w2, b2 = np.meshgrid(np.linspace(1.5, 3, 100), np.linspace(0.01, 0.2, 10), indexing="ij")
    for name, (phi, slope) in functions.items():
        t = theory(name)
        print(f"{name}: {t.guessing_bias.ratio_map.kind} drift ratio, {t.chi.kind} gain")
        start = time.process_time()
        found = t.guessing_bias.depth(100, np.sqrt(w2), np.sqrt(b2))
        grid = time.process_time() - start
        again = time.process_time()
        t.guessing_bias.depth(100, np.sqrt(w2), np.sqrt(b2))
        again = time.process_time() - again
        worst, begin = 0.0, time.process_time()
        spread = np.linspace(0, 99 * w2.size - 1, given.steps).astype(int)
        for layer, i, j in zip(*np.unravel_index(spread, (99, *w2.shape)), strict=True):
            q, c = found.q[layer, i, j], found.c[layer, i, j]
            q, k, _ = by_quadrature(phi, slope, q, q * c, w2[i, j], b2[i, j])
            worst = max(worst, abs(k / (q - k) / found.gamma[layer + 1, i, j] - 1))
        loop = (time.process_time() - begin) / given.steps * 99 * w2.size
        print(
            f"{name}: grid {grid:.2f} s with its tables, {again:.2f} s again; loop {loop:.0f} s, "
            f"{loop / grid:.1e} ({loop / again:.1e}) times slower; gamma differs {worst:.0e}"
        )


if __name__ == "__main__":
    main()
