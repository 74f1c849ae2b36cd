"""An activation function applied to each coordinate."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from sympy import Expr

from derive.layers.finite import Finite
from derive.layers.stage import Stage, demand_unit
from derive.layers.unit import of_unit
from derive.program.symbols import X
from derive.records.state import State


@dataclass(frozen=True)
class Elementwise(Stage):
    """x = phi(z) on a Gaussian pre-activation.

    phi, dphi  SymPy expressions in x: the function and its derivative away from kinks
    jumps      Dirac parts of the derivative (a jump makes the gradient gain infinite)
    name       for titles
    domains    (parameter, interval) pairs
    source     the Activation it was made from, whose formula tree independent checks walk; no part of its identity

    Moments: E phi(z), E phi(z)^2, E phi(z1) phi(z2); gradients pick up E phi'(z)^2.
    """

    phi: Expr
    dphi: Expr
    jumps: tuple[Any, ...] = ()
    name: str = ""
    domains: tuple[tuple[str, Any], ...] = ()
    source: Any = field(default=None, compare=False)
    keeps_width: ClassVar[bool] = True

    @property
    def passed(self) -> Expr | None:
        """k for phi(x) = k x, None for other functions."""
        factor, rest = self.phi.as_independent(X, as_Add=False)
        return factor if rest == X or self.phi == 0 else None

    def forward(self, state: State) -> State:
        """The state after the activation: phi of a function of Gaussian units is another one."""
        unit = demand_unit(self, state)
        outer = self.dphi.subs(X, unit.body)
        body, slopes = self.phi.subs(X, unit.body), tuple((n, outer * slope) for n, slope in unit.slopes)
        return of_unit(replace(unit, body=body, slopes=slopes), state.before)

    def apply(self, x: Any, finite: Finite) -> Any:
        """phi of every coordinate."""
        return finite.function(self)(x)

    def then(self, outer: Elementwise) -> Elementwise:
        """The composed activation outer(self(x))."""
        from derive.activation.normal_form import derivative, normal_form, to_piecewise

        phi = outer.phi.subs(X, self.phi)
        slope, jumps = derivative(normal_form(phi))
        domains = tuple(dict((*self.domains, *outer.domains)).items())
        name = f"{outer.name}({self.name})" if self.name and outer.name else ""
        return Elementwise(phi, to_piecewise(slope), jumps, name, domains)

    def __repr__(self) -> str:
        return self.name or str(self.phi)
