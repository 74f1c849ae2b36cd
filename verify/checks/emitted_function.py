"""Emitted NumPy and torch code of the activation itself, against the formula's own tree in 40 digits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mpmath
import numpy as np

from derive.records import Enclosure
from verify.checking import Check, Claim, Exact, Point
from verify.checks.emitted_maps import UNITS, VARIANTS, call, failed, returned
from verify.judge import Judgement, compare
from verify.subject import Subject

GRID = (-20, -6, -2.5, -1.25, -0.5, -(2.0**-12), 2.0**-12, 0.375, 0.75, 1.5, 3.5, 8, 20)


def claims(subject: Subject) -> Iterator[Claim]:
    """phi at 13 points and its torch gradient far out, in units of the dtype's epsilon."""
    from derive import Activation

    yield claim(subject, Activation(subject.formula))


def claim(subject: Subject, activation: Any) -> Claim:
    """The claim about the emitted code of an activation."""
    mp = mpmath.mp.clone()
    mp.dps = 40
    phi = subject.exact(mp)
    size = float(subject.number(subject.theory.second_moment, q=1)) ** 0.5
    points = tuple(_point(x, phi(x), size) for x in GRID)
    witnesses = [
        Exact(f"{backend} {dtype}", _evaluated(subject, activation, points, backend, dtype))
        for backend, dtype in VARIANTS
    ]
    witnesses.append(Exact("torch gradient", _gradient(subject, activation, points)))
    return Claim("activation", "emitted code of the activation", r"\varphi(x)", "EXACT", points, tuple(witnesses))


def _point(x: float, value, size: float) -> Point:
    with mpmath.workdps(40):
        enclosure = Enclosure(mpmath.mpf(value), abs(mpmath.mpf(value)) * mpmath.mpf(10) ** -35)
    return Point((("x", x),), enclosure, max(abs(float(value)), size))


def _function(subject: Subject, activation: Any, backend: str):
    emitted = activation.compile(backend)
    fixed = {name: float(value) for name, value in subject.parameters.items()}
    return lambda x: emitted(x, **fixed)


def _evaluated(subject: Subject, activation: Any, points: tuple[Point, ...], backend: str, dtype: str):
    def decide() -> list[Judgement]:
        x = np.array([float(dict(p.values)["x"]) for p in points], dtype=dtype)
        function = _function(subject, activation, backend)
        try:
            out = call(function, ("x",), [x], backend)
        except Exception as error:  # whatever emitted code raises refutes it, and is shown
            return failed(points, error)
        note = "" if str(out.dtype) == dtype else f"the dtype {out.dtype} comes out"
        allowed = UNITS * float(np.finfo(dtype).eps)
        return [
            returned(value, float(p.predicted.mid), allowed * p.scale, p.scale, note)
            for value, p in zip(out.tolist(), points, strict=True)
        ]

    return decide


def _gradient(subject: Subject, activation: Any, points: tuple[Point, ...]):
    """Gradients of the emitted code are finite, also at -1000 and 1000 in float32 where phi itself is."""

    def decide() -> list[Judgement]:
        import torch

        function = _function(subject, activation, "torch")
        x = torch.tensor([-1000.0, 1000.0, *(float(dict(p.values)["x"]) for p in points)], requires_grad=True)
        y = function(x)
        (gradient,) = torch.autograd.grad(y.sum(), x)
        wrong = (torch.isfinite(y) & ~torch.isfinite(gradient)).tolist()
        far = "the gradient is not finite at x = -1000 or 1000" if any(wrong[:2]) else ""
        notes = ["the gradient is not finite" if bad else far for bad in wrong[2:]]
        return [compare(float(bool(note)), 0.0, 0.0, 1.0, note) for note in notes]

    return decide


CHECK = Check("emitted_function", ("activation",), claims, order=200)
