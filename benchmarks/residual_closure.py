"""The published case of the kernel-only closure of residual networks, with its quadrature and with a converged one.

Kawase & Ota 2026 (arXiv 2604.15742; public code kavvase/resnet_eft): z' = z + eps W tanh(z), C_W = 2, K_0 = 2,
eps = 0.05, up to T = eps^2 L = 2. Their Gaussian averages use 32 Gauss-Hermite nodes and second derivatives by
differences. Columns: the closure so evaluated, the closure with converged averages, and the theory at order 1/n that
follows two-time covariances (`BlockLaw.depth`); with --networks, networks too.

Run: python benchmarks/residual_closure.py
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from derive import theory

WEIGHT, START, EPSILON, HORIZON = 2.0, 2.0, 0.05, 2.0
TIMES = (0.5, 1.0, 1.5, 2.0)

Means = Callable[[float], tuple[float, float, float]]


def averages(x: np.ndarray, w: np.ndarray, difference: float = 5e-4) -> Means:
    """K -> (Q, Q', Q'') of tanh from nodes and weights of N(0, 1); the derivatives as the published code takes them:
    Q' from the averages of phi'^2 and phi phi'', Q'' by differences of Q.
    """

    def second(k: float) -> float:
        return WEIGHT * float(w @ np.tanh(math.sqrt(k) * x) ** 2)

    def at(k: float) -> tuple[float, float, float]:
        t = np.tanh(math.sqrt(k) * x)
        slope = WEIGHT * float(w @ ((1 - t**2) ** 2 - 2 * t**2 * (1 - t**2)))
        bend = (second(k + difference) - 2 * second(k) + second(k - difference)) / difference**2
        return second(k), slope, bend

    return at


def gauss_hermite(count: int) -> Means:
    """With so many nodes: at K = 4 the nodes of 32 are as far apart as tanh' is wide."""
    x, w = np.polynomial.hermite_e.hermegauss(count)
    return averages(x, w / w.sum())


def trapezoid(step: float = 0.02, reach: float = 13.0) -> Means:
    """With a trapezoid rule that has converged to rounding."""
    x = np.arange(-reach, reach + step / 2, step)
    w = np.exp(-(x**2) / 2)
    return averages(x, w / w.sum())


def closure(at: Means, epsilon: float = EPSILON, horizon: float = HORIZON) -> dict[str, np.ndarray]:
    """The closed equations in steps of eps^2: K' = Q, V4' = 2 chi V4 + 4 K Q, K1' = chi K1 + Q'' V4/2."""
    step = epsilon**2
    k, v, k1 = START, 2 * START**2, 0.0
    rows = [(k, v, k1)]
    for _ in range(round(horizon / step)):
        q, slope, bend = at(k)
        k, v, k1 = k + step * q, v + step * (2 * slope * v + 4 * k * q), k1 + step * (slope * k1 + bend * v / 2)
        rows.append((k, v, k1))
    columns = np.array(rows).T
    return dict(zip(("kernel", "vertex", "correction"), columns, strict=True))


def columns(epsilon: float = EPSILON) -> dict[str, Any]:
    """The three theories by name."""
    block = theory(f"residual(tanh >> dense, scale={epsilon})").finite_width.block_law
    exact = block.depth(START, round(HORIZON / epsilon**2), repr(math.sqrt(WEIGHT)))
    both = {"32 nodes": closure(gauss_hermite(32), epsilon), "converged": closure(trapezoid(), epsilon)}
    made = {"kernel": exact.kernel, "vertex": exact.vertex, "correction": exact.correction}
    return {**both, "two-time": made, "source": exact.branch[0], "detail": exact}


def table(found: dict[str, Any], epsilon: float = EPSILON) -> str:
    """The comparison as text."""
    places = [round(t / epsilon**2) for t in TIMES]
    lines = [f"{'':12s}" + "".join(f"{name:>42s}" for name in ("32 nodes", "converged", "two-time"))]
    for name in ("kernel", "vertex", "correction"):
        row = "".join(
            f"{' '.join(f'{v:9.4f}' for v in found[column][name][places]):>42s}"
            for column in ("32 nodes", "converged", "two-time")
        )
        lines.append(f"{name:12s}{row}")
    last = found["two-time"]["vertex"][-1]
    for column in ("32 nodes", "converged"):
        lines.append(f"{column}: V4 at T = 2 is {found[column]['vertex'][-1] / last - 1:+.2%} of the two-time theory's")
    return "\n".join(lines)


def main() -> None:
    """Print the comparison, with networks if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--networks", type=int, default=0, help="draw so many networks a width (24000: a minute)")
    given = parser.parse_args()
    print(table(columns()))
    if given.networks:
        import torch

        from verify.finite_width.residual import verify_residual

        torch.set_num_threads(1)
        wide = theory("residual(tanh >> dense, scale=0.1)")
        setting = {"at": (50, 200), "widths": (64, 128), "networks": given.networks}
        print(verify_residual(wide, START, 200, repr(math.sqrt(WEIGHT)), **setting).table)


if __name__ == "__main__":
    main()
