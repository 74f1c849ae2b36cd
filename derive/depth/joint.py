"""V(q) = q and chi(q) = 1 as two equations in two unknowns: candidates in floats, each certified in balls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np
from flint import arb
from sympy import Expr, Symbol

from derive.depth.edge import edge_point
from derive.depth.edges import EdgeOfChaos
from derive.gaussian.numbers import ball, differentiate, evaluate
from derive.gaussian.scan import scan
from derive.program.symbols import SIGMA_B, SIGMA_W, Q
from derive.records import EdgePoint, EocError, Unsupported

Values = Mapping[str, Any]
SYMBOLS = {"q": Q, "sigma_w": SIGMA_W, "sigma_b": SIGMA_B}
RANGES = {"q": (1e-6, 1e4, 41), "sigma_w": (0.05, 20.0, 33), "sigma_b": (1e-3, 10.0, 25)}
STEPS, POLISH = 25, 3
RADII = ("1e-14", "1e-12", "1e-10", "1e-8")


@dataclass(frozen=True)
class System:
    """The equations V/q - 1 = 0, chi - 1 = 0 in the two unknowns, with the four partial derivatives."""

    equations: tuple[Expr, Expr]
    slopes: tuple[tuple[Expr, Expr], tuple[Expr, Expr]]
    unknowns: tuple[str, str]
    values: Values

    def at(self, place: tuple[arb, arb], digits: int = 20) -> list[arb]:
        """Both equations at a place."""
        here = self._here(place)
        return [evaluate(e, here, digits)[0] for e in self.equations]

    def jacobian(self, place: tuple[arb, arb], digits: int = 14) -> list[list[arb]]:
        """The partial derivatives at a place or over a box."""
        here = self._here(place)
        return [[evaluate(e, here, digits)[0] for e in row] for row in self.slopes]

    def _here(self, place: tuple[arb, arb]) -> dict[str, Any]:
        return {**self.values, **dict(zip(self.unknowns, place, strict=True))}


def system(variance: Expr, gain: Expr, values: Values, unknowns: tuple[str, str]) -> System:
    """The equations with their derivatives."""
    equations = (variance / Q - 1, gain - 1)
    symbols: tuple[Symbol, ...] = tuple(SYMBOLS[name] for name in unknowns)
    rows = tuple((differentiate(e, symbols[0]), differentiate(e, symbols[1])) for e in equations)
    return System(equations, (rows[0], rows[1]), unknowns, values)


def solve(variance: Expr, gain: Expr, values: Values, given: Mapping[str, Fraction | None]) -> EdgeOfChaos:
    """The solutions with one of q, sigma_b, sigma_w given.

    Candidates are cells of a logarithmic grid in which both equations change sign, followed by Newton's method; each
    is certified by Krawczyk's test (exactly one solution in its box). Two closer than the grid could be missed.
    """
    known = {name: value for name, value in given.items() if value is not None}
    if len(known) != 1:
        raise EocError("one of q, sigma_b, sigma_w fixes the points", where=", ".join(known))
    unknowns = tuple(name for name in SYMBOLS if name not in known)
    absent = [name for name in unknowns if name != "q" and not (variance.has(SYMBOLS[name]) or gain.has(SYMBOLS[name]))]
    if absent:
        raise Unsupported(
            "the edge of chaos of a block whose sigmas are given",
            why=f"no {absent[0]} is open, so that two conditions are too many",
            instead="leave sigma_w and sigma_b of a Dense open, or ask .at(sigma_w, sigma_b)",
        )
    both = system(variance, gain, {**values, **known}, (unknowns[0], unknowns[1]))
    points = [_point(variance, both, box) for box in _boxes(both)]
    points.sort(key=lambda p: p.q.mid)
    (name, value), rest = next(iter(known.items())), " and ".join(_range(n) for n in unknowns)
    where = f"with {name} = {value} and {rest}: cells of a grid, two solutions in one could be missed"
    return EdgeOfChaos(tuple(points), f"{'none' if not points else 'all found'} {where}")


def folds(variance: Expr, values: Values, sigma_b: Fraction) -> tuple[tuple[arb, arb], ...]:
    """The (q, sigma_w) with V(q) = q and V'(q) = 1, where two fixed points meet; candidates as in `solve`."""
    both = system(variance, differentiate(variance, Q), {**values, "sigma_b": sigma_b}, ("q", "sigma_w"))
    return tuple(_boxes(both))


def _boxes(both: System) -> list[tuple[arb, arb]]:
    """The certified solutions that Newton's method finds from the candidates."""
    boxes: list[tuple[arb, arb]] = []
    seen: list[tuple[float, float]] = []
    for start in _candidates(both):
        near = _guessed(both, start)
        if near is None or any(np.allclose(near, other, rtol=1e-6, atol=0) for other in seen):
            continue
        seen.append(near)
        found = certified(both, near)
        if found is not None:
            boxes.append(found)
    return boxes


def _range(name: str) -> str:
    low, high, _ = RANGES[name]
    return f"{name} from {low:g} to {high:g}"


