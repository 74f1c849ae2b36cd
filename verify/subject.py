"""What is verified: a theory, with its activation read again from the formula or taken as the user's module."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from derive.records import DomainError, Enclosure, EocError, Formula, Interval, Node, Unsupported
from verify.reference import exact_function, slope_function, torch_function
from verify.report.record import Report, TestedClaim
from verify.stream import choices

if TYPE_CHECKING:
    import torch

Function = Callable[["torch.Tensor"], "torch.Tensor"]


@dataclass(frozen=True)
class Subject:
    """A theory under test.

    theory      the Theory whose derived quantities are the claims
    formula     the activation as read, walked independently of `derive`
    parameters  a number for each of its parameters
    phi, slope  the activation and its derivative on tensors
    seed        seeds the points and all sampling
    memo        enclosures found so far; they depend on the activation alone
    """

    theory: Any
    formula: Formula
    parameters: Mapping[str, Fraction]
    phi: Function
    slope: Function
    seed: int = 0
    dtype: Any = field(default=None)
    memo: dict = field(default_factory=dict, compare=False, repr=False)

    def choices(self, name: str) -> np.random.Generator:
        """The generator of the points of one check."""
        return choices(self.seed, name)

    def number(self, result: Any, **values: Any) -> Enclosure:
        """The claimed number of a Result at a point, with this subject's parameters."""
        known = {*result.arguments, *(name for name, _ in result.domains)}
        given = {**self.parameters, **values}
        return result.number({name: value for name, value in given.items() if name in known})

    def compiled(self, result: Any, backend: str) -> Callable:
        """The emitted function of a Result with this subject's parameters filled in."""
        function = result.compile(backend)
        fixed = {name: float(self.parameters[name]) for name in result.parameters}
        return lambda *args, **named: function(*args, **fixed, **named)

    def exact(self, mp: Any) -> Callable:
        """The activation in mpmath numbers of the context `mp`."""
        return exact_function(self.formula, self.parameters, mp)

    @property
    def jumps(self) -> bool:
        """Whether the theory says that the activation jumps."""
        return bool(self.theory.maps.jumps)

    def derived(self) -> tuple[str, ...]:
        """Names of everything the theory derived: its Results, and its questions that take arguments."""
        questions = [name for name in QUESTIONS if hasattr(type(self.theory), name)]
        return (*self.theory.results, *questions)

    def report(
        self,
        claims: tuple[TestedClaim, ...],
        device: str,
        budget: float,
        seconds: float,
        comparisons: int,
        interrupted: bool,
    ) -> Report:
        """The report of this subject."""
        return Report(
            subject=repr(self.theory.block),
            formula=self.formula.text,
            parameters=tuple((name, str(value)) for name, value in self.parameters.items()),
            domains=tuple((name, str(domain)) for name, domain in self.formula.domains),
            claims=claims,
            seed=self.seed,
            device=device,
            dtype=str(self.dtype).removeprefix("torch."),
            budget=budget,
            seconds=seconds,
            comparisons=comparisons,
            versions=_versions(),
            interrupted=interrupted,
            latex=_formula_latex(self.theory),
        )


QUESTIONS = ("edge_of_chaos", "at")


def subject(source: Any, seed: int = 0, parameters: Mapping[str, Any] | None = None) -> Subject:
    """The subject for a theory, an activation, or text ("gelu", "x*Phi(x)", "dense >> x*tanh(x)").

    parameters   values of the activation's parameters; the others are drawn from their domains by the seed
    Raises EocError for an unknown parameter, Unsupported for a block that is not Dense and one activation.
    """
    import torch

    from derive import theory as derive_theory

    theory = source if hasattr(source, "results") else derive_theory(source)
    formula, module = _activation(source, theory)
    _demand_one_variable(formula)
    values = _parameter_values(formula, seed, parameters or {})
    phi = _user_function(module) if module is not None else torch_function(formula, values)
    return Subject(theory, formula, values, phi, slope_function(phi), seed, torch.float64)


def _activation(source: Any, theory: Any) -> tuple[Formula, Any]:
    """The activation's formula, and the user's own module if it was made from one."""
    from derive.formula import from_sympy
    from derive.layers.elementwise import Elementwise

    if hasattr(source, "formula"):
        return source.formula, getattr(source, "module", None)
    stages = theory.block.stages
    elementwise = [stage for stage in stages if isinstance(stage, Elementwise)]
    if len(elementwise) != 1 or len(stages) > 2 or any(_fixed_sigma(stage) for stage in stages):
        raise Unsupported(
            f"the block {theory.block!r} cannot be verified",
            why="networks are sampled for one Dense and one activation with free sigma_w, sigma_b",
            instead="verify its activation alone",
        )
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
            why="networks with gated units are not sampled",
            instead="an activation of one variable",
        )


def _fixed_sigma(stage: Any) -> bool:
    return getattr(stage, "sigma_w", None) is not None or getattr(stage, "sigma_b", None) is not None


def _user_function(module: Any) -> Function:
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
        values[name] = exact(given[name], name) if name in given else _drawn(domain, rng)
        if values[name] not in domain:
            raise DomainError(f"{name} = {values[name]} is outside its domain {domain}")
    return values


def _drawn(domain: Interval, rng: np.random.Generator) -> Fraction:
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


def _versions() -> tuple[tuple[str, str], ...]:
    from importlib.metadata import version
    from platform import python_version

    names = ("eoc", "torch", "numpy", "scipy", "sympy", "mpmath", "python-flint")
    return (("python", python_version()), *((name, version(name)) for name in names))
