"""Emitted NumPy and torch code of every map, against certified numbers, in float64 and float32."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import isfinite, isnan
from typing import Any

from derive.records import Kind
from verify.checking import Check, Claim, Exact, Point
from verify.enclosures import Moments
from verify.judge import Judgement, Verdict, compare
from verify.layers import answered, points_of
from verify.subject import Subject

UNITS = 64
"""Allowed rounding, in units of the dtype's epsilon times the natural size of the map."""
QUADRATURE = {1: 1e-13, 2: 1e-12}
"""What emitted quadratures state in their docstrings: of one variable, of a pair."""


def claims(subject: Subject) -> Iterator[Claim]:
    """Each map that can be emitted, at points that float32 holds exactly, c = -1 and 1 included."""
    for name, result in subject.theory.results.items():
        if result.kind not in (Kind.DIVERGENT, Kind.UNKNOWN):
            yield claim(subject, name, result)


def claim(subject: Subject, name: str, result: Any) -> Claim:
    """The claim about the emitted code of one map."""
    rng = subject.choices(f"emitted {name}")

    def dyadic(low: float, high: float) -> Fraction:
        return Fraction(round(64 * rng.uniform(low, high)), 64)

    def value(c: Fraction) -> dict[str, Fraction]:
        ranges = {"q": (0.2, 4), "q1": (0.2, 4), "q2": (0.2, 4), "sigma_w": (0.6, 2), "sigma_b": (0.1, 0.6)}
        return {a: c if a == "c" else dyadic(*ranges[a]) for a in result.arguments}

    asked = [value(c) for c in (dyadic(-0.9, -0.1), dyadic(0.1, 0.9), Fraction(-1), Fraction(1))]
    values, note = answered(subject, result, asked)
    points = tuple(
        replace(point, scale=max(point.scale, _natural(subject, name, value)))
        for point, value in zip(points_of(subject, result, values, lambda v: 0.0), values, strict=True)
    )
    emit = cache(lambda backend: subject.compiled(result, backend))
    witnesses = [Exact(f"{b} {d}", _evaluated(emit, result, points, b, d)) for b, d in VARIANTS]
    if name == "covariance_map" and not subject.jumps and "activation" in subject.of:
        witnesses.append(Exact("torch gradient", _gradient(subject, emit, points)))
    title = f"emitted code of the {result.title}"
    return Claim(name, title, result.symbol, str(result.kind), points, tuple(witnesses), note=note)


TINY = Fraction(1, 2**40)
VARIANTS = (("numpy", "float64"), ("numpy", "float32"), ("torch", "float64"), ("torch", "float32"))


def _natural(subject: Subject, name: str, v: Any) -> float:
    """The size against which rounding is measured: what the map would be without cancellation."""
    second = subject.theory.second_moment
    sizes = [
        float(subject.number(second, **{"sigma_w": 1, "sigma_b": 0, **v, "q": v[a]}))
        for a in ("q", "q1", "q2")
        if a in v
    ]
    gain = float(v.get("sigma_w", 1)) ** 2
    if name == "mean":
        return sizes[0] ** 0.5
    if name == "covariance_map":
        return (sizes[0] * sizes[1]) ** 0.5
    if name == "correlation_map":
        return 1.0
    return gain * sizes[0] / (float(v["q"]) if name in ("chi", "chi_parallel") else 1.0)


def _evaluated(emit: Callable, result: Any, points: tuple[Point, ...], backend: str, dtype: str):
    def decide() -> list[Judgement]:
        import numpy as np

        function, names = emit(backend), result.arguments
        columns = [np.array([float(dict(p.values)[n]) for p in points], dtype=dtype) for n in names]
        try:
            out = call(function, names, columns, backend)
        except Exception as error:  # whatever emitted code raises refutes it, and is shown
            return failed(points, error)
        unit = UNITS * float(np.finfo(dtype).eps)
        if result.kind is Kind.INTEGRAL:
            unit += sum(QUADRATURE[node.cov.rows] for node in result.nodes)
        note = "" if str(out.dtype) == dtype else f"the dtype {out.dtype} comes out"
        judgements = []
        for measured, point in zip(out.tolist(), points, strict=True):
            allowed = unit * point.scale + float(point.predicted.rad)
            judgements.append(returned(measured, float(point.predicted.mid), allowed, point.scale, note))
        return judgements

    return decide


def returned(measured: float, predicted: float, allowed: float, scale: float, wrong: str = "") -> Judgement:
    """The judgement of a number that code returned; NaN for a finite number refutes the code, as does `wrong`."""
    if not wrong and isnan(measured) and isfinite(predicted):
        wrong = "NaN comes out"
    if wrong:
        return Judgement(Verdict.FAILS, measured, 0.0, float("inf"), 0.0, wrong)
    return compare(measured, predicted, allowed, scale)


def failed(points: tuple[Point, ...], error: Exception) -> list[Judgement]:
    """The judgement of code that does not run."""
    note = f"the emitted code raised {type(error).__name__}: {str(error)[:200]}"
    return [Judgement(Verdict.FAILS, float("nan"), 0.0, float("inf"), 0.0, note) for _ in points]


def call(function: Any, names: tuple[str, ...], columns: list[Any], backend: str) -> Any:
    """The emitted function on NumPy columns (moved to torch and back for that backend)."""
    if backend == "torch":
        import torch

        columns = [torch.from_numpy(column) for column in columns]
    law = [c for n, c in zip(names, columns, strict=True) if not n.startswith("sigma")]
    sigma = {n: c for n, c in zip(names, columns, strict=True) if n.startswith("sigma")}
    out = function(*law, **sigma)
    return out.numpy() if backend == "torch" else out


def _gradient(subject: Subject, emit: Callable, points: tuple[Point, ...]):
    """Gradients of the emitted torch code: right at c = -1 and 1, finite there, between, and for q next to 0."""

    def decide() -> list[Judgement]:
        function = emit("torch")
        try:
            return [_at(subject, function, dict(p.values)["q1"], dict(p.values)["c"], p.scale) for p in points]
        except RuntimeError as error:
            return failed(points, error)

    return decide


def _at(subject: Subject, function: Callable, q: Fraction, c: Fraction, scale: float) -> Judgement:
    import torch

    found: list[Any] = []
    for variance in (q, q * TINY):
        inputs = [torch.tensor(float(x), dtype=torch.float64, requires_grad=True) for x in (variance, variance, c)]
        found += torch.autograd.grad(function(*inputs), inputs)
    if not all(map(torch.isfinite, found)):
        return compare(float("inf"), 0.0, 0.0, 1.0, "a gradient is not finite")
    if abs(c) < 1:
        return compare(0.0, 0.0, 0.0, 1.0)
    expected, radius = _slope_at_the_edge(subject, q, int(c))
    size = max(abs(expected), scale)
    return compare(float(found[2]), expected, 1e-9 * size + radius, size)


def _slope_at_the_edge(subject: Subject, q: Fraction, c: int) -> tuple[float, float]:
    """dK/dc at q1 = q2 = q and c = -1 or 1, enclosed: q E phi'(u) phi'(c u)."""
    import flint

    from derive.gaussian.enclosure import enclose
    from derive.gaussian.node import single
    from derive.program.symbols import X

    moments = Moments(subject)
    with flint.ctx.workprec(120):
        truth = enclose(single(moments.dphi * moments.dphi.subs(X, c * X)), {**moments.parameters, "q": q}, 16)
        return float(q) * float(truth), float(q) * float(truth.rad())


CHECK = Check("emitted_maps", (), claims, order=210, of=("activation", "block"))
