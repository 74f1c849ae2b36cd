"""An activation function applied to each coordinate."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sympy import Expr

from derive.gaussian.node import pair, single
from derive.program.symbols import X
from derive.records import EocError
from derive.records.state import State


@dataclass(frozen=True)
class Elementwise:
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

    def forward(self, state: State) -> State:
        """The state after the activation; it is no longer Gaussian."""
        self._demand(state)
        f, s = self.phi, state
        return State(
            single(f, s.second1),
            single(f, s.second2),
            single(f**2, s.second1),
            single(f**2, s.second2),
            pair(f, f, s.second1, s.second2, s.cross),
            gaussian=False,
        )

    def backward(self, state: State) -> Expr:
        """E phi'(z)^2 at the first input's variance."""
        self._demand(state)
        return single(self.dphi**2, state.second1)

    def then(self, outer: Elementwise) -> Elementwise:
        """The composed activation outer(self(x))."""
        from derive.activation.normal_form import derivative, normal_form, to_piecewise

        phi = outer.phi.subs(X, self.phi)
        slope, jumps = derivative(normal_form(phi))
        domains = tuple(dict((*self.domains, *outer.domains)).items())
        name = f"{outer.name}({self.name})" if self.name and outer.name else ""
        return Elementwise(phi, to_piecewise(slope), jumps, name, domains)

    def _demand(self, state: State) -> None:
        if not state.gaussian:
            raise EocError(
                "an activation needs a Gaussian pre-activation",
                why="the signal is Gaussian only after a layer with fresh weights",
                instead="put a Dense between: ... >> Dense() >> ...",
            )

    def __rshift__(self, other: Any) -> Any:
        from derive.layers.block import join

        return join(self, other)

    def __repr__(self) -> str:
        return self.name or str(self.phi)
