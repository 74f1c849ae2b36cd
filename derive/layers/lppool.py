"""The p-norm of independent units."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sympy import Abs, Add, Expr, Integer, Piecewise, Rational, gamma, sign, sqrt

from derive.layers.finite import Finite, grouped
from derive.layers.stage import Stage, demand_unit, ratio, size
from derive.layers.unit import copies, of_unit
from derive.records import EocError
from derive.records.state import State, Unit


@dataclass(frozen=True, repr=False)
class LpPool(Stage):
    """x = (|x_1|^p + ... + |x_k|^p)^(1/p) over k independent units of the layer below; the width becomes n / k.

    k  number of units
    p  at least 1; 2 is the Euclidean norm

    p = 2: E x^2 = k M exactly, and for pre-activations E x = sqrt(2 q) Gamma((k+1)/2)/Gamma(k/2) (the chi
    distribution) with gradients of the size of one unit. Cross moments for p = 2, and everything for other p, are
    expectations over all units, which only `estimate` answers.
    """

    k: Any = 2
    p: Any = 2

    def forward(self, state: State) -> State:
        """The state of the norm. Raises EocError where only moments of the signal are known."""
        unit, k, p = demand_unit(self, state), size(self.k, "k"), ratio(self.p, "p")
        if not p >= 1:
            raise EocError(f"p = {self.p} is no norm", instead="p=2")
        parts = copies(unit, k)
        sizes = [part.body**2 if p == 2 else Abs(part.body) ** p for part in parts]
        total = Add(*sizes)
        first = parts[0].body
        lean = first / sqrt(total) if p == 2 else sign(first) * Abs(first) ** (p - 1) * total ** (1 / p - 1)
        if not unit.linear:  # all units may vanish together
            lean = Piecewise((lean, total > 0), (0, True))
        slopes = tuple((n * k, slope * lean) for n, slope in parts[0].slopes)
        body = sqrt(total) if p == 2 else total ** (1 / p)
        known = of_unit(Unit(tuple(z for x in parts for z in x.variables), body, slopes, unit.law), state.before)
        if p != 2:
            return known
        known = replace(known, second1=k * state.second1, second2=k * state.second2)
        return _chi(known, unit, k) if unit.linear else known

    def apply(self, x: Any, finite: Finite) -> Any:
        """The norm of every k neighbouring units."""
        p = float(ratio(self.p, "p"))
        total = (abs(grouped(x, size(self.k, "k"))) ** p).sum(-1)
        some = total > 0
        return finite.xp.where(some, total, 1 + 0 * total) ** (1 / p) * some


def _chi(known: State, unit: Unit, k: int) -> State:
    """Of pre-activations: the chi distribution, and a gradient of norm 1."""
    factor: Expr = gamma(Rational(k + 1, 2)) / gamma(Rational(k, 2))
    mean1, mean2 = (sqrt(2 * q) * factor for q in unit.law[:2])
    return replace(known, mean1=mean1, mean2=mean2, gain=known.before[0] * Integer(1))


LAYER = LpPool
