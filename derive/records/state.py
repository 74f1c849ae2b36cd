"""What a layer sees of the signal: the moments of one coordinate for a pair of inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sympy import Expr


@dataclass(frozen=True, slots=True)
class State:
    """First and second moments of a coordinate of the stream, for two inputs.

    mean1, mean2      E x for each input
    second1, second2  E x^2 for each input
    cross             E x1 x2
    gaussian          whether (x1, x2) is jointly Gaussian (only after a layer with fresh weights)
    """

    mean1: Expr
    mean2: Expr
    second1: Expr
    second2: Expr
    cross: Expr
    gaussian: bool
