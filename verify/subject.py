"""What is verified: a theory, with its activation read again from the formula or taken as the user's module."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from derive.records import DomainError, EocError, Formula, Interval, Node, Unsupported
from verify.reference import exact_function, slope_function, torch_function
from verify.report.record import Report
from verify.source import activation_source
from verify.stream import choices
from verify.tested import Tested

if TYPE_CHECKING:
    import torch

Function = Callable[["torch.Tensor"], "torch.Tensor"]


@dataclass(frozen=True)
class Subject(Tested):
    """A theory under test.

    theory      the Theory whose derived quantities are the claims
    formula     the activation as read, walked independently of `derive`
    parameters  a number for each of its parameters
    phi, slope  the activation and its derivative on tensors
    seed        seeds the points and all sampling
    memo        enclosures found so far; they depend on the activation alone
    source      what it was made from, for a report that can be run again; empty for an object of Python
    """

    theory: Any
    formula: Formula
    parameters: Mapping[str, Fraction]
    phi: Function
    slope: Function
    seed: int = 0
    dtype: Any = field(default=None)
    memo: dict = field(default_factory=dict, compare=False, repr=False)
    source: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def exact(self, mp: Any) -> Callable:
        """The activation in mpmath numbers of the context `mp`."""
        return exact_function(self.formula, self.parameters, mp)

    def report(self, *run: Any) -> Report:
        """The report of this subject, from its claims and how they were tested."""
        return self.reported(
            *run,
            subject=repr(self.theory.block),
            formula=self.formula.text,
            domains=tuple((name, str(domain)) for name, domain in self.formula.domains),
            latex=_formula_latex(self.theory),
        )


def subject(source: Any, seed: int = 0, parameters: Mapping[str, Any] | None = None) -> Any:
    """The subject for a theory, an activation, or text ("gelu", "x*Phi(x)", "dense >> x*tanh(x)").

    parameters   values of the activation's parameters; the others are drawn from their domains by the seed
    A block that is more than a Dense and an activation is a `verify.blocks.subject.BlockSubject`.
    Raises EocError for an unknown parameter.
    """
    import torch

    from derive import theory as derive_theory

    theory = derive_theory(source) if not hasattr(source, "block") else source
    if _is_block(theory):
        from verify.blocks.subject import block_subject

        return block_subject(theory, seed, parameters or {}, source if isinstance(source, str) else "")
    formula, module = _activation(source, theory)
    _demand_one_variable(formula)
    values = _parameter_values(formula, seed, parameters or {})
    phi = module_function(module) if module is not None else torch_function(formula, values)
    known = activation_source(formula) if module is None else {}
    return Subject(theory, formula, values, phi, slope_function(phi), seed, torch.float64, source=known)


def _activation(source: Any, theory: Any) -> tuple[Formula, Any]:
    """The activation's formula, and the user's own module if it was made from one."""
    from derive.formula import from_sympy
    from derive.layers.elementwise import Elementwise

    if hasattr(source, "formula"):
        return source.formula, getattr(source, "module", None)
    elementwise = [stage for stage in theory.block.stages if isinstance(stage, Elementwise)]
    made_from = getattr(elementwise[0], "source", None)
    if made_from is not None and hasattr(made_from, "formula"):
        return made_from.formula, getattr(made_from, "module", None)
    return from_sympy(elementwise[0].phi, domains=dict(theory.domains), name=elementwise[0].name), None


def _demand_one_variable(formula: Formula) -> None:
    def names(node: Node) -> set[str]:
        own = {str(node.value)} if node.head == "name" else set()
        return own.union(*map(names, node.args))

    others = sorted(names(formula.tree) - {"x", *formula.parameters})
    if others:
        raise Unsupported(
            f"{formula.name or formula.text} is a function of x and {', '.join(others)}",
            why="an activation here is a function of one variable",
            instead='a gated block: "dense >> glu(silu)"',
        )


def _is_block(theory: Any) -> bool:
    """Whether it is more than one Dense with free sigma_w, sigma_b and one activation of one variable."""
    from derive.layers.dense import Dense
    from derive.layers.elementwise import Elementwise

    stages = theory.block.stages
    elementwise = [stage for stage in stages if isinstance(stage, Elementwise)]
    dense = [stage for stage in stages if type(stage) is Dense]
    alone = len(elementwise) == 1 and len(dense) <= 1 and len(elementwise) + len(dense) == len(stages)
    return not alone or any(_fixed_sigma(stage) for stage in stages)


def _fixed_sigma(stage: Any) -> bool:
    return getattr(stage, "sigma_w", None) is not None or getattr(stage, "sigma_b", None) is not None


def module_function(module: Any) -> Function:
    """The user's own module or function, in the dtype of its input and without gradients of its parameters."""
    import torch

    if not isinstance(module, torch.nn.Module):
        return module
    import copy

    frozen = copy.deepcopy(module).eval().requires_grad_(False)
    versions = {torch.float64: copy.deepcopy(frozen).double(), torch.float32: frozen.float()}

    def phi(x: torch.Tensor) -> torch.Tensor:
        return versions[x.dtype].to(x.device)(x)

    return phi


def _parameter_values(formula: Formula, seed: int, given: Mapping[str, Any]) -> dict[str, Fraction]:
    from derive.surface.exact import exact

    unknown = sorted(set(given) - set(formula.parameters))
    if unknown:
        known = ", ".join(formula.parameters) or "it has none"
        raise EocError(f"the activation has no parameter {unknown[0]}", instead=known)
    rng = choices(seed, "parameters")
    values = {}
    for name in formula.parameters:
        domain = formula.domain(name)
        values[name] = exact(given[name], name) if name in given else drawn_parameter(domain, rng)
        if values[name] not in domain:
            raise DomainError(f"{name} = {values[name]} is outside its domain {domain}")
    return values


def drawn_parameter(domain: Interval, rng: np.random.Generator) -> Fraction:
    """A two-digit number inside a domain, of the order of 1 where the domain allows it."""
    lower, upper = max(float(domain.lower), -8.0), min(float(domain.upper), 8.0)
    if upper - lower <= 4:
        share = rng.uniform(0.15, 0.85)
        return Fraction(lower).limit_denominator(1000) + Fraction(round(share, 2)).limit_denominator(100) * Fraction(
            upper - lower
        ).limit_denominator(1000)
    near = min(max(0.0, lower), upper)
    low, high = max(lower, near - 2), min(upper, near + 2)
    return Fraction(round(100 * rng.uniform(0.9 * low + 0.1 * high, 0.1 * low + 0.9 * high)), 100)


def _formula_latex(theory: Any) -> str:
    from derive.layers.elementwise import Elementwise
    from derive.show.printer import latex

    stage = next(stage for stage in theory.block.stages if isinstance(stage, Elementwise))
    return latex(stage.phi)
