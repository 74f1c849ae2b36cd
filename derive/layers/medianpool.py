"""The median of an odd number of independent units."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from sympy import Add, Expr, Heaviside, Integer, Max, Min, Mul, Symbol, binomial, sqrt

from derive.gaussian.node import single
from derive.gaussian.special import NormalCdf
from derive.layers.finite import Finite, grouped
from derive.layers.maxpool import MaxPool
from derive.layers.stage import Stage, demand_unit, size
from derive.layers.unit import copies, of_unit, rises
from derive.program.symbols import X
from derive.records import EocError
from derive.records.state import State, Unit


@dataclass(frozen=True, repr=False)
class MedianPool(Stage):
    """x = the median of k units of the layer below, k odd; the width becomes n / k.

    k     number of units: 3, 5 or 7
    over  "units"

    The median of k = 2 m + 1 units has the density k binom(2m, m) phi Phi^m (1 - Phi)^m (David & Nagaraja 2003,
    Order Statistics, eq. 2.1.6), and behind a function that rises it is f of the median. One unit passes the
    gradient. For three pre-activations x = sum - max - min, so that E x x' = 2 A(K) - 2 A(-K) - K with the pair of
    maxima A(K) = E max u max v; other pairs have no proved number, only an `estimate`.
    """

    k: Any = 3
    over: str = "units"

    def forward(self, state: State) -> State:
        """The state of the median. Raises EocError for an even number, or behind a function that may fall."""
        unit, k = demand_unit(self, state), size(self.k, "k")
        if k % 2 == 0:
            raise EocError(f"the median of {k} units is the mean of two of them", instead=f"medianpool({k + 1})")
        if self.over != "units":
            raise EocError("a median over positions is not derived", instead="maxpool or avgpool over positions")
        if len(unit.variables) != 1 or not rises(unit.body.subs(unit.variables[0], X)):
            raise EocError(
                "the median behind this signal is not derived",
                why="it is f of the median only behind a function f of one unit that never falls",
                instead="dense >> medianpool(3) >> f",
            )
        if k not in (3, 5, 7):
            raise EocError(f"the median of {k} units is not derived", instead="medianpool(3), 5 or 7 units")
        return _odd(unit, state, k)

    def apply(self, x: Any, finite: Finite) -> Any:
        """The median of every k neighbouring units: the middle of their order."""
        windows, k = grouped(x, size(self.k, "k")), size(self.k, "k")
        rows = [windows[..., i] for i in range(k)]
        for top in range(k - 1, 0, -1):  # sorting by exchanges needs nothing but minimum and maximum
            for i in range(top):
                low, high = finite.xp.minimum(rows[i], rows[i + 1]), finite.xp.maximum(rows[i], rows[i + 1])
                rows[i], rows[i + 1] = low, high
        return rows[k // 2]


def _line(body: Expr, q: Expr, k: int) -> Expr:
    """E of a function of the median of k units of variance q."""
    half, below = k // 2, NormalCdf(X / sqrt(q))
    return single(k * binomial(2 * half, half) * body * below**half * (1 - below) ** half, q)


def _odd(unit: Unit, state: State, k: int) -> State:
    z, (q1, q2, cross) = unit.variables[0], unit.law
    f, ((_, slope),), half = unit.body.subs(z, X), unit.slopes, k // 2
    zs = tuple(part.variables[0] for part in copies(unit, k))
    median = Max(*(Min(*some) for some in combinations(zs, half + 1)))
    first, *others = zs
    middle = Add(*(_between(first, below, others) for below in combinations(others, half)))
    pooled = Unit(zs, unit.body.subs(z, median), ((k, slope.subs(z, first) * middle),), unit.law)
    known = replace(
        of_unit(pooled, state.before),
        mean1=_line(f, q1, k),
        mean2=_line(f, q2, k),
        second1=_line(f**2, q1, k),
        second2=_line(f**2, q2, k),
        gain=state.before[0] * _line(slope.subs(z, X) ** 2, q1, k),
    )
    if not unit.linear:
        return known
    known = replace(known, mean1=Integer(0), mean2=Integer(0), gain=state.before[0])
    if k > 3:
        return known
    up, down = (MaxPool(3).forward(_with(state, unit, sign * cross)) for sign in (1, -1))
    shared = 2 * up.tangent + 2 * down.tangent - state.before[1]
    return replace(known, cross=2 * up.cross - 2 * down.cross - cross, tangent=shared)


def _between(first: Symbol, below: tuple[Symbol, ...], others: list[Symbol]) -> Expr:
    """The indicator that these lie below the first unit, and the others above it."""
    return Mul(*(Heaviside(first - z if z in below else z - first) for z in others))


def _with(state: State, unit: Unit, cross: Expr) -> State:
    """The state of pre-activations with another covariance between the inputs."""
    law = (unit.law[0], unit.law[1], cross)
    return replace(state, unit=replace(unit, law=law))


LAYER = MedianPool
