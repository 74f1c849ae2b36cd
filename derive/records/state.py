"""What a layer sees of the signal: one coordinate for a pair of inputs, and how a small change reaches it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sympy import Expr, Symbol


@dataclass(frozen=True, slots=True)
class Unit:
    """A coordinate written as a function of Gaussian units of the layer below.

    variables  z1, ..., zk: independent (see `among`), each with the law (q1, q2, cross) over the two inputs
    body       the coordinate f(z1, ..., zk)
    slopes     (count, partial derivative away from kinks): `count` exchangeable variables have this one
    law        (q1, q2, cross): variances of a unit at the two inputs and their covariance
    among      correlations between the variables where they are positions of one channel; None: independent
    """

    variables: tuple[Symbol, ...]
    body: Expr
    slopes: tuple[tuple[int, Expr], ...]
    law: tuple[Expr, Expr, Expr]
    among: tuple[tuple[Expr, ...], ...] | None = None

    @property
    def linear(self) -> bool:
        """Whether the coordinate is the Gaussian unit itself."""
        return self.variables == (self.body,)


@dataclass(frozen=True, slots=True)
class State:
    """First and second moments of a coordinate of the stream, for two inputs, and the gains up to it.

    mean1, mean2      E x for each input
    second1, second2  E x^2 for each input
    cross             E x1 x2
    gain              growth of the squared norm of a gradient on its way back from here to the start, at the first
                      input: the sum of E (dx/dz)^2 over the units z that the coordinate depends on
    tangent           the same for two inputs, the sum of E dx1/dz1 dx2/dz2: what multiplies the tangent kernel
    unit              the coordinate as a function of Gaussian units, None where only moments are known
    before            gain and tangent at those Gaussian units
    """

    mean1: Expr
    mean2: Expr
    second1: Expr
    second2: Expr
    cross: Expr
    gain: Expr
    tangent: Expr
    unit: Unit | None
    before: tuple[Expr, Expr]

    @property
    def gaussian(self) -> bool:
        """Whether (x1, x2) is a centred jointly Gaussian pair (only after a layer with fresh weights)."""
        return self.unit is not None and self.unit.linear
