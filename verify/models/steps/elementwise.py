"""Activations: any function of one number, put together from torch's operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from derive.records import EocError
from verify.models.angles import products
from verify.models.moments import Moments, known, moments_of
from verify.models.state import State, sampled
from verify.models.step import Step

TINY = 1e-30


@dataclass(frozen=True, kw_only=True)
class Elementwise(Step):
    """x = phi(z): on a Gaussian z by the derived moments of phi, on any other by phi of its draws."""

    formula: str

    @property
    def label(self) -> str:
        """The formula."""
        return self.formula if len(self.formula) <= 40 else self.formula[:37] + "..."

    @property
    def moments(self) -> Moments:
        """The derived moments of phi."""
        return moments_of(self.formula)

    def forward(self, states: Sequence[State]) -> State:
        """Moments at all pairs of places."""
        (state,) = states
        if not state.gaussian:
            return sampled(self.shape, state.feature, lambda: self.moments.phi(state.draws))
        q = np.maximum(np.diag(state.second), TINY)
        try:
            second = self._pairs(state.second, q)
            mean = np.broadcast_to(self.moments.mean(q), q.shape)
        except EocError:
            return sampled(self.shape, state.feature, lambda: self.moments.phi(state.draws))
        noise = None if state.noise is None else self.moments.parallel(float(q.mean())) ** 2 * state.noise
        fourth = known(lambda: self.moments.fourth(float(q.mean())))
        source = _later(self.moments, state)
        return State(self.shape, state.feature, second, mean, False, state.how, source, noise, fourth)

    def _pairs(self, second: Any, q: Any) -> Any:
        above = np.triu_indices(len(q), 1)
        q1, q2 = q[above[0]], q[above[1]]
        c = np.clip(second[above] / np.sqrt(q1 * q2), -1.0, 1.0)
        found = np.diag(np.broadcast_to(self.moments.second(q), q.shape)).copy()
        if len(c):
            found[above] = products(self.moments, q1, q2, c)
            found.T[above] = found[above]
        return found

    def back(self, states: Sequence[State], gradient: Any) -> list[Any]:
        """Times E phi'^2; feature by feature where the law is not Gaussian, so that units that stay on are followed."""
        (state,) = states
        if state.gaussian and gradient.ndim == 1:
            return [gradient * self.moments.slope(np.maximum(np.diag(state.second), TINY))]
        return [gradient * self.moments.dphi(state.draws) ** 2]

    def spread(self, states: Sequence[State]) -> float:
        """(3 E phi'^4/(E phi'^2)^2 - 1)/n, the share of one layer with its weights; 5/n for a ReLU."""
        (state,) = states
        if not state.gaussian or state.positions:
            return float("nan")
        slope = known(lambda: self.moments.slope(state.moment))
        fourth = known(lambda: self.moments.slope_fourth(state.moment))
        return (3 * fourth / slope**2 - 1) / state.features


def _later(moments: Moments, state: State) -> Any:
    return lambda: moments.phi(state.draws)


OPERATIONS: dict[str, Any] = {}
