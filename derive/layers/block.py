"""A block: layers in a row, joined by >>."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sympy import Expr, Integer

from derive.layers.dense import Dense
from derive.layers.elementwise import Elementwise
from derive.layers.nested import joined
from derive.layers.stage import Stage
from derive.layers.unit import gaussian
from derive.program.symbols import Q1, Q2, K
from derive.records import EocError, Unsupported
from derive.records.state import State


@dataclass(frozen=True)
class Block:
    """Layers applied from left to right, repeated to make a deep network.

    A block is cyclic: it is observed at the output of its first Dense. Two activations in a row are
    their composition. Raises EocError where a stage is no layer.
    """

    stages: tuple[Any, ...]

    def __rshift__(self, other: Any) -> Block:
        return join(self, other)

    def __rrshift__(self, other: Any) -> Block:
        return join(other, self)

    def __repr__(self) -> str:
        return " >> ".join(map(repr, self.stages))

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of all activations with their domains."""
        return {name: domain for stage in self.stages for name, domain in getattr(stage, "domains", ())}

    def cycle(self) -> tuple[Any, ...]:
        """The stages rotated so that the first layer with weights comes last; a Dense is supplied if there is none.

        A block whose weights are all in branches (Residual) is observed on its stream, as it stands.
        """
        dense = [i for i, stage in enumerate(self.stages) if hasattr(stage, "weights")]
        if not dense and any(getattr(stage, "has_weights", False) for stage in self.stages):
            return self.stages
        if not dense:
            return (*self.stages, Dense())
        first = dense[0]
        return self.stages[first + 1 :] + self.stages[: first + 1]


def as_layer(stage: Any) -> Any:
    """The layer a stage stands for: a layer itself, or anything with a `layer` attribute."""
    if isinstance(stage, Stage):
        return stage
    if hasattr(stage, "layer"):
        return stage.layer
    raise EocError(
        f"{stage!r} is no layer",
        why="a block is made of layers and activations",
        instead='Dense() >> Activation("tanh")',
    )


def join(first: Any, second: Any) -> Block:
    """first >> second, with two activations in a row composed."""
    left = list(first.stages) if isinstance(first, Block) else [as_layer(first)]
    right = list(second.stages) if isinstance(second, Block) else [as_layer(second)]
    if isinstance(left[-1], Elementwise) and isinstance(right[0], Elementwise):
        left[-1:] = [left[-1].then(right.pop(0))]
    return Block(tuple(left + right))


def start() -> State:
    """The state at the output of the first Dense: a centred Gaussian pair with (q1, q2, K)."""
    return gaussian(Q1, Q2, K, Integer(1), Integer(1))


@dataclass(frozen=True)
class BlockMaps:
    """The maps of one turn round a block, as expressions in `GaussianE` nodes.

    output    state of the block's output (before its first Dense is met again)
    cycle     state after that Dense: the next pre-activation
    backward  factor by which the squared norm of a gradient grows over one turn
    """

    output: State
    cycle: State
    backward: Expr
    jumps: tuple[Any, ...]
    notes: tuple[str, ...] = ()


NOT_GAUSSIAN = (
    "the stream behind one turn is not Gaussian: these maps are those of a first turn, repeated ones (fixed points, "
    "edges, depth) need its law; verify.diagnose follows such a stream by draws"
)


def maps(block: Block) -> BlockMaps:
    """Push the pair state once round the block.

    Source: mean-field signal propagation, Poole et al. 2016 (arXiv 1606.05340) and Schoenholz et al. 2017
    (arXiv 1611.01232); the gradient recursion rests on forward and backward weights being independent.
    """
    state, jumps, before = start(), [], None
    output = state
    stages = block.cycle()
    for stage in stages:
        if hasattr(stage, "weights"):
            output = state
        state, before = joined(before, stage, state), stage
        jumps += list(getattr(stage, "jumps", ()))
    if not hasattr(stages[-1], "weights"):
        output = state
    if all(hasattr(stage, "weights") for stage in stages):
        raise Unsupported("the block has no activation", instead="join one: Dense() >> Activation('identity')")
    notes = () if state.gaussian else (NOT_GAUSSIAN,)
    return BlockMaps(output, state, state.gain, tuple(jumps), notes)
