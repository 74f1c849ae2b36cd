"""72 questions, asked of this package and of SymPy's `integrate`.

    python benchmarks/derivation.py [--limit 10] [--quick] [--only gelu relu ...] [--json FILE]

18 activations x (E phi, E phi^2, E phi'^2, E phi(u) phi(v)), variance q (q1 = q2 = q for the pair) and correlation c
symbolic. Each question to SymPy runs in its own process that is killed after the limit; the question put to it is the
integral over the standard normal density, z = sqrt(q) x, with the assumptions that help (q > 0). An answer counts as
solved if no integral is left in it, and as wrong if its value at q = 7/10, c = 2/5 is off by more than 1e-9 of the
scale from direct quadrature, which neither side computes. Ours runs in one process; it counts as closed, or as
certified if the answer is an enclosure. The answer (kind, formula, number) goes to an on-disk cache, and is asked once
more from there.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
import time

import mpmath
import numpy as np

SLOPE = "1/10"
# our text, SymPy's own form (a function of the symbol x), kinks for the quadrature, and the function itself
ACTIVATIONS = {
    "identity": "x",
    "cubic": "x**3",
    "relu": "max(x, 0)",
    "leaky relu": f"max(x, 0) + {SLOPE}*min(x, 0)",
    "abs": "abs(x)",
    "relu^2": "max(x, 0)**2",
    "step": "1 if x > 0 else 0",
    "sign": "sign(x)",
    "hard tanh": "max(-1, min(1, x))",
    "elu": "x if x > 0 else exp(x) - 1",
    "exp": "exp(x)",
    "erf": "erf(x)",
    "gelu": "x*Phi(x)",
    "sin": "sin(x)",
    "snake": "x + sin(x)**2",
    "gaussian": "exp(-x**2/2)",
    "tanh": "tanh(x)",
    "silu": "x*sigmoid(x)",
}
KINKS = {"hard tanh": (-1, 1)}
QUESTIONS = ("E phi", "E phi^2", "E phi'^2", "pair")
QUICK = ("relu", "elu", "gelu", "tanh")
Q, C = mpmath.mpf(7) / 10, mpmath.mpf(2) / 5


def sympy_functions():
    """Each activation and its derivative as SymPy's users would write them."""
    import sympy as sp

    x = sp.Symbol("x", real=True)
    half = sp.Rational(1, 2)
    piecewise = sp.Piecewise
    functions = {
        "identity": x,
        "cubic": x**3,
        "relu": piecewise((x, x > 0), (0, True)),
        "leaky relu": piecewise((x, x > 0), (x / 10, True)),
        "abs": sp.Abs(x),
        "relu^2": piecewise((x**2, x > 0), (0, True)),
        "step": sp.Heaviside(x),
        "sign": sp.sign(x),
        "hard tanh": piecewise((-1, x < -1), (1, x > 1), (x, True)),
        "elu": piecewise((x, x > 0), (sp.exp(x) - 1, True)),
        "exp": sp.exp(x),
        "erf": sp.erf(x),
        "gelu": x * (1 + sp.erf(x / sp.sqrt(2))) * half,
        "sin": sp.sin(x),
        "snake": x + sp.sin(x) ** 2,
        "gaussian": sp.exp(-(x**2) / 2),
        "tanh": sp.tanh(x),
        "silu": x / (1 + sp.exp(-x)),
    }
    return x, functions


def derivative(name, x, f):
    """The derivative away from jumps."""
    import sympy as sp

    if name in ("step", "sign"):
        return sp.Integer(0)
    return sp.sign(x) if name == "abs" else f.diff(x)


