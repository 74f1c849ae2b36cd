"""All zeros of a function of log q on an interval, none missed: by its models and their proved errors."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import exp, log

import flint
from flint import arb

from derive.depth.chart import Family, Model
from derive.depth.panels import BITS
from derive.records import Unsupported

LOWEST, HIGHEST = 1.7e-6, 1.3e6
CELLS = 14
NARROWEST = 0.02
SMALLEST = 2.0**-16
FINEST = 3e-16
MOST_MODELS = 60


@dataclass(frozen=True)
class Zeros:
    """The zeros of a function of q > 0 on [lower, upper].

    brackets   intervals with exactly one zero each, where the function changes sign
    undecided  intervals on which the function is 0 to all digits computed, or may touch 0
    signs      the sign of the function next to the two ends; None where it is undecided there
    reason     why the interval ends where it ends, if it is shorter than asked
    """

    lower: float
    upper: float
    brackets: tuple[tuple[Fraction, Fraction], ...]
    undecided: tuple[tuple[float, float], ...]
    signs: tuple[int | None, int | None]
    reason: str = ""

    @property
    def how(self) -> str:
        """What is proved, in a sentence."""
        text = (
            f"none missed for q in [{self.lower:.3g}, {self.upper:.3g}]: interpolation in log q with a proved "
            "remainder, each part of the interval without a zero by its sign or with one by its monotonicity"
        )
        if self.undecided:
            parts = ", ".join(f"[{a:.6g}, {b:.6g}]" for a, b in self.undecided)
            text += f"; not decided on {parts}, where the function is too small"
        return f"{text}; {self.reason}" if self.reason else text


def zeros(family: Family, lowest: float = LOWEST, highest: float = HIGHEST) -> Zeros:
    """All zeros for q in [lowest, highest], or on the part of it, from below, on which the function has models."""
    start, end = log(lowest), log(highest)
    edges = [start + (end - start) * k / CELLS for k in range(CELLS + 1)]
    found: list[tuple[float, float, int]] = []
    reason, reached = "", edges[0]
    counted = _Counted(family)
    with flint.ctx.workprec(BITS):
        for a, b in pairwise(edges):
            try:
                found += _cell(counted, a, b)
            except Unsupported as error:
                reason = f"beyond it {error.what}"
                break
            reached = b
    merged = _joined(found)
    brackets = tuple(
        (Fraction(exp(a) * (1 - 1e-14)), Fraction(exp(b) * (1 + 1e-14))) for a, b, kind in merged if kind == 2
    )
    undecided = tuple((exp(a), exp(b)) for a, b, kind in merged if kind == 0)
    ends = _signs(found)
    return Zeros(exp(start), exp(reached), brackets, undecided, ends, reason)


class _Counted:
    """The family with the number of models it may be asked for."""

    def __init__(self, family: Family) -> None:
        self.family, self.left = family, MOST_MODELS

    def __call__(self, a: float, b: float) -> Model:
        self.left -= 1
        if self.left < 0:
            raise Unsupported("the function varies too fast for its models")
        return self.family(a, b)


def _cell(family: Family, a: float, b: float) -> list[tuple[float, float, int]]:
    """Parts of [a, b] with 1 or -1 for a sign without zero, 2 for one zero, 0 for undecided."""
    model = family(a, b)
    parts = _parts(model, a, b)
    loose = [p for p in parts if p[2] == 0]
    # where its error is that of the samples, a shorter model has no more digits
    if not loose or b - a < NARROWEST or model.errors[0] < model.scale * FINEST:
        return parts
    middle = a + (b - a) * 0.4837
    out = []
    for low, high in ((a, middle), (middle, b)):
        if any(p[0] < high and low < p[1] for p in loose):
            out += _cell(family, low, high)
        else:
            out += [(max(p[0], low), min(p[1], high), p[2]) for p in parts if p[0] < high and low < p[1]]
    return out


def _parts(model: Model, a: float, b: float) -> list[tuple[float, float, int]]:
    todo, out = [(-1.0, 1.0)], []
    while todo:
        low, high = todo.pop()
        kind = _kind(model, low, high)
        if kind is None and high - low > SMALLEST and len(todo) + len(out) < 400:
            middle = low + (high - low) * 0.4871
            todo += [(middle, high), (low, middle)]
            continue
        if kind == 2:
            low, high = _closer(model, low, high)
        out.append((_place(low, a, b), _place(high, a, b), kind or 0))
    return out


def _closer(model: Model, low: float, high: float) -> tuple[float, float]:
    """The bracket of the one zero, narrowed as far as the model decides signs."""
    left = _sign(model, arb(low))
    for _ in range(44):
        middle = (low + high) / 2
        sign = _sign(model, arb(middle))
        if sign == 0:
            break
        low, high = (middle, high) if sign == left else (low, middle)
    return low, high


def _place(s: float, a: float, b: float) -> float:
    return a if s == -1 else b if s == 1 else a + (b - a) * (s + 1) / 2


def _kind(model: Model, low: float, high: float) -> int | None:
    centre, half = (arb(low) + arb(high)) / 2, (arb(high) - arb(low)) / 2
    value, rest, slope, slope_rest = model.on(centre, half)
    if abs(value) > rest:
        return 1 if value > 0 else -1
    if not abs(slope) > slope_rest:
        return None
    signs = [_sign(model, arb(end)) for end in (low, high)]
    if signs[0] * signs[1] == 0:
        return None
    return 2 if signs[0] != signs[1] else signs[0]


def _sign(model: Model, s: arb) -> int:
    value = model.poly(s) + arb(0, model.errors[0].upper())
    return 1 if value > 0 else -1 if value < 0 else 0


def _joined(parts: list[tuple[float, float, int]]) -> list[tuple[float, float, int]]:
    """The parts, neighbouring undecided ones joined."""
    out: list[tuple[float, float, int]] = []
    for a, b, kind in parts:
        if out and kind == 0 and out[-1][2] == 0 and abs(out[-1][1] - a) < 1e-12 * max(1, abs(a)):
            out[-1] = (out[-1][0], b, 0)
        else:
            out.append((a, b, kind))
    return out


def _signs(parts: list[tuple[float, float, int]]) -> tuple[int | None, int | None]:
    ends = [parts[0][2], parts[-1][2]] if parts else [0, 0]
    return tuple(e if e in (1, -1) else None for e in ends)  # type: ignore[return-value]


__all__ = ["Zeros", "zeros"]
