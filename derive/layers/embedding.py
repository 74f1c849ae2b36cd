"""A vector that is added to the stream: an embedding of the position, the token or the class."""

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
class Embedding(Stage):
    """y = x + e with e ~ N(0, std^2) for each coordinate, independent of x.

    std     standard deviation of the table's entries, a number or a name; torch's nn.Embedding has 1
    shared  correlation of the two inputs' vectors: 1 where both have the same position (or token), 0 where not

    M -> M + std^2, E x1 x2 -> E x1 x2 + shared std^2, gradients pass. Elementary; the sum of token and position is
    one embedding after another.
    """

    std: Any = 1
    shared: Any = 1
    keeps_width: ClassVar[bool] = True

    @property
    def passed(self) -> Expr:
        """The signal itself is in what leaves the layer, once."""
        return Integer(1)

    @property
    def scales(self) -> tuple[Scale, ...]:
        """The standard deviation and the share."""
        return scale(self.std, "std"), scale(self.shared, "shared")

    @property
    def domains(self) -> tuple[tuple[str, Any], ...]:
        """Their names, if they have any."""
        return tuple(pair for part in self.scales for pair in part.domains)

    def forward(self, state: State) -> State:
        """The state of the sum; a Gaussian stays one. Raises EocError for a share that is no correlation."""
        std, shared = (part.expr for part in self.scales)
        if shared.is_number and not -1 <= shared <= 1:
            raise EocError(f"shared = {shared} is no correlation", instead="shared=1, or 0 for different positions")
        second1, second2 = state.second1 + std**2, state.second2 + std**2
        cross = state.cross + shared * std**2
        if state.gaussian:
            return gaussian(second1, second2, cross, state.gain, state.tangent)
        return moments_only(state, second1=second1, second2=second2, cross=cross)

    def apply(self, x: Any, finite: Finite) -> Any:
        """A vector for each input, correlated as `shared` says."""
        std, shared = (finite.number(part.expr) for part in self.scales)
        common, own = finite.normal((1, x.shape[1])), finite.normal(tuple(x.shape))
        return x + std * (shared**0.5 * common + (1 - shared) ** 0.5 * own)


LAYER = Embedding
