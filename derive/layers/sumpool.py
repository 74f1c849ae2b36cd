"""The sum over independent units, or over positions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sympy import Symbol

from derive.layers.avgpool import AvgPool
from derive.layers.finite import Finite
from derive.records.state import State


@dataclass(frozen=True, repr=False)
class SumPool(AvgPool):
    """x = x_1 + ... + x_k over k units of the layer below, or over positions: k times the mean (`AvgPool`).

    E x = k mu, E x^2 = k M + k (k - 1) mu^2 and the same for the cross moment; gradients grow by k. Elementary.
    """

    def forward(self, state: State) -> State:
        """The state of the sum."""
        k, s = self.units, super().forward(state)
        square = k**2
        unit = s.unit
        if unit is not None:
            unit = replace(unit, body=(k * unit.body).expand(), slopes=tuple((n, k * g) for n, g in unit.slopes))
        moments = {name: getattr(s, name) * square for name in ("second1", "second2", "cross", "gain", "tangent")}
        return replace(s, mean1=s.mean1 * k, mean2=s.mean2 * k, unit=unit, **moments)

    def apply(self, x: Any, finite: Finite) -> Any:
        """The sum of every k neighbouring units."""
        k = self.units
        return super().apply(x, finite) * (round(finite.number(k)) if isinstance(k, Symbol) else k)


LAYER = SumPool
