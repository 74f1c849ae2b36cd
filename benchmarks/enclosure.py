"""Certified expectations against quadrature: milliseconds a value, and the error that was reached.

    python benchmarks/enclosure.py [--full] [--json FILE]
    python benchmarks/enclosure.py --sweep [NAME ...] [--formulas FILE] [--thin K]

E phi(z)^2 and E phi(u) phi(v) at q = 1 (and, with --full, q = 100 and c = 0.999), asked of
  ours    derive.gaussian.enclosure.enclose, 16 digits (radius proved; function prepared once, as in a session)
  scipy   quad on (-inf, inf), and dblquad on [-9, 9]^2 of the whitened plane, default tolerances
  mpmath  quad on [-inf, 0, inf] at 15 digits; in two variables only with --full (it takes seconds)
in one run, so that the ratios hold on any machine. The error is against ours at 30 digits, over the size of the value.

--sweep asks every activation of the catalogue (or the named ones, or one formula a line of a file) for E f, E f^2,
E f'^2 and pairs of f and of f' at variances from 1e-12 to 1e6 and correlations up to -1 and 1, and prints what is
over 2 seconds, over the radius 1e-13 of sqrt(m2(q1) m2(q2)), or refused. --thin K asks each K-th pair only.
"""

from __future__ import annotations

import argparse
import json
import math
import signal
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import sympy as sp
from scipy import integrate

from derive.activation.normal_form import derivative, normal_form, to_piecewise
from derive.catalogue import entry, names
from derive.formula import read, to_sympy
from derive.gaussian.enclosure import enclose
from derive.gaussian.node import GaussianE, pair, single
from derive.program.symbols import X
from derive.records import EocError

NORM = 1 / math.sqrt(2 * math.pi)
VARIANCES = ("1e-12", "1e-6", "1e-3", "0.25", "1", "4", "100", "1e4", "1e6")
CORRELATIONS = ("-1", "-0.999999", "-0.6", "0", "0.3", "0.9", "0.999999999", "1")
SECONDS, RADIUS, LIMIT = 2.0, 1e-13, 15
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


def shapes(chosen: list[str], file: str | None) -> Iterator[tuple[str, sp.Expr, dict[str, Fraction]]]:
    """(name, function, values of its parameters), from the catalogue with its defaults or from formulas."""
    if file is not None:
        with open(file, encoding="utf-8") as lines:
            for text in filter(None, map(str.strip, lines)):
                yield text, to_sympy(read(text, {})), {}
        return
    for name in chosen or names():
        found = entry(name)
        if found is None or found.variables != ("x",):
            continue
        given = {p.name: Fraction(str(sp.nsimplify(p.default))) for p in found.parameters}
        yield name, to_sympy(read(found.formula, {})), given


def questions(f: sp.Expr, slope: sp.Expr, thin: int) -> Iterator[tuple[str, GaussianE, dict[str, str]]]:
    """(what, node, law) over the whole range."""
    for q in VARIANCES:
        for what, body in (("E f", f), ("E f^2", f**2), ("E f'^2", slope**2)):
            yield what, single(body), {"q": q}
    count = 0
    for shift in (1, 0, 4, 7):
        for i, q in enumerate(VARIANCES):
            for c in CORRELATIONS:
                for what, body in (("E f f", f), ("E f' f'", slope)):
                    count += 1
                    if count % thin == 0:
                        yield what, pair(body, body), {"q1": q, "q2": VARIANCES[(i + shift) % len(VARIANCES)], "c": c}


def judge(node: GaussianE, law: dict[str, str], given: dict[str, Fraction]) -> tuple[float, str]:
    """Processor seconds and what is wrong with the answer; empty where nothing is."""
    values = {**given, **{name: Fraction(text) for name, text in law.items()}}
    start = time.process_time()
    try:
        signal.setitimer(signal.ITIMER_PROF, LIMIT)
        value = enclose(node, values)
        spent = time.process_time() - start
        signal.setitimer(signal.ITIMER_PROF, 0)
        if value.is_finite() and float(value.rad()) > RADIUS * scale(node, values):
            return spent, f"radius {float(value.rad() / scale(node, values)):.1e} of the scale"
    except EocError as error:
        return time.process_time() - start, f"{error.what} {error.where} {error.why}".replace("\n", " ")[:100]
    except TimeoutError:
        return LIMIT, "stopped"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return spent, f"{spent:.1f} s" if spent > SECONDS else ""


def scale(node: GaussianE, values: dict[str, Fraction]) -> float:
    """The root of the product of second moments (of one moment for one variable)."""
    size = 1.0
    for i, z in enumerate(node.variables):
        own = sp.Mul(*(factor for factor in sp.Mul.make_args(node.body) if factor.has(z))).subs(z, X)
        q = values["q"] if "q" in values else values[f"q{i + 1}"]
        size *= math.sqrt(float(enclose(single(own**2), {**values, "q": q}, 8)))
    return size or 1.0


def sweep(chosen: list[str], file: str | None, thin: int) -> int:
    """Ask everything; print a line for what fails and one for each function; the number of failures."""

    def stop(*_: Any) -> None:
        raise TimeoutError

    signal.signal(signal.SIGPROF, stop)  # processor time, as the seconds that are counted
    failures = 0
    for name, f, given in shapes(chosen, file):
        slope = to_piecewise(derivative(normal_form(f))[0])
        spent: list[float] = []
        for what, node, law in questions(f, slope, thin):
            seconds, problem = judge(node, law, given)
            spent.append(seconds)
            if problem:
                failures += 1
                print(f"  {name[:24]:24} {what:8} {' '.join(law.values()):28} {seconds:6.2f} s  {problem}", flush=True)
        line = f"{len(spent):4} values, median {1000 * statistics.median(spent):.0f} ms, worst {max(spent):.2f} s"
        print(f"{name[:40]:40} {line}", flush=True)
    return failures


def main() -> None:
    """Ask, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="also q = 100, c = 0.999 and mpmath in two variables")
    parser.add_argument("--json", help="write the rows to this file")
    parser.add_argument("--sweep", nargs="*", metavar="NAME", help="the whole range of variances and correlations")
    parser.add_argument("--formulas", help="a file of formulas to sweep, one a line")
    parser.add_argument("--thin", type=int, default=1, help="ask each K-th pair only")
    options = parser.parse_args()
    if options.sweep is not None or options.formulas:
        print(f"{sweep(options.sweep or [], options.formulas, options.thin)} failures")
        return
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
