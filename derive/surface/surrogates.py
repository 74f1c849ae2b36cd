"""Surrogates of open expectations: measured where code is written, checked against enclosures, called by the code."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from sympy import Expr, srepr

from derive import cache
from derive.activation.normal_form import breakpoints, normal_form
from derive.activation.pieces import piece_function
from derive.emit import EmittedFunction, emit, load
from derive.emit.surrogates import Level, surrogates
from derive.gaussian import numbers
from derive.gaussian.factors import pair_factors
from derive.gaussian.node import pair, single
from derive.gaussian.series.hermite_rows import measure, moment_step
from derive.program.symbols import X
from derive.records import EocError, Unsupported

LADDER = (1.0, 2.0, 10.0, 100.0)
"""The largest variances of the levels, each about ten times dearer than the one before."""
MOST_TERMS = 8000
TOP_UNDER_JIT = 10.0
ALLOWED = 3e-14
"""Error against enclosures, in units of sqrt(E f^2 E g^2), up to which a level is kept."""

Box = tuple[float, float]


def box_of(given: Any) -> Box | None:
    """A box of variances (low, high) from (low, high), or from the highest alone."""
    if given is None:
        return None
    low, high = (float(v) for v in given) if isinstance(given, Sequence) else (0.0, float(given))
    if not 0 <= low < high < float("inf"):
        raise EocError(f"box = {given!r} is no range of variances", instead="box=(1e-12, 10)")
    return low, high


def pair_levels(f: Expr, g: Expr, box: Box | None) -> tuple[Level, ...]:
    """Levels of E f(u) g(v) whose sums agree with enclosures; none where f or g is not smooth or has parameters.

    With a box there is one level, and Unsupported is raised where it is not reached.
    """
    return _levels(f, g, box, _pair_level)


def moment_levels(f: Expr, box: Box | None) -> tuple[Level, ...]:
    """Levels of E f(x); as `pair_levels`."""
    return _levels(f, f, box, _moment_level)


@lru_cache(maxsize=256)
def _levels(
    f: Expr, g: Expr, box: Box | None, measured: Callable[[Expr, Expr, float], Level | None]
) -> tuple[Level, ...]:
    smooth = not (f.free_symbols | g.free_symbols) - {X} and not any(breakpoints(normal_form(h)) for h in (f, g))
    tops = LADDER if box is None else (box[1],)
    found: list[Level] = []
    for top in tops if smooth else ():
        if found and max(p[0] for p in found[-1].parts) * top / found[-1].top > MOST_TERMS:
            break
        level = _recalled(f, g, top, measured)
        if level is None:
            break
        found.append(level)
    if box is not None and not found:
        why = "its Hermite coefficients decay too slowly" if smooth else "it has kinks, jumps or free parameters"
        raise Unsupported(f"no fast code up to q = {box[1]:g}", where=str(f), why=why, instead="leave the box out")
    return tuple(found)


def _recalled(f: Expr, g: Expr, top: float, measured: Callable[[Expr, Expr, float], Level | None]) -> Level | None:
    question = {"surrogate": measured.__name__, "f": srepr(f), "g": srepr(g), "top": top}

    def compute() -> list[Any]:
        level = measured(f, g, top)
        return [] if level is None else [level.top, level.step, level.parts, level.sides]

    def trouble(error: OSError) -> None:
        warnings.warn(f"the measured surrogate could not be stored: {error}", stacklevel=2)

    stored = cache.recall(question, compute, trouble)
    if not stored:
        return None
    top, step, (even, odd), sides = stored
    return Level(top, step, (tuple(even), tuple(odd)), sides)


def _pair_level(f: Expr, g: Expr, top: float) -> Level | None:
    module = _loaded(f, g, None)
    first = module.f
    found = measure(first, first if f == g else module.g, top)
    if found is None:
        return None
    parities = {piece_function(h, {}).parity for h in (f, g)}
    level = Level(top, found.step, found.parts, 1 if parities in ({"odd"}, {"even"}) else 2)
    return level if pair_error(f, g, level) <= ALLOWED else None


def _moment_level(f: Expr, _: Expr, top: float) -> Level | None:
    step = moment_step(_loaded(f, f, None).f, top)
    if step is None:
        return None
    level = Level(top, step, ((0, 0, 0), (0, 0, 0)), 2)
    return level if moment_error(f, level) <= ALLOWED else None


def pair_error(f: Expr, g: Expr, level: Level) -> float:
    """The largest error of the emitted sum in units of sqrt(E f^2 E g^2), against certified enclosures.

    At c = 1 and -1 for q1 = q2 = top, for q1 = top and q2 = top/7, and for small variances: every term of the series
    is largest there, so that sum a_k(q)^2 = E f^2 bounds what is left out for every c (Parseval). And at c = 0.7,
    where the error of a rank too small is of first order.
    """
    value, worst = _loaded(f, g, level).value, 0.0
    node, size_f, size_g = pair(f, g), single(f * f), single(g * g)
    for r1, r2 in ((1, 1), (1, Fraction(1, 7)), (Fraction(1, 10**6), Fraction(1, 10**6))):
        q1, q2 = (Fraction(level.top) * r for r in (r1, r2))
        scale = (_number(size_f, q=q1) * _number(size_g, q=q2)) ** 0.5
        for c in (Fraction(1), Fraction(-1), *((Fraction(7, 10),) if r2 == Fraction(1, 7) else ())):
            want = _number(node, q1=q1, q2=q2, c=c)
            worst = max(worst, abs(float(value(float(q1), float(q2), float(c))) - want) / scale)
    return worst


def moment_error(f: Expr, level: Level) -> float:
    """The largest error of the emitted rule over E |f| against enclosures at three variances."""
    module, worst = _loaded(f, f, level), 0.0
    for r in (1, Fraction(1, 7), Fraction(1, 10**6)):
        q = Fraction(level.top) * r
        scale = float(module.size(float(q)))
        worst = max(worst, abs(float(module.moment(float(q))) - _number(single(f), q=q)) / scale)
    return worst


def quick(node: Expr, line: str, name: str, backend: str, box: Box | None, law: str) -> tuple[str, list[str]]:
    """The line that computes a node by its levels, and what the docstring says; the given line where it has none.

    The given line, `target = _pair(...)` or `target = _expectation(...)`, stays what is called beyond the levels;
    `law` is the text of its variances and correlation.
    """
    if backend not in surrogates():
        if box is not None:
            raise Unsupported(f"{backend} code with a box", instead=" or ".join(surrogates()))
        return line, []
    target, _, slow = line.partition(" = ")
    if len(node.variables) == 2:
        f, g = pair_factors(node)
        levels = pair_levels(f, g, box)
        key = hashlib.sha256(f"{srepr(f)} {srepr(g)}".encode()).hexdigest()[:12]
        call = f"_surrogate('{key}', {name}f, {name}{'f' if f == g else 'g'}"
    else:
        levels = moment_levels(node.body.subs(node.variables[0], X), box)
        call = f"_moment({name}f"
    if backend == "jax" and box is None:  # every level is compiled with the first call
        levels = tuple(level for level in levels if level.top <= TOP_UNDER_JIT)
    if not levels:
        return line, []
    otherwise = "None" if box is not None else f"lambda *law: {slow.replace(f', {law}, (', ', *law, (')}"
    shown = ", ".join(level.text for level in levels)
    return f"{target} = {call}, ({shown},), {otherwise}, {law})", [
        _words(target, levels, len(node.variables) == 2, box)
    ]


def _words(target: str, levels: tuple[Level, ...], pairs: bool, box: Box | None) -> str:
    tops = ", ".join(f"{level.top:g}" for level in levels)
    steps = f"up to {tops} (the largest decides)" if box is None else f"up to {tops}, NaN beyond"
    if not pairs:
        return f"{target} for variances {steps}: a trapezoidal rule, error below 1e-14 E |f|, checked by enclosures."
    return (
        f"{target} for variances {steps}: a Hermite series in c (Mehler), compressed.\n"
        f"Its error is below {ALLOWED:g} sqrt(E f^2 E g^2): checked against certified enclosures at c = 1 and -1,\n"
        "where every term is largest (Parseval), and at c = 0.7. Between the points of the check it is measured."
    )


def _number(node: Expr, **values: Fraction) -> float:
    return float(numbers.number(node, values, 16).mid)


def _loaded(f: Expr, g: Expr, level: Level | None) -> Any:
    text = emit((EmittedFunction("f", f, ("x",)), EmittedFunction("g", g, ("x",))), "numpy")
    if level is not None:
        second = "f" if f == g else "g"
        levels = f"({level.text},)"
        text += "\n\n" + surrogates()["numpy"] + "\n\n\n"
        text += f"def value(q1, q2, c):\n    return _surrogate('check', f, {second}, {levels}, None, q1, q2, c)\n\n\n"
        text += f"def moment(q):\n    return _moment(f, {levels}, None, q)\n\n\n"
        text += f"def size(q):\n    return _moment(lambda x: np.abs(f(x)), {levels}, None, q)\n"
    return load(text)


__all__ = ["Box", "box_of", "moment_error", "moment_levels", "pair_error", "pair_levels", "quick"]
