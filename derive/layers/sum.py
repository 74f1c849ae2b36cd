"""Parallel branches that are added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sympy import Add, Expr, Integer

from derive.layers.finite import Finite
from derive.layers.nested import Nested, act, budget, run, stages_of
from derive.layers.unit import gaussian
from derive.records import EocError
from derive.records.state import State


@dataclass(frozen=True, repr=False, init=False)
class Sum(Nested):
    """y = F_1(x) + ... + F_n(x), each branch ending in a Dense with weights of its own.

    Second and cross moments and gains add; a branch's share of the variance is its own M_i. Dividing each sigma_w^2
    by n keeps the variance. Elementary.
    """

    blocks: ClassVar[tuple[str, ...]] = ("*",)
    branches: tuple[Any, ...] = ()

    def __init__(self, *branches: Any) -> None:
        object.__setattr__(self, "branches", branches)

    @property
    def inner(self) -> tuple[Any, ...]:
        """The stages of all branches."""
        return tuple(stage for branch in self.branches for stage in stages_of(branch))

    def forward(self, state: State) -> State:
        """The state of the sum. Raises EocError for a branch that does not end in a Dense."""
        parts = []
        for branch in self.branches:
            stages = stages_of(branch)
            if not stages or not hasattr(stages[-1], "weights"):
                raise EocError(
                    f"the branch {branch!r} does not end in a Dense",
                    why="only fresh weights make branches independent",
                    instead="Sum(phi >> Dense(), psi >> Dense())",
                )
            parts.append(run(stages, state))
        names = ("second1", "second2", "cross", "gain", "tangent")
        return gaussian(*(Add(*(getattr(part, name) for part in parts)) for name in names))

    def budget(self, state: State) -> tuple[Expr, ...]:
        """Each branch's share of the variance, behind a state such as `derive.layers.block.start()`."""
        return budget(self.branches, (Integer(1),) * len(self.branches), state)

    def apply(self, x: Any, finite: Finite) -> Any:
        """The branches added."""
        return sum(act(stages_of(branch), x, finite) for branch in self.branches)

    def __repr__(self) -> str:
        return f"sum({', '.join(map(repr, self.branches))})"


LAYER = Sum