def _candidates(both: System) -> list[tuple[float, float]]:
    """Centres of the cells in which both equations change sign, near which Newton's method starts."""
    first, second = (np.geomspace(*RANGES[name]) for name in both.unknowns)
    tables = [np.empty((len(second), len(first))) for _ in both.equations]
    for j, other in enumerate(second):
        here = {**both.values, both.unknowns[1]: Fraction(float(other))}
        for table, equation in zip(tables, both.equations, strict=True):
            table[j] = scan(equation, here, both.unknowns[0], first)
    mixed = np.ones((len(second) - 1, len(first) - 1), bool)
    for table in tables:
        corners = np.stack([table[:-1, :-1], table[1:, :-1], table[:-1, 1:], table[1:, 1:]])
        mixed &= np.isfinite(corners).all(0) & (corners.min(0) <= 0) & (corners.max(0) >= 0)
    middle = [np.sqrt(g[:-1] * g[1:]) for g in (first, second)]
    return [(float(middle[0][i]), float(middle[1][j])) for j, i in np.argwhere(mixed)]


def _guessed(both: System, start: tuple[float, float]) -> tuple[float, float] | None:
    """Newton's method in floats with differences for derivatives, in the logarithms of the unknowns."""
    first, second = start
    for _ in range(STEPS):
        here = _floats(both, first, second)
        step = (
            np.linalg.lstsq(here[:, 1:], here[:, 0], rcond=None)[0] if np.isfinite(here).all() else np.array([np.inf])
        )
        size = float(np.abs(step).max())
        if not np.isfinite(size):
            return None
        step = step * min(1.0, 0.7 / size) if size > 0 else step
        first, second = first * float(np.exp(-step[0])), second * float(np.exp(-step[1]))
        if not _within(both.unknowns, (first, second)):
            return None
        if size < 1e-7:
            return first, second
    return None


def _floats(both: System, first: float, second: float, h: float = 1e-6) -> np.ndarray:
    """Rows (f, df/dlog of the first unknown, df/dlog of the second) of both equations."""
    name, other = both.unknowns
    rows = []
    for equation in both.equations:
        here, moved = (
            scan(equation, {**both.values, other: Fraction(y)}, name, [first, first * (1 + h)])
            for y in (second, second * (1 + h))
        )
        rows.append([here[0], (here[1] - here[0]) / h, (moved[0] - here[0]) / h])
    return np.array(rows)


def _within(unknowns: tuple[str, str], place: tuple[float, float]) -> bool:
    return all(RANGES[n][0] / 3 < p < RANGES[n][1] * 3 for n, p in zip(unknowns, place, strict=True))


def certified(both: System, start: tuple[float, float]) -> tuple[arb, arb] | None:
    """The box of the one solution next to a place, polished by Newton's method; None where it is not certified."""
    with flint.ctx.workprec(140):
        place = arb(start[0]), arb(start[1])
        for _ in range(POLISH):
            step = _solved([[e.mid() for e in row] for row in both.jacobian(place)], [v.mid() for v in both.at(place)])
            if step is None:
                return None
            place = ((place[0] - step[0]).mid(), (place[1] - step[1]).mid())
        for radius in RADII:
            box = _krawczyk(both, place, arb(radius))
            if box is not None:
                return box
    return None


def _krawczyk(both: System, place: tuple[arb, arb], radius: arb) -> tuple[arb, arb] | None:
    """K = x - Y f(x) + (1 - Y J(X)) (X - x): inside X it holds the one zero of f in X.

    Source: Krawczyk 1969; Neumaier 1990, Interval Methods for Systems of Equations, theorem 5.1.8.
    """
    around = [arb(0, (abs(p) * radius).upper()) for p in place]
    box = (place[0] + around[0], place[1] + around[1])
    values, rows = both.at(place, 24), both.jacobian(box)
    (a, b), (c, d) = [[e.mid() for e in row] for row in rows]
    determinant = a * d - b * c
    if determinant.contains(0):
        return None
    y = [[d / determinant, -b / determinant], [-c / determinant, a / determinant]]
    y = [[e.mid() for e in row] for row in y]
    image = []
    for i in range(2):
        move = y[i][0] * values[0] + y[i][1] * values[1]
        rest = arb(0)
        for k in range(2):
            product = y[i][0] * rows[0][k] + y[i][1] * rows[1][k]
            rest += ((1 if i == k else 0) - product) * around[k]
        image.append(place[i] - move + rest)
    inside = all(im.is_finite() and x.contains_interior(im) for im, x in zip(image, box, strict=True))
    return (image[0], image[1]) if inside else None


def _solved(rows: list[list[arb]], values: list[arb]) -> list[arb] | None:
    (a, b), (c, d) = rows
    determinant = a * d - b * c
    if not determinant.is_finite() or determinant.contains(0):
        return None
    return [
        ((d * values[0] - b * values[1]) / determinant).mid(),
        ((a * values[1] - c * values[0]) / determinant).mid(),
    ]


def _point(variance: Expr, both: System, place: tuple[arb, arb]) -> EdgePoint:
    here = both._here(place)
    with flint.ctx.workprec(140):
        w, b, q = (ball(here[name]) for name in ("sigma_w", "sigma_b", "q"))
        parallel = evaluate(differentiate(variance, Q), here, 20)[0]
        return edge_point(w**2, b**2, q, parallel)


__all__ = ["System", "certified", "folds", "solve", "system"]
