"""Layer normalisation over the channels of one input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sympy import Abs, Expr, Function, Heaviside, Integer, Max, Min, Piecewise, sign, sqrt

from derive.gaussian.answer import answer
from derive.gaussian.node import GaussianE
from derive.layers.finite import Finite
from derive.layers.stage import Stage
from derive.layers.unit import gaussian, moments_only
from derive.records import Undefined
from derive.records.state import State


@dataclass(frozen=True, repr=False)
class LayerNorm(Stage):
    """y = (x - mean over channels) / (standard deviation over channels), without affine parameters.

    Wide limit: mean and variance over channels are their expectations, so M -> 1, mu -> 0,
    E y1 y2 = (E x1 x2 - mu1 mu2)/(s1 s2) and gradients grow by 1/Var x.
    Source: Ba et al. 2016 (arXiv 1607.06450), eq. 3.
    """

    keeps_width: ClassVar[bool] = True

    def forward(self, state: State) -> State:
        """The state after normalisation; Gaussian signals stay Gaussian."""
        s = state
        var1, var2 = s.second1 - s.mean1**2, s.second2 - s.mean2**2
        demand_spread(var1, self)
        return normalised(s, var1, var2, (s.cross - s.mean1 * s.mean2) / sqrt(var1 * var2), (Integer(0), Integer(0)))

    def apply(self, x: Any, finite: Finite) -> Any:
        """Centred and scaled over the channels."""
        centred = x - finite.xp.mean(x, -1)[:, None]
        return centred / finite.xp.mean(centred**2, -1)[:, None] ** 0.5

    def __repr__(self) -> str:
        return "layernorm"


def demand_spread(size: Expr, layer: Stage) -> None:
    """Raises Undefined where what a normalisation divides by is zero: a signal that is constant, or zero."""
    sure = {node: answer(node).closed for node in size.atoms(GaussianE) if not _varies(node)}
    if size.xreplace({node: value for node, value in sure.items() if value is not None}) == 0:
        raise Undefined(
            f"{layer!r} behind a constant signal",
            why="it divides by the spread of the signal, which is zero",
            instead="a function that is not constant before it",
        )


def _varies(node: GaussianE) -> bool:
    """Whether the integrand visibly depends on its units: what is built from more than kinks and powers is left."""
    kinks = (Max, Min, Abs, Heaviside, sign, Piecewise)
    many = node.cov.rows > 1 and bool(node.body.free_symbols & set(node.variables))
    return many or not all(isinstance(f, kinks) for f in node.body.atoms(Function))


def normalised(s: State, size1: Expr, size2: Expr, cross: Expr, means: tuple[Expr, Expr]) -> State:
    """The state divided by sqrt(size1), sqrt(size2), its second moments being one."""
    one, gain, tangent = Integer(1), s.gain / size1, s.tangent / sqrt(size1 * size2)
    if s.gaussian:
        return gaussian(one, one, cross, gain, tangent)
    mean1, mean2 = means
    return moments_only(s, mean1=mean1, mean2=mean2, second1=one, second2=one, cross=cross, gain=gain, tangent=tangent)


LAYER = LayerNorm
