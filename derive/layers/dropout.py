"""Dropout and other noise on the coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sympy import Expr, Integer

from derive.layers.finite import Finite
from derive.layers.scale import Scale, scale
from derive.layers.stage import Stage
from derive.layers.unit import moments_only
from derive.records import EocError
from derive.records.state import State


@dataclass(frozen=True, repr=False)
class Dropout(Stage):
    """x -> x m / (1 - p), m = 0 with probability p, drawn afresh for every coordinate and input (inverted dropout).

    p  number in [0, 1), or the name of a symbol

    E x stays, E x^2 and gradients grow by 1/(1 - p), E x1 x2 stays: two copies of one input come apart, so that
    c = 1 is no fixed point and no edge of chaos is left at sigma_b = 0.
    Source: Schoenholz et al. 2017 (arXiv 1611.01232), section 4; Pretorius et al. 2018 (arXiv 1811.00293), eq. 9.
    """

    p: Any = 0.5
    keeps_width: ClassVar[bool] = True

    @property
    def passed(self) -> Expr:
        """The signal itself is in what leaves the layer, once."""
        return Integer(1)

    @property
    def separates(self) -> bool:
        """Whether two copies of one input come apart."""
        return bool(self.scales[0].expr != 0)

    @property
    def scales(self) -> tuple[Scale, ...]:
        """The rate."""
        return (scale(self.p, "p"),)

    @property
    def domains(self) -> tuple[tuple[str, Any], ...]:
        """The rate's name, if it has one."""
        return self.scales[0].domains

    @property
    def notes(self) -> tuple[str, ...]:
        """What dropout does to criticality."""
        return ("with dropout two copies of one input decorrelate: c = 1 is no fixed point",)

    def forward(self, state: State) -> State:
        """The state after dropout; it is no longer Gaussian. Raises EocError for a rate outside [0, 1)."""
        p = self.scales[0].expr
        if p.is_number and not 0 <= p < 1:
            raise EocError(f"p = {self.p} is no dropout rate", instead="p=0.5")
        kept = 1 - p
        return moments_only(state, second1=state.second1 / kept, second2=state.second2 / kept, gain=state.gain / kept)

    def apply(self, x: Any, finite: Finite) -> Any:
        """Masks of every coordinate of every input."""
        p = finite.number(self.scales[0].expr)
        return x * (finite.uniform(tuple(x.shape)) >= p) / (1 - p)


LAYER = Dropout
