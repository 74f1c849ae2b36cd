"""How many digits a closed form keeps in floating point, by evaluating it both in double precision and in balls."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import flint
import numpy as np
from sympy import Expr, Symbol, cos, sin

from derive.activation.normal_form import breakpoints, normal_form
from derive.emit import EmittedFunction, emit, load, pair_bindings
from derive.gaussian.factors import pair_factors
from derive.gaussian.forms import canonical
from derive.gaussian.node import GaussianE
from derive.program.evaluate import run_balls
from derive.program.gate import freeze
from derive.program.symbols import DELTA, Q1, Q2, K, Q, X
from derive.records import EocError
from derive.surface.steady import steady

VARIANCES = (1e-12, 1e-6, 1e-2, 1.0, 1e2, 1e4, 1e6)
CORRELATIONS = (-1 + 2.0**-30, -0.4, 0.5, 1 - 2.0**-30)
PARAMETER = 0.7
"""What parameters are; those that are negative are minus that."""
ENOUGH = 1e-12
"""Of the scale sqrt(E f^2 E g^2): what integrals reach."""
ROUNDINGS = 8
"""How often the last argument may be rounded: a wave of far points is nowhere known better."""
BITS = 600


def keeps_digits(node: GaussianE, closed: Expr) -> bool:
    """Whether a closed form is right to 1e-12 of the scale over twelve decades of the variance, in double precision.

    The numbers are those of the emitted NumPy text, the truth is the closed form in balls of 600 bits; points at which
    either has no value in its range say nothing. A measurement at 7 variances and 4 correlations, not a proof.
    """
    return error_of(node, closed) <= ENOUGH


@lru_cache(maxsize=256)
def error_of(node: GaussianE, closed: Expr) -> float:
    """The largest error over the scale; 0 where nothing can be measured, infinite where the text gives no number."""
    made, program, given = _made(node, closed)
    return 0.0 if made is None else _worst(node, made.value, made, program, given)


def error_of_text(node: GaussianE, closed: Expr, text: str, name: str) -> float:
    """The same of a function of the node's law in given NumPy text."""
    made, program, given = _made(node, closed, integrands=True)
    return 0.0 if made is None else _worst(node, getattr(load(text), name), made, program, given)


def _made(node: GaussianE, closed: Expr, integrands: bool = False) -> tuple[Any, Any, dict[str, float]]:
    """The emitted closed form (unless only `integrands`) and integrands, its program, and values of its parameters."""
    pair, bodies = node.cov.rows == 2, _bodies(node)
    symbols = sorted((closed.free_symbols | node.body.free_symbols) - {Q, Q1, Q2, K, DELTA, *node.variables}, key=str)
    given = {s.name: -PARAMETER if s.is_negative else PARAMETER for s in symbols}
    try:
        functions = tuple(_functions(closed, bodies, tuple(given), pair))[integrands:]
        return load(emit(functions, "numpy", "")), freeze({"value": closed}, (*_law(pair), *symbols)), given
    except EocError:
        return None, None, given


def _worst(node: GaussianE, function: Any, made: Any, program: Any, given: dict[str, float]) -> float:
    """The largest error of a function over the scale."""
    worst, count = 0.0, node.cov.rows
    points = tuple(_points(count == 2))
    with np.errstate(all="ignore"):
        found = np.broadcast_to(function(*np.array(points).T, **given), len(points))
        for point, value in zip(points, found, strict=True):
            scale = np.prod([_size(getattr(made, f"f{i}"), q, given) for i, q in enumerate(point[:count])])
            truth = _truth(program, point, given)
            if truth is None or not 1e-290 < scale < 1e290:
                continue
            off = abs(float((flint.arb(float(value)) - truth).mid())) / scale if np.isfinite(value) else np.inf
            beside = _truth(program, (*point[:-1], np.nextafter(point[-1], np.inf)), given)
            own = 0.0 if beside is None else float(abs(beside - truth).mid()) / scale
            worst = max(worst, float(off - ROUNDINGS * own))
    return worst


def _bodies(node: GaussianE) -> tuple[Expr, ...]:
    return pair_factors(node) if node.cov.rows == 2 else (node.body.subs(node.variables[0], X),)


def integrable(node: GaussianE) -> bool:
    """Whether code integrates a centred node at every variance: breakpoints are numbers, and nothing oscillates."""
    bodies = _bodies(node)
    try:
        ends = [at for body in bodies for at in breakpoints(normal_form(body))]
    except EocError:
        return False
    return not any(body.has(sin, cos) for body in bodies) and not any(at.free_symbols for at in ends)


def form_for_code(node: GaussianE, closed: Expr, integrates: bool) -> Expr | None:
    """What code computes of a node with a closed form: that or an equal form that keeps its digits; None: integrate."""
    if node != canonical(node) or node.cov.rows > 2 or not node.mean.is_zero_matrix or keeps_digits(node, closed):
        return closed
    other = steady(node, closed)
    best = closed if other is None or error_of(node, other) >= error_of(node, closed) else other
    return None if integrates and not keeps_digits(node, best) and integrable(node) else best


def _law(pair: bool) -> tuple[Symbol, ...]:
    return (Q1, Q2, K, DELTA) if pair else (Q,)


def _functions(closed: Expr, bodies: tuple[Expr, ...], names: tuple[str, ...], pair: bool) -> Any:
    law, bindings = (("q1", "q2", "c"), pair_bindings()) if pair else (("q",), ())
    yield EmittedFunction("value", closed, law, names, bindings=bindings)
    for i, body in enumerate(bodies):
        yield EmittedFunction(f"f{i}", body, ("x",), names)


def _points(pair: bool) -> Iterator[tuple[float, ...]]:
    for q in VARIANCES:
        if pair:
            yield from ((q, q, c) for c in CORRELATIONS)
        else:
            yield (q,)


def _size(f: Any, q: float, given: dict[str, float]) -> float:
    """sqrt(E f(x)^2), x ~ N(0, q), to a few digits."""
    z = np.linspace(-9.03, 9.01, 4001)
    values = f(np.sqrt(q) * z, **given)
    return float(np.sqrt(np.sum(values**2 * np.exp(-z * z / 2)) * (z[1] - z[0]) / np.sqrt(2 * np.pi)))


def _truth(program: Any, point: tuple[float, ...], given: dict[str, float]) -> flint.arb | None:
    """The value to far more digits than a double has, or None."""
    with flint.ctx.workprec(BITS):
        values = {name: flint.arb(value) for name, value in given.items()}
        if len(point) == 1:
            values["q"] = flint.arb(point[0])
        else:
            q1, q2, c = map(flint.arb, point)
            values |= {"q1": q1, "q2": q2, "K": c * (q1 * q2).sqrt(), "Delta": q1 * q2 * (1 - c) * (1 + c)}
        found = run_balls(program, {name: values[name] for name in program.inputs})["value"].real
        return found if found.is_finite() and float(found.rad()) < 1e-30 * (1e-30 + abs(float(found.mid()))) else None


__all__ = ["ENOUGH", "error_of", "error_of_text", "form_for_code", "integrable", "keeps_digits"]
