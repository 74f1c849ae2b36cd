"""Gaussian noise on the activations, multiplied and added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sympy import Expr, Integer

from derive.layers.finite import Finite
from derive.layers.scale import Scale, scale
from derive.layers.stage import Stage
from derive.layers.unit import gaussian, moments_only
from derive.records import EocError
from derive.records.state import State


@dataclass(frozen=True, repr=False)
class Noise(Stage):
    """x -> x (1 + m e) + s e', e and e' ~ N(0, 1) drawn afresh for every coordinate and input.

    additive        s, a number or a name
    multiplicative  m, the same

    E x stays, E x^2 -> (1 + m^2) E x^2 + s^2, E x1 x2 stays, squared gradients grow by 1 + m^2: copies of one input
    come apart. A ReLU keeps its variance at sigma_w^2 = 2/(1 + m^2); added noise leaves no fixed point there, since
    q -> q + sigma_w^2 s^2 (Pretorius et al. 2018, arXiv 1811.00293, eqs. 8-10).
    """

    additive: Any = 0
    multiplicative: Any = 0
    keeps_width: ClassVar[bool] = True

    @property
    def passed(self) -> Expr:
        """The signal itself is in what leaves the layer, once."""
        return Integer(1)

    @property
    def scales(self) -> tuple[Scale, ...]:
        """The strengths of both."""
        return scale(self.additive, "additive"), scale(self.multiplicative, "multiplicative")

    @property
    def separates(self) -> bool:
        """Whether two copies of one input come apart."""
        return any(part.expr != 0 for part in self.scales)

    @property
    def domains(self) -> tuple[tuple[str, Any], ...]:
        """The names of the strengths, if they have any."""
        return tuple(pair for part in self.scales for pair in part.domains)

    @property
    def notes(self) -> tuple[str, ...]:
        """What noise does to criticality."""
        return ("with noise two copies of one input decorrelate: c = 1 is no fixed point",) if self.separates else ()

    def forward(self, state: State) -> State:
        """The state behind the noise; added noise leaves a Gaussian signal Gaussian. Raises EocError below 0."""
        s, m = (part.expr for part in self.scales)
        for name, value in (("additive", s), ("multiplicative", m)):
            if value.is_number and value < 0:
                raise EocError(f"{name} = {value} is negative", why="it is a standard deviation", instead=f"{-value}")
        grown = 1 + m**2
        second1, second2 = grown * state.second1 + s**2, grown * state.second2 + s**2
        if state.gaussian and m == 0:
            return gaussian(second1, second2, state.cross, state.gain, state.tangent)
        return moments_only(state, second1=second1, second2=second2, gain=grown * state.gain)

    def apply(self, x: Any, finite: Finite) -> Any:
        """Noise on every coordinate of every input."""
        s, m = (finite.number(part.expr) for part in self.scales)
        shape = tuple(x.shape)
        return x * (1 + m * finite.normal(shape)) + s * finite.normal(shape)


LAYER = Noise