def sympys_answer(name, question, connection):
    """Runs in a process of its own: the value of SymPy's answer, or why there is none."""
    import sympy as sp

    x, functions = sympy_functions()
    connection.send("ready")
    q, c, y = sp.Symbol("q", positive=True), sp.Symbol("c", real=True), sp.Symbol("y", real=True)
    f = functions[name]
    density = sp.exp(-(x**2) / 2) / sp.sqrt(2 * sp.pi)
    try:
        if question == "pair":
            other = density.subs(x, y)
            u, v = sp.sqrt(q) * x, sp.sqrt(q) * (c * x + sp.sqrt(1 - c**2) * y)
            inner = sp.integrate(f.subs(x, v) * other, (y, -sp.oo, sp.oo))
            answer = sp.integrate(f.subs(x, u) * inner * density, (x, -sp.oo, sp.oo))
        else:
            body = {"E phi": f, "E phi^2": f**2, "E phi'^2": derivative(name, x, f) ** 2}[question]
            answer = sp.integrate(body.subs(x, sp.sqrt(q) * x) * density, (x, -sp.oo, sp.oo))
        if answer.has(sp.Integral):
            connection.send(("open", None))
            return
        value = sp.N(answer.subs({q: sp.Rational(7, 10), c: sp.Rational(2, 5)}), 20)
        connection.send(("solved", str(value)) if value.is_number else ("open", None))
    except Exception as error:  # whatever SymPy raises is its answer to this question
        connection.send(("raised", type(error).__name__))


