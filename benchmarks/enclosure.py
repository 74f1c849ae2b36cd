"""Certified expectations against quadrature: milliseconds a value, and the error that was reached.

    python benchmarks/enclosure.py [--full] [--json FILE]

E phi(z)^2 and E phi(u) phi(v) at q = 1 (and, with --full, q = 100 and c = 0.999), asked of
  ours    derive.gaussian.enclosure.enclose, 16 digits (radius proved; function prepared once, as in a session)
  scipy   quad on (-inf, inf), and dblquad on [-9, 9]^2 of the whitened plane, default tolerances
  mpmath  quad on [-inf, 0, inf] at 15 digits; in two variables only with --full (it takes seconds)
in one run, so that the ratios hold on any machine. The error is against ours at 30 digits, over the size of the value.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import sympy as sp
from scipy import integrate

from derive.gaussian.enclosure import enclose
from derive.gaussian.node import pair, single
from derive.program.symbols import X

NORM = 1 / math.sqrt(2 * math.pi)
SHAPES: dict[str, tuple[Any, Callable[[float], float], Callable[[Any], Any]]] = {
    "tanh": (sp.tanh(X), math.tanh, mpmath.tanh),
    "softsign": (X / (1 + sp.Abs(X)), lambda x: x / (1 + abs(x)), lambda x: x / (1 + abs(x))),
    "mish": (
        X * sp.tanh(sp.log(1 + sp.exp(X))),
        lambda x: x * math.tanh(np.logaddexp(x, 0)),
        lambda x: x * mpmath.tanh(mpmath.log1p(mpmath.exp(x))),
    ),
    "hard tanh": (sp.Max(-1, sp.Min(1, X)), lambda x: max(-1.0, min(1.0, x)), lambda x: max(-1, min(1, x))),
}


def timed(ask: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Median milliseconds and the answer."""
    seconds, answer = [], None
    for _ in range(repeats):
        start = time.perf_counter()
        answer = ask()
        seconds.append(time.perf_counter() - start)
    return 1000 * statistics.median(seconds), answer


def one(name: str, q: int) -> list[dict[str, Any]]:
    """E phi(sqrt(q) z)^2 by every method."""
    expr, quick, slow = SHAPES[name]
    node, law, sigma = single(expr**2), {"q": Fraction(q)}, math.sqrt(q)
    truth = float(enclose(node, law, 30))
    asked = {
        "ours": lambda: float(enclose(node, law)),
        "scipy": lambda: integrate.quad(lambda z: quick(sigma * z) ** 2 * math.exp(-z * z / 2) * NORM, -np.inf, np.inf)[
            0
        ],
        "mpmath": lambda: float(
            mpmath.quad(lambda z: slow(sigma * z) ** 2 * mpmath.exp(-z * z / 2), [-mpmath.inf, 0, mpmath.inf]) * NORM
        ),
    }
    return rows(f"E {name}^2, q = {q}", asked, truth)


def two(name: str, q: int, c: str, slow_too: bool) -> list[dict[str, Any]]:
    """E phi(u) phi(v) by every method."""
    expr, quick, slow = SHAPES[name]
    node, law = pair(expr, expr), {"q1": Fraction(q), "q2": Fraction(q), "c": Fraction(c)}
    truth, sigma, rho = float(enclose(node, law, 20)), math.sqrt(q), float(c)
    rest = math.sqrt(1 - rho * rho)

    def density(y: float, x: float) -> float:
        value = quick(sigma * x) * quick(sigma * (rho * x + rest * y))
        return value * math.exp(-(x * x + y * y) / 2) / (2 * math.pi)

    def high(x: Any, y: Any) -> Any:
        return slow(sigma * x) * slow(sigma * (rho * x + rest * y)) * mpmath.exp(-(x * x + y * y) / 2)

    asked = {
        "ours": lambda: float(enclose(node, law)),
        "scipy": lambda: integrate.dblquad(density, -9, 9, -9, 9)[0],
    }
    if slow_too:
        asked["mpmath"] = lambda: float(mpmath.quad(high, [-9, 0, 9], [-9, 0, 9])) / (2 * math.pi)
    return rows(f"pair {name}, q = {q}, c = {c}", asked, truth)


def rows(title: str, asked: dict[str, Callable[[], float]], truth: float) -> list[dict[str, Any]]:
    """Time and error of every method on one question."""
    table = []
    for method, ask in asked.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", integrate.IntegrationWarning)
            spent, value = timed(ask, 5 if method == "ours" else 1)
        table.append({"question": title, "method": method, "ms": spent, "error": abs(value - truth) / abs(truth)})
    return table


def main() -> None:
    """Ask, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="also q = 100, c = 0.999 and mpmath in two variables")
    parser.add_argument("--json", help="write the rows to this file")
    options = parser.parse_args()
    table = []
    for name in SHAPES:
        for q in (1, 100) if options.full else (1,):
            table += one(name, q)
            for c in ("0.5", "0.999") if options.full else ("0.5",):
                table += two(name, q, c, options.full)
    print(f"{'question':34} {'method':8} {'ms':>10} {'x ours':>9} {'rel. error':>11}")
    for row in table:
        ours = next(r["ms"] for r in table if r["question"] == row["question"] and r["method"] == "ours")
        line = f"{row['question']:34} {row['method']:8} {row['ms']:10.2f} {row['ms'] / ours:9.1f} {row['error']:11.1e}"
        print(line)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(table, file, indent=1)


if __name__ == "__main__":
    main()
