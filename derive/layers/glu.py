"""Gated units: one half of the layer below, times an activation of the other half."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sympy import Integer

from derive.layers.finite import Finite
from derive.layers.stage import Stage, demand_unit
from derive.layers.unit import copies, of_unit
from derive.program.symbols import X
from derive.records import EocError
from derive.records.state import State, Unit


@dataclass(frozen=True, repr=False)
class GLU(Stage):
    """x = a phi(g) for independent units a, g of the layer below; the width becomes n / 2.

    gate  the activation: sigmoid (GLU), SiLU (SwiGLU), GELU (GEGLU), ReLU (ReGLU), None for the product (bilinear)

    E x = 0, E x^2 = q E phi(g)^2, E x x' = K E phi(g) phi(g'); E |grad|^2 = E phi^2 + q E phi'^2.
    Source: Dauphin et al. 2017 (arXiv 1612.08083), section 2; Shazeer 2020 (arXiv 2002.05202), eqs. 4-5.
    """

    formulas: ClassVar[tuple[str, ...]] = ("gate",)
    gate: Any = None

    @property
    def domains(self) -> tuple[tuple[str, Any], ...]:
        """The gate's parameters with their domains."""
        return getattr(self.layer_of_gate, "domains", ())

    @property
    def layer_of_gate(self) -> Any:
        """The gate as a layer, None for the plain product."""
        return getattr(self.gate, "layer", self.gate)

    @property
    def jumps(self) -> tuple[Any, ...]:
        """Jumps of the gate, which make the gradient gain infinite."""
        return getattr(self.layer_of_gate, "jumps", ())

    def forward(self, state: State) -> State:
        """The state of the product. Raises EocError unless it follows a layer with fresh weights."""
        unit = demand_unit(self, state)
        if not unit.linear:
            raise EocError(f"{self!r} follows a Dense", instead="Dense() >> GLU(phi)")
        value, slope = copies(unit, 2)
        a, g = value.body, slope.body
        gate = self.layer_of_gate
        phi = X if gate is None else gate.phi
        dphi = Integer(1) if gate is None else gate.dphi
        opened, steep = phi.subs(X, g), dphi.subs(X, g)
        return of_unit(Unit((a, g), a * opened, ((1, opened), (1, a * steep)), unit.law), state.before)

    def apply(self, x: Any, finite: Finite) -> Any:
        """The first half times the gate of the second."""
        half = x.shape[1] // 2
        a, g = x[:, :half], x[:, half:]
        return a * (g if self.gate is None else finite.function(self.layer_of_gate)(g))

    def __repr__(self) -> str:
        return f"glu({self.layer_of_gate!r})" if self.gate is not None else "glu"


LAYER = GLU