def ask_sympy(name, question, limit):
    """Outcome, value and seconds since SymPy was imported; the process is killed after the limit."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=sympys_answer, args=(name, question, there))
    process.start()
    there.close()
    here.recv()
    start = time.perf_counter()
    answer: tuple[str, str | None] = ("time-out", None)
    try:
        if here.poll(limit):
            answer = here.recv()
    except EOFError:
        answer = ("raised", "crash")
    elapsed = time.perf_counter() - start
    process.kill()
    process.join()
    return *answer, elapsed


def our_answer(name, question):
    """Kind, formula and number of the same question here."""
    from derive import Activation, expect

    phi = Activation(ACTIVATIONS[name])
    if question == "pair":
        result = expect(phi, phi)
        number = result.number(q1="7/10", q2="7/10", c="2/5")
    else:
        body = {"E phi": lambda: phi, "E phi^2": lambda: phi**2, "E phi'^2": lambda: phi.derivative() ** 2}[question]()
        result = expect(body)
        number = result.number(q="7/10")
    return {"kind": result.kind.name, "latex": result.latex(), "value": str(number.mid), "radius": str(number.rad)}


def ask_us(name, question):
    """Outcome, value, seconds of the derivation, and seconds of the same answer from the on-disk cache."""
    from derive import cache
    from derive.records import Kind

    asked, trouble = {"benchmark": "derivation", "text": ACTIVATIONS[name], "question": question}, []
    times = []
    for _ in range(2):
        start = time.perf_counter()
        answer = cache.recall(asked, lambda: our_answer(name, question), trouble.append)
        times.append(time.perf_counter() - start)
    if trouble:
        raise trouble[0]
    closed = Kind[answer["kind"]].value <= Kind.SERIES.value
    return "closed" if closed else "certified", answer["value"], *times


def panels(edges, nodes=30):
    """Nodes and weights of composite Gauss-Legendre between the edges (along the last axis)."""
    t, w = np.polynomial.legendre.leggauss(nodes)
    left, right = edges[..., :-1, None], edges[..., 1:, None]
    shape = (*edges.shape[:-1], -1)
    return ((left + right) / 2 + (right - left) / 2 * t).reshape(shape), ((right - left) / 2 * w).reshape(shape)


def truth(name, question):
    """By composite Gauss-Legendre in double precision, split at the kinks: good to about 1e-13."""
    import sympy as sp

    x, functions = sympy_functions()
    body = functions[name]
    f, d = (sp.lambdify(x, e, ["scipy", {"Heaviside": np.heaviside}]) for e in (body, derivative(name, x, body)))
    root, kinks = float(Q) ** 0.5, np.array(KINKS.get(name, (0.0,)))
    grid = np.linspace(-12.0, 12.0, 13)
    s, weight = panels(np.sort(np.concatenate([grid, kinks / root])))
    weight = weight * np.exp(-s * s / 2) / np.sqrt(2 * np.pi)
    if question != "pair":
        g = {"E phi": f, "E phi^2": lambda t: f(t) ** 2, "E phi'^2": lambda t: d(t) ** 2}[question]
        return float(np.sum(weight * g(root * s)))
    c, slope = float(C), float(1 - C**2) ** 0.5
    own = (kinks / root - c * s[:, None]) / slope
    edges = np.sort(np.concatenate([np.broadcast_to(grid, (len(s), len(grid))), np.clip(own, -12, 12)], axis=1), axis=1)
    t, inner = panels(edges)
    inner = inner * np.exp(-t * t / 2) / np.sqrt(2 * np.pi)
    return float(np.sum(weight * f(root * s) * np.sum(inner * f(root * (c * s[:, None] + slope * t)), axis=1)))


def agrees(value, want) -> bool:
    return abs(mpmath.mpf(value) - want) <= mpmath.mpf("1e-9") * max(1, abs(want))


def compare(names, limit):
    """One record a question."""
    for name in names:
        for question in QUESTIONS:
            want = truth(name, question)
            theirs, their_value, their_time = ask_sympy(name, question, limit)
            if theirs == "solved" and not agrees(their_value, want):
                theirs = "WRONG"
            ours, value, our_time, again = ask_us(name, question)
            if not agrees(value, want):
                ours = "WRONG"
            yield {"activation": name, "question": question, "sympy": theirs, "sympy_seconds": their_time,
                   "eoc": ours, "eoc_seconds": our_time, "cached_seconds": again}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=10.0, help="seconds for each of SymPy's answers")
    parser.add_argument("--quick", action="store_true", help=f"only {', '.join(QUICK)}")
    parser.add_argument("--only", nargs="+", choices=ACTIVATIONS, default=None)
    parser.add_argument("--json", help="write the records to this file")
    args = parser.parse_args()
    names = args.only or (QUICK if args.quick else tuple(ACTIVATIONS))
    with tempfile.TemporaryDirectory() as place:
        os.environ["EOC_CACHE_DIR"] = place
        records = report(names, args.limit)
    if args.json:
        with open(args.json, "w") as file:
            json.dump(records, file, indent=1)
    return 1 if any(missed(records).values()) else 0


def report(names, limit):
    """Print the table as it grows, and what it comes to."""
    import derive  # the first question does not pay for the import

    derive.Activation  # noqa: B018
    records = []
    print(f"{'':12} {'':9} {'sympy':>9} {'s':>6}   {'eoc':>9} {'s':>6} {'cached ms':>10}")
    for r in compare(names, limit):
        records.append(r)
        print(f"{r['activation']:12} {r['question']:9} {r['sympy']:>9} {r['sympy_seconds']:6.2f}   "
              f"{r['eoc']:>9} {r['eoc_seconds']:6.2f} {1e3 * r['cached_seconds']:10.1f}", flush=True)  # fmt: skip
    for side in ("sympy", "eoc"):
        outcomes, seconds = [r[side] for r in records], [r[f"{side}_seconds"] for r in records]
        counts = ", ".join(f"{outcomes.count(o)} {o}" for o in sorted(set(outcomes)))
        print(f"{side}: {counts} of {len(records)}; median {statistics.median(seconds):.2f} s, "
              f"longest {max(seconds):.2f} s")  # fmt: skip
    print(f"from the cache: longest {1e3 * max(r['cached_seconds'] for r in records):.1f} ms")
    for goal, failures in missed(records).items():
        if failures:
            print(f"MISSED: {goal}: {', '.join(failures)}")
    return records


def missed(records):
    """Goal -> the questions that miss it."""
    median = statistics.median(r["eoc_seconds"] for r in records)
    tests = {
        "every answer right": lambda r: r["eoc"] == "WRONG",
        "none over 10 s": lambda r: r["eoc_seconds"] > 10,
        "50 ms from the cache": lambda r: r["cached_seconds"] > 0.05,
    }
    found = {goal: [f"{r['activation']} {r['question']}" for r in records if bad(r)] for goal, bad in tests.items()}
    return {**found, "median under 1 s": [f"{median:.2f} s"] if median > 1 else []}


if __name__ == "__main__":
    sys.exit(main())
