"""Where the theory begins anew: the batch itself, and what is not read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from verify.models.state import State
from verify.models.step import Step, averaged


@dataclass(frozen=True, kw_only=True)
class Input(Step):
    """The batch as it is: moments over its own features."""

    title: ClassVar[str] = "input"
    tokens: bool = False
    """Whether it holds numbers of tokens, of which no moments are taken."""


@dataclass(frozen=True, kw_only=True)
class Opaque(Step):
    """An operation that is not read: behind it the theory starts again from the moments measured there.

    Squared gradients do not pass it: what is before has no prediction.
    """

    title: ClassVar[str] = "not read"
    reason: str = ""

    def back(self, states: Sequence[State], gradient: Any) -> list[Any]:
        """Not known."""
        lost = float(averaged(gradient).sum()) * np.nan
        return [np.full(state.places, lost) for state in states]


OPERATIONS: dict[str, Any] = {}
