"""Parallel branches whose channels are put side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sympy import Add, Expr, Integer, Rational

from derive.layers.finite import Finite
from derive.layers.nested import Nested, act, budget, passed, run, stages_of
from derive.layers.stage import ratio
from derive.layers.unit import moments_only
from derive.records import EocError
from derive.records.state import State


@dataclass(frozen=True, repr=False, init=False)
class Concat(Nested):
    """y = (F_1(x), ..., F_n(x)) along the channels, with weights w_i of their widths (equal unless given).

    Moments are averages: M = sum w_i M_i, mu = sum w_i mu_i. A gradient comes back through every branch; with widths
    w_i n the squared norms of its parts are w_i of the whole, so gains are averages too.
    Source: the variance budget of Inception-like blocks; elementary.
    """

    blocks: ClassVar[tuple[str, ...]] = ("*",)
    branches: tuple[Any, ...] = ()
    widths: tuple[Any, ...] = ()

    def __init__(self, *branches: Any, widths: Any = ()) -> None:
        object.__setattr__(self, "branches", branches)
        object.__setattr__(self, "widths", tuple(widths))

    @property
    def inner(self) -> tuple[Any, ...]:
        """The stages of all branches."""
        return tuple(stage for branch in self.branches for stage in stages_of(branch))

    @property
    def shares(self) -> tuple[Expr, ...]:
        """Each branch's share of the width."""
        if not self.widths:
            return (Rational(1, len(self.branches)),) * len(self.branches)
        if len(self.widths) != len(self.branches):
            raise EocError(f"{len(self.widths)} widths for {len(self.branches)} branches", instead="one width a branch")
        sizes = [ratio(width, "a width") for width in self.widths]
        return tuple(size / Add(*sizes) for size in sizes)

    @property
    def keeps_width(self) -> bool:  # type: ignore[override]
        """Where every branch does."""
        return all(stage.keeps_width for stage in self.inner)

    @property
    def passed(self) -> Expr | None:
        """Nothing of the signal, where every branch ends in fresh weights."""
        return Integer(0) if all(passed(stages_of(branch)) == 0 for branch in self.branches) else None

    def forward(self, state: State) -> State:
        """The state of the channels together: only a Dense, a norm or a pooling of moments can follow."""
        parts = [run(stages_of(branch), state) for branch in self.branches]
        names = ("mean1", "mean2", "second1", "second2", "cross", "gain", "tangent")
        shares = self.shares
        mixed = {name: Add(*(w * getattr(p, name) for w, p in zip(shares, parts, strict=True))) for name in names}
        return moments_only(state, **mixed)

    def budget(self, state: State) -> tuple[Expr, ...]:
        """Each branch's share of the second moment, its width counted, behind a state."""
        return budget(self.branches, self.shares, state)

    def apply(self, x: Any, finite: Finite) -> Any:
        """The branches side by side, each with its share of the width."""
        parts = [act(stages_of(branch), x, finite) for branch in self.branches]
        sizes = [round(finite.number(share) * x.shape[1]) for share in self.shares]
        return finite.xp.concatenate([part[:, :n] for part, n in zip(parts, sizes, strict=True)], -1)

    def __repr__(self) -> str:
        return f"concat({', '.join(map(repr, self.branches))})"


LAYER = Concat
