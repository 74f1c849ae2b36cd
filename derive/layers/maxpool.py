"""The maximum over independent units, or over positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sympy import Expr, Heaviside, Max, Mul

from derive.layers import positions
from derive.layers.finite import Finite, grouped
from derive.layers.stage import Stage, demand_unit, size
from derive.layers.unit import copies, mirrored, of_unit, rises
from derive.program.symbols import X
from derive.records.state import State, Unit


@dataclass(frozen=True, repr=False)
class MaxPool(Stage):
    """x = max(x_1, ..., x_k) over k units of the layer below, which are independent; the width becomes n / k.

    k     number of units, or of positions of a window
    over  "units": units of one layer (maxout, the multi-node activation); "positions": places of one channel, whose
          pre-activations have the correlations `rho`, between inputs Cov(u_a, v_b) = K rho_ab
    rho   one correlation (a number or a symbol's name) or a matrix of them

    Moments: E max, E max^2 and E max max' over k independent pairs. The gradient flows to the largest unit:
    E |grad|^2 = k E [f'(z_1)^2 1{x_1 largest}]. Behind a function that never falls the maximum is that of the
    Gaussian units: max f(z_i) = f(max z_i). Source: Goodfellow et al. 2013 (arXiv 1302.4389), eq. 1, for the unit;
    moments by order statistics. Behind a function that falls it is that of the smallest unit, which is minus the
    largest of their mirror images.
    """

    k: Any = 2
    over: str = "units"
    rho: Any = None

    @property
    def domains(self) -> tuple[tuple[str, Any], ...]:
        """The symbol of the correlation, where there is one."""
        return positions.domains(self)

    def forward(self, state: State) -> State:
        """The state of the maximum. Raises EocError where only moments of the signal are known."""
        if positions.place(self) == "positions":
            return positions.largest(self, state)
        unit = demand_unit(self, state)
        if len(unit.variables) == 1 and rises(unit.body.subs(unit.variables[0], -X)):
            unit = mirrored(unit)
        parts = copies(unit, size(self.k, "k"))
        if len(unit.variables) == 1 and rises(unit.body):
            largest = Max(*(part.variables[0] for part in parts))
            body = unit.body.subs(unit.variables[0], largest)
            ranks: list[Expr] = [part.variables[0] for part in parts]
        else:
            body = Max(*(part.body for part in parts))
            ranks = [part.body for part in parts]
        first = _first_is_largest(ranks)
        slopes = tuple((n * len(parts), slope * first) for n, slope in parts[0].slopes)
        variables = tuple(z for part in parts for z in part.variables)
        return of_unit(Unit(variables, body, slopes, unit.law), state.before)

    def apply(self, x: Any, finite: Finite) -> Any:
        """The largest of every k neighbouring units (or positions: they lie side by side)."""
        return finite.xp.amax(grouped(x, size(self.k, "k")), -1)


def _first_is_largest(ranks: list[Expr]) -> Expr:
    return Mul(*(Heaviside(ranks[0] - other) for other in ranks[1:]))


LAYER = MaxPool
