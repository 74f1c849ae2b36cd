"""The mean over independent units, or over positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sympy import Add, Expr, Symbol

from derive.layers import positions
from derive.layers.finite import Finite, grouped
from derive.layers.scale import POSITIVE
from derive.layers.stage import Stage, size
from derive.layers.unit import copies
from derive.program.symbols import parameter
from derive.records.state import State, Unit

WRITTEN_OUT = 4
"""Up to this many units the mean is kept as a function of them, so that an activation may follow."""


@dataclass(frozen=True, repr=False)
class AvgPool(Stage):
    """x = (x_1 + ... + x_k) / k over k independent units of the layer below; the width becomes n / k.

    k     number of units, or the name of a symbol
    over  "units": units of one layer; "positions": places of one channel with the correlations `rho`
    rho   one correlation (a number or a symbol's name) or a matrix of them

    E x stays; E x^2 = (M + (k - 1) mu^2) / k and the same for the cross moment; gradients shrink by k.
    Elementary. Over positions
    E x^2 = sum_ab E f(z_a) f(z_b) / k^2 with the pairs' own correlations, and for two inputs Cov(u_a, v_b) = K rho_ab.
    """

    k: Any = 2
    over: str = "units"
    rho: Any = None

    @property
    def units(self) -> Any:
        """The number of units, or its symbol."""
        named = isinstance(self.k, str) and self.k.isidentifier()
        return parameter(self.k, POSITIVE) if named else size(self.k, "k")

    @property
    def domains(self) -> tuple[tuple[str, Any], ...]:
        """The symbol's domain, where there is one."""
        own = ((self.k, POSITIVE),) if isinstance(self.units, Symbol) else ()
        return (*own, *positions.domains(self))

    def forward(self, state: State) -> State:
        """The state of the mean."""
        if positions.place(self) == "positions":
            return positions.mean(self, state)
        k, s = self.units, state

        def shrunk(moment: Expr, product: Expr) -> Expr:
            return (moment + (k - 1) * product) / k

        return State(
            s.mean1,
            s.mean2,
            shrunk(s.second1, s.mean1**2),
            shrunk(s.second2, s.mean2**2),
            shrunk(s.cross, s.mean1 * s.mean2),
            s.gain / k,
            s.tangent / k,
            None if isinstance(k, Symbol) or k > WRITTEN_OUT or s.unit is None else _mean(s.unit, k),
            s.before,
        )

    def apply(self, x: Any, finite: Finite) -> Any:
        """The mean of every k neighbouring units."""
        k = self.units
        return finite.xp.mean(grouped(x, round(finite.number(k)) if isinstance(k, Symbol) else k), -1)


def _mean(unit: Unit, k: int) -> Unit:
    parts = copies(unit, k)
    variables = tuple(z for part in parts for z in part.variables)
    slopes = tuple((n * k, slope / k) for n, slope in parts[0].slopes)
    return Unit(variables, Add(*(part.body for part in parts)) / k, slopes, unit.law)


LAYER = AvgPool
