"""Parallel branches that are added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sympy import Add, Expr, Integer

from derive.layers.finite import Finite
from derive.layers.nested import Nested, act, budget, passed, run, stages_of
from derive.layers.unit import gaussian, moments_only
from derive.records import EocError
from derive.records.state import State


@dataclass(frozen=True, repr=False, init=False)
class Sum(Nested):
    """y = F_1(x) + ... + F_n(x), each branch with weights of its own at its end or passing a known share of x.

    Second and cross moments and gains add; where branches pass x on, F_i = p_i x + n_i, the products count:
    M = sum M_i + ((sum p_i)^2 - sum p_i^2) M_x. A branch's share of the variance is its own M_i.
    Dividing each sigma_w^2 by n keeps the variance. Elementary.
    """

    blocks: ClassVar[tuple[str, ...]] = ("*",)
    branches: tuple[Any, ...] = ()
    keeps_width: ClassVar[bool] = True

    def __init__(self, *branches: Any) -> None:
        object.__setattr__(self, "branches", branches)

    @property
    def inner(self) -> tuple[Any, ...]:
        """The stages of all branches."""
        return tuple(stage for branch in self.branches for stage in stages_of(branch))

    def forward(self, state: State) -> State:
        """The state of the sum. Raises EocError for a branch of which it is not known what it passes."""
        names = ("second1", "second2", "cross", "gain", "tangent")
        parts, shares = [run(stages_of(branch), state) for branch in self.branches], self._shares()
        both = Add(*shares) ** 2 - Add(*(p**2 for p in shares))
        sums = {n: Add(*(getattr(part, n) for part in parts)) + both * getattr(state, n) for n in names}
        if all(part.gaussian for part in parts) and (state.gaussian or not any(shares)):
            return gaussian(*sums.values())
        means = {name: Add(*shares) * getattr(state, name) for name in ("mean1", "mean2")}
        return moments_only(state, **means, **sums)

    def _shares(self) -> list[Expr]:
        """What each branch passes of the signal itself."""
        shares = []
        for branch in self.branches:
            share = passed(stages_of(branch))
            if share is None:
                raise EocError(
                    f"the branch {branch!r} does not end in a Dense",
                    why="only fresh weights make branches independent",
                    instead="Sum(phi >> Dense(), psi >> Dense())",
                )
            shares.append(share)
        return shares

    @property
    def passed(self) -> Expr | None:
        """The sum of what the branches pass, where it is known of all."""
        shares = [passed(stages_of(branch)) for branch in self.branches]
        return None if None in shares else Add(*shares)

    def budget(self, state: State) -> tuple[Expr, ...]:
        """Each branch's share of the variance, behind a state such as `derive.layers.block.start()`."""
        return budget(self.branches, (Integer(1),) * len(self.branches), state)

    def apply(self, x: Any, finite: Finite) -> Any:
        """The branches added."""
        return sum(act(stages_of(branch), x, finite) for branch in self.branches)

    def __repr__(self) -> str:
        return f"sum({', '.join(map(repr, self.branches))})"


LAYER = Sum
