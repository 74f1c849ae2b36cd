"""The logarithm of a sum of exponentials: a smooth maximum."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sympy import Add, Expr, Rational, cosh, exp, log, tanh

from derive.gaussian.node import pair, single
from derive.layers.finite import Finite, grouped
from derive.layers.scale import scale
from derive.layers.stage import Stage, demand_unit, size
from derive.layers.unit import copies, of_unit
from derive.program.symbols import X
from derive.records import EocError
from derive.records.state import State, Unit


@dataclass(frozen=True, repr=False)
class LogSumExp(Stage):
    """x = log(exp(t x_1) + ... + exp(t x_k))/t over k independent units of the layer below; the width becomes n / k.

    k          number of units
    sharpness  t > 0, a number or a symbol's name; the maximum for t -> oo

    Gradients flow by the softmax weights. For two pre-activations x = m + h(d), m their mean, d their difference,
    which are independent, and h(d) = log(2 cosh(t d/2))/t: moments are expectations of one Gaussian, or of one pair.
    Other cases have expectations over all units, which only `estimate` answers.
    """

    k: Any = 2
    sharpness: Any = 1

    @property
    def domains(self) -> tuple[tuple[str, Any], ...]:
        """The sharpness, where it is a symbol."""
        return scale(self.sharpness, "sharpness").domains

    def forward(self, state: State) -> State:
        """The state of the smooth maximum. Raises EocError where only moments of the signal are known."""
        unit, k, t = demand_unit(self, state), size(self.k, "k"), scale(self.sharpness, "sharpness").expr
        if t.is_number and not t > 0:
            raise EocError(f"sharpness = {self.sharpness} is not positive", instead="sharpness=1")
        parts = copies(unit, k)
        powers = [exp(t * part.body) for part in parts]
        share = powers[0] / Add(*powers)
        slopes = tuple((n * k, slope * share) for n, slope in parts[0].slopes)
        pooled = Unit(tuple(z for p in parts for z in p.variables), log(Add(*powers)) / t, slopes, unit.law)
        known = of_unit(pooled, state.before)
        return _two(known, unit, t) if k == 2 and unit.linear else known

    def apply(self, x: Any, finite: Finite) -> Any:
        """The smooth maximum of every k neighbouring units, from the largest on, which does not overflow."""
        t = finite.number(scale(self.sharpness, "sharpness").expr)
        windows = t * grouped(x, size(self.k, "k"))
        top = finite.xp.amax(windows, -1)
        return (top + finite.xp.log(finite.xp.exp(windows - top[..., None]).sum(-1))) / t


def _two(known: State, unit: Unit, t: Expr) -> State:
    """Of two pre-activations: mean and difference come apart, with variances q/2 and 2 q."""
    q1, q2, cross = unit.law
    h, lean = log(2 * cosh(t * X / 2)) / t, tanh(t * X / 2)
    half = Rational(1, 2)
    # the softmax weights are (1 +- tanh(t d/2))/2: their squares sum to (1 + tanh^2)/2
    return replace(
        known,
        mean1=single(h, 2 * q1),
        mean2=single(h, 2 * q2),
        second1=q1 / 2 + single(h**2, 2 * q1),
        second2=q2 / 2 + single(h**2, 2 * q2),
        cross=cross / 2 + pair(h, h, 2 * q1, 2 * q2, 2 * cross),
        gain=known.before[0] * half * (1 + single(lean**2, 2 * q1)),
        tangent=known.before[1] * half * (1 + pair(lean, lean, 2 * q1, 2 * q2, 2 * cross)),
    )


LAYER = LogSumExp
