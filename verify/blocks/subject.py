"""A block under test: its theory, numbers for its parameters, and what its layers need to act on arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import lcm, prod
from typing import TYPE_CHECKING, Any

from sympy import Expr

from derive.layers.finite import Finite
from derive.layers.nested import every_stage
from derive.layers.stage import size
from derive.records import DomainError, EocError
from verify.checking import Uncheckable
from verify.reference import slope_function, torch_function
from verify.stream import choices
from verify.subject import drawn_parameter, module_function
from verify.tested import Tested

if TYPE_CHECKING:
    import torch

    from verify.blocks.units import Units
    from verify.report.record import Report

POOLS = {"maxpool", "minpool", "avgpool", "sumpool", "medianpool", "logsumexp", "lppool", "stochasticpool"}
"""Layers of which one output looks at k neighbouring units."""
SPREAD = POOLS | {"elementwise", "dense", "glu", "dropout", "layernorm", "rmsnorm", "residual", "sum", "concat",
                  "flatten"}  # fmt: skip
"""Layers that act within groups of neighbouring units, pair halves, or average over all: units may be spread."""
LOCAL = SPREAD - {"dense", "layernorm", "rmsnorm", "sum"}
"""Layers of which each output depends on a few units: means over them are unbiased at every width."""


@dataclass(frozen=True)
class BlockSubject(Tested):
    """A theory of a block under test.

    theory      the Theory whose derived quantities are the claims
    parameters  a number for each of its parameters
    functions   the user's own functions by layer, found so far
    source      the block's text, for a report that can be run again; empty for a block put together in Python
    """

    of = "block"
    theory: Any
    parameters: Mapping[str, Fraction]
    seed: int = 0
    dtype: Any = None
    functions: dict = field(default_factory=dict, compare=False, repr=False)
    source: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def report(self, *run: Any) -> Report:
        """The report of this subject, from its claims and how they were tested."""
        text = repr(self.theory.block)
        domains = tuple((name, str(domain)) for name, domain in self.theory.domains)
        return self.reported(*run, subject=text, formula=text, domains=domains, latex="")

    @cached_property
    def stages(self) -> tuple[Any, ...]:
        """One turn of the block."""
        return self.theory.block.cycle()

    @cached_property
    def body(self) -> tuple[Any, ...]:
        """The stages up to the block's output."""
        return self.stages[:-1] if hasattr(self.stages[-1], "weights") else self.stages

    @cached_property
    def last(self) -> Any:
        """The layer with weights at the end of a turn; None for a block observed on its stream."""
        return self.stages[-1] if hasattr(self.stages[-1], "weights") else None

    @cached_property
    def kinds(self) -> frozenset[str]:
        """Names of the layers of a turn, those in branches included, the last one left out."""
        return frozenset(type(stage).__name__.lower() for stage in every_stage(self.body))

    @property
    def local(self) -> bool:
        """Whether averages over the output's units are unbiased at every width."""
        return self.kinds <= LOCAL

    @property
    def spread(self) -> bool:
        """Whether the units of a layer may be spread evenly."""
        return self.kinds <= SPREAD

    @cached_property
    def group(self) -> int:
        """Neighbouring units that one unit of the output may depend on."""
        return prod(self._size(stage) for stage in every_stage(self.stages))

    @property
    def halves(self) -> bool:
        """Whether a layer pairs halves."""
        return "glu" in self.kinds

    @cached_property
    def grain(self) -> int:
        """Widths are multiples of it."""
        found = [2 * self.group]
        for stage in every_stage(self.stages):
            if hasattr(stage, "taps"):
                found.append(2 * int(stage.kernel) * int(stage.groups))
            found += [int(share.q) for share in getattr(stage, "shares", ())]
        return lcm(*found)

    def width(self, wanted: int) -> int:
        """The next width that every layer can divide."""
        return -(-wanted // self.grain) * self.grain

    def _size(self, stage: Any) -> int:
        if type(stage).__name__.lower() not in POOLS:
            return 1
        units = getattr(stage, "units", None)
        return round(self.value(units, {})) if isinstance(units, Expr) else size(stage.k, "k")

    def demand_arrays(self) -> None:
        """Raise Uncheckable where arrays of two inputs say nothing about the block."""
        if "batchnorm" in self.kinds:
            raise Uncheckable(
                "no evidence is built for batch normalisation",
                why="its statistics are those of a large batch, and networks are sampled on two inputs",
            )

    def value(self, expr: Any, values: Mapping[str, Any]) -> float:
        """The number of an expression in the theory's symbols."""
        known = {**self.parameters, **values}
        return float(expr.subs({s: _rational(known[s.name]) for s in expr.free_symbols}))

    def finite(self, units: Units, width: int, values: Mapping[str, Any]) -> Finite:
        """What the layers need to act on arrays of torch."""
        import torch

        number = _remembering(lambda expr: self.value(expr, values))
        return Finite(width, torch, units.normal, units.uniform, number, self.function)

    def function(self, stage: Any) -> Callable[[torch.Tensor], torch.Tensor]:
        """The user's own function of an elementwise layer, differentiated in forward mode."""
        if id(stage) not in self.functions:
            self.functions[id(stage)] = _differentiable(self._own(stage))
        return self.functions[id(stage)]

    def _own(self, stage: Any) -> Callable[[torch.Tensor], torch.Tensor]:
        source = getattr(stage, "source", None)
        if source is not None and getattr(source, "module", None) is not None:
            return module_function(source.module)
        if source is not None and hasattr(source, "formula"):
            return torch_function(source.formula, self.parameters)
        from derive.formula import from_sympy

        formula = from_sympy(stage.phi, domains=dict(self.theory.domains), name=stage.name)
        return torch_function(formula, self.parameters)


def block_subject(theory: Any, seed: int, parameters: Mapping[str, Any], text: str = "") -> BlockSubject:
    """The subject of a block; free parameters are drawn from their domains by the seed."""
    import torch

    domains = dict(theory.domains)
    unknown = sorted(set(parameters) - set(domains))
    if unknown:
        raise EocError(f"the block has no parameter {unknown[0]}", instead=", ".join(domains) or "it has none")
    values, source = _values(theory, domains, seed, parameters), {"kind": "block", "text": text} if text else {}
    return BlockSubject(theory, values, seed, torch.float64, source=source)


def _values(theory: Any, domains: Mapping[str, Any], seed: int, given: Mapping[str, Any]) -> dict[str, Fraction]:
    from derive.surface.exact import exact

    rng = choices(seed, "parameters")
    counts = {getattr(stage, "k", None) for stage in every_stage(theory.block.stages)}
    values = {}
    for name, domain in domains.items():
        drawn = Fraction(int(rng.integers(2, 4))) if name in counts else drawn_parameter(domain, rng)
        values[name] = exact(given[name], name) if name in given else drawn
        if values[name] not in domain:
            raise DomainError(f"{name} = {values[name]} is outside its domain {domain}")
    return values


def _rational(value: Any) -> Any:
    from sympy import Float, Rational

    return Rational(value.numerator, value.denominator) if isinstance(value, Fraction | int) else Float(float(value))


def _remembering(number: Callable[[Any], float]) -> Callable[[Any], float]:
    known: dict[Any, float] = {}

    def remembered(expr: Any) -> float:
        if expr not in known:
            known[expr] = number(expr)
        return known[expr]

    return remembered


def _differentiable(phi: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[torch.Tensor], torch.Tensor]:
    """phi whose gradient is its forward-mode derivative: a branch that is not taken cannot leak a NaN."""
    import torch

    slope = slope_function(phi)

    class Applied(torch.autograd.Function):
        """phi of every coordinate."""

        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x)
            return phi(x)

        @staticmethod
        def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
            (x,) = ctx.saved_tensors
            return gradients[0] * slope(x.detach())

    return Applied.apply
