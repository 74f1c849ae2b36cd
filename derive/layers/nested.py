"""Layers that hold blocks of their own: what they hand on to the block around them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sympy import Integer

from derive.layers.finite import Finite
from derive.layers.stage import Stage, Unjoined
from derive.records.state import State


def stages_of(branch: Any) -> tuple[Any, ...]:
    """The stages of a branch given as a block, a layer or an activation; none for the identity."""
    from derive.layers.block import Block, as_layer

    if branch is None:
        return ()
    return branch.stages if isinstance(branch, Block) else (as_layer(branch),)


def run(stages: tuple[Any, ...], state: State) -> State:
    """The state after stages. Raises Unjoined naming both sides of a join and what to put between."""
    before: Any = None
    for stage in stages:
        state, before = joined(before, stage, state), stage
    return state


def joined(before: Any, stage: Any, state: State) -> State:
    """The state behind a stage, of which an error names the stage before it too."""
    try:
        return stage.forward(state)
    except Unjoined as error:
        if before is None or " >> " in error.what:
            raise
        raise Unjoined(
            f"{before!r} >> {stage!r} cannot be joined",
            why=f"behind {before!r} only the moments of the signal are known, and {stage!r} needs its law",
            instead=f"put a Dense between: {before!r} >> dense >> {stage!r}",
        ) from None


def budget(branches: tuple[Any, ...], weights: tuple[Any, ...], state: State) -> tuple[Any, ...]:
    """Each branch's share of the second moment behind all of them, at a state before them."""
    from sympy import Add

    parts = [w * run(stages_of(branch), state).second1 for branch, w in zip(branches, weights, strict=True)]
    return tuple(part / Add(*parts) for part in parts)


def act(stages: tuple[Any, ...], x: Any, finite: Finite) -> Any:
    """What the stages do to an array of activations."""
    for stage in stages:
        x = stage.apply(x, finite)
    return x


def every_stage(stages: tuple[Any, ...]) -> Iterator[Any]:
    """The stages and those inside them, in order."""
    for stage in stages:
        yield stage
        yield from every_stage(getattr(stage, "inner", ()))


def passed(stages: tuple[Any, ...]) -> Any:
    """p where the stages are y = p x + n with E n = 0 whatever x, so that E x y = p E x^2; None where not known."""
    product: Any = Integer(1)
    for stage in reversed(stages):
        part = stage.passed
        if part is None:
            return None
        product = product * part
        if product == 0:
            return product
    return product


def independent(stages: tuple[Any, ...]) -> bool:
    """Whether a coordinate behind the stages is independent of the same one before: fresh weights lie between."""
    for i in reversed(range(len(stages))):
        if not stages[i].keeps_width:
            return False
        if hasattr(stages[i], "weights"):
            return True
    return False


class Nested(Stage):
    """A layer with branches: `inner` are the stages of all of them."""

    @property
    def inner(self) -> tuple[Any, ...]:
        """The stages of all branches."""
        raise NotImplementedError

    @property
    def domains(self) -> tuple[tuple[str, Any], ...]:
        """Parameters of everything inside, with their domains."""
        own = tuple(pair for s in getattr(self, "scales", ()) for pair in s.domains)
        return (*own, *(pair for stage in self.inner for pair in getattr(stage, "domains", ())))

    @property
    def jumps(self) -> tuple[Any, ...]:
        """Jumps of the activations inside."""
        return tuple(jump for stage in self.inner for jump in getattr(stage, "jumps", ()))

    @property
    def has_weights(self) -> bool:
        """Whether a layer with fresh weights is inside: then the block around needs no Dense of its own."""
        return any(hasattr(stage, "weights") or getattr(stage, "has_weights", False) for stage in self.inner)
