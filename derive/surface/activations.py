"""Activation: a function of one real variable, from text, a name, SymPy, or a torch module."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from sympy import Expr, Integer, Rational

from derive.activation.facts import Facts, facts
from derive.activation.normal_form import derivative, normal_form, to_piecewise
from derive.formula import from_sympy, read, show_text, to_sympy
from derive.layers.elementwise import Elementwise
from derive.program.symbols import X
from derive.records import DomainError, EocError, Formula, Interval, Node
from derive.show.printer import latex
from derive.surface.coupled import is_gated, refuse_coupled
from derive.surface.dirac import Dirac, of_derivative, of_power, of_product, of_sum
from derive.surface.exact import exact


class Activation:
    """An activation function phi: R -> R.

    source      formula text ("x*Phi(x)"), a catalogue name ("gelu"), a SymPy expression in x, an
                elementwise torch.nn module or function, or another Activation
    domains     {"a": (0, 1)}: open intervals of the parameters (the whole line otherwise)
    name        a name for titles
    parameters  values to fix: Activation("leaky_relu", a=0.01); floats are read as their decimals

    Activations combine by + - * ** with each other and with numbers (phi**2 is the function phi(x)^2) and
    compose by >> (phi1 >> phi2 is phi2(phi1(x))). Raises EocError (FormulaError with a caret, DomainError
    where phi is not real on the whole line).
    """

    def __init__(self, source: Any, *, domains: Mapping[str, Any] | None = None, name: str = "", **parameters: Any):
        self.module = None
        formula = self._read(source, domains, name)
        if parameters:
            formula = bind(formula, parameters)
        self.formula: Formula = formula
        self.expr: Expr = to_sympy(formula)
        self.diracs: tuple[Dirac, ...] | None = ()
        self.facts.raise_if_not_real()

    def _read(self, source: Any, domains: Mapping[str, Any] | None, name: str) -> Formula:
        if isinstance(source, Activation):
            return source.formula
        if isinstance(source, Formula):
            return source
        if isinstance(source, str):
            if is_gated(source):
                raise EocError(
                    f"{source.strip()} is a unit of two inputs, no function of one variable",
                    instead=f'expect("{source.strip()}", of="u v", cov=[["q1", 0], [0, "q2"]]), or a layer: GLU(gate)',
                )
            refuse_coupled(source)
            return read(source, domains=domains, name=name)
        if isinstance(source, Expr):
            return from_sympy(source, domains=domains, name=name)
        if sys.modules.get("torch") is not None and callable(source):
            from derive.formula.module import read_module

            self.module = source
            return read_module(source)
        raise EocError(
            f"{type(source).__name__} is no activation",
            where=repr(source)[:80],
            instead='a formula ("x*tanh(x)"), a name ("gelu"), a SymPy expression in x, or an elementwise torch module',
        )

    @classmethod
    def _made(cls, expr: Expr, formula: Formula | None, diracs: tuple[Dirac, ...] | None, like: Any, name: str = ""):
        self = object.__new__(cls)
        self.module, self.expr, self.diracs = None, expr, diracs
        self.formula = formula if formula is not None else from_sympy(expr, domains=dict(like), name=name, derived=True)
        return self

    @property
    def name(self) -> str:
        """Its name, or its text."""
        return self.formula.name or self.formula.text

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of its free parameters, in alphabetical order."""
        return self.formula.parameters

    @property
    def domains(self) -> dict[str, Interval]:
        """The domain of each free parameter."""
        return {p: self.formula.domain(p) for p in self.parameters}

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed while reading."""
        return self.formula.notes

    @property
    def jumps(self) -> tuple[Dirac, ...]:
        """Dirac parts carried along (those of a derivative of a function with jumps)."""
        return self.diracs or ()

    @cached_property
    def facts(self) -> Facts:
        """Breakpoints, jumps, parity, growth, monotonicity: proved, not sampled."""
        return facts(self.expr, self.domains)

    def derivative(self) -> Activation:
        """The function phi' away from kinks; its `.jumps` lists the Dirac parts."""
        slope, jumps = derivative(normal_form(self.expr))
        name = f"({self.name})'" if self.formula.name else ""
        return self._made(to_piecewise(slope), None, of_derivative(jumps, self.jumps), self.domains.items(), name)

    def _combine(self, other: Any, head: str, expr: Expr, diracs: tuple[Dirac, ...] | None) -> Activation:
        tree = Node(head, (self.formula.tree, other.formula.tree))
        domains = _shared(self, other)
        return self._made(expr, _formula(tree, domains), diracs, domains.items())

    def __add__(self, other: Any) -> Activation:
        other = _lift(other)
        return self._combine(other, "add", self.expr + other.expr, of_sum(self, other))

    def __sub__(self, other: Any) -> Activation:
        return self + (-1) * _lift(other)

    def __mul__(self, other: Any) -> Activation:
        other = _lift(other)
        return self._combine(other, "mul", self.expr * other.expr, of_product(self, other))

    def __pow__(self, power: int) -> Activation:
        if not isinstance(power, int) or power < 1:
            raise EocError(f"a function to the power {power!r}", instead="a positive integer power")
        return self._combine(_lift(power), "pow", self.expr**power, of_power(self, power))

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: Any) -> Activation:
        return _lift(other) - self

    def __neg__(self) -> Activation:
        return (-1) * self

    @cached_property
    def layer(self) -> Elementwise:
        """The activation as a layer of a block."""
        slope = self.derivative()
        return Elementwise(self.expr, slope.expr, slope.jumps, self.name, tuple(self.domains.items()), self)

    def __rshift__(self, other: Any) -> Any:
        from derive.layers.block import as_layer, join

        if isinstance(other, Activation):
            return Activation._made(other.expr.subs(X, self.expr), None, (), _shared(self, other).items())
        return join(self.layer, other if hasattr(other, "stages") else as_layer(other))

    def __rrshift__(self, other: Any) -> Any:
        from derive.layers.block import join

        return join(other, self.layer)

    def code(self, backend: str = "numpy") -> str:
        """Standalone source text of phi and phi' for a backend."""
        from derive.surface.emission import activation_code

        return activation_code(self, backend)

    def compile(self, backend: str = "numpy") -> Any:
        """phi as a vectorised callable of x, with its parameters as keywords."""
        from derive.surface.emission import load_function

        return load_function(self.code(backend), "phi")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Activation) and (self.expr, self.domains) == (other.expr, other.domains)

    def __hash__(self) -> int:
        return hash(self.expr)

    def __repr__(self) -> str:
        shown = self.formula.text if not self.formula.name else f"{self.formula.name}: {self.formula.text}"
        return f"<Activation {shown if len(shown) < 90 else shown[:87] + '...'}>"

    def _repr_latex_(self) -> str:
        return f"$\\varphi(x) = {latex(self.expr)}$"


def _shared(first: Activation, second: Activation) -> dict[str, Interval]:
    """The domains of both; a parameter of one name must have one domain."""
    for name in set(first.domains) & set(second.domains):
        if first.domains[name] != second.domains[name]:
            raise DomainError(
                f"the parameter {name} has two domains",
                where=f"{first.domains[name]} in {first.name}, {second.domains[name]} in {second.name}",
                instead="give both the same domain, or rename one",
            )
    return {**first.domains, **second.domains}


def _formula(tree: Node, domains: dict[str, Interval]) -> Formula:
    ordered = tuple(sorted(domains.items()))
    return Formula(show_text(tree), tree, tuple(p for p, _ in ordered), ordered)


def _lift(value: Any) -> Activation:
    if isinstance(value, Activation):
        return value
    number = exact(value, "a factor")
    node = Node("num", value=number)
    constant = Rational(number.numerator, number.denominator) if number.denominator != 1 else Integer(number.numerator)
    return Activation._made(constant, Formula(str(number), node), (), ())


def bind(formula: Formula, values: Mapping[str, Any]) -> Formula:
    """The formula with some parameters fixed to exact numbers."""
    numbers = {}
    for name, value in values.items():
        if name not in formula.parameters:
            known = ", ".join(formula.parameters) or "none"
            raise EocError(
                f"{formula.name or formula.text} has no parameter {name}", instead=f"its parameters: {known}"
            )
        numbers[name] = exact(value, name)
        if numbers[name] not in formula.domain(name):
            raise DomainError(f"{name} = {value} is outside its domain {formula.domain(name)}")

    def walk(node: Node) -> Node:
        if node.head == "name" and isinstance(node.value, str) and node.value in numbers:
            return Node("num", value=numbers[node.value], span=node.span)
        return Node(node.head, tuple(map(walk, node.args)), node.value, node.span)

    kept = tuple((p, d) for p, d in formula.domains if p not in numbers)
    given = ", ".join(f"{k}={v}" for k, v in values.items())
    name = f"{formula.name}({given})" if formula.name else ""
    tree = walk(formula.tree)
    return Formula(show_text(tree), tree, tuple(p for p, _ in kept), kept, name, formula.notes)


__all__ = ["Activation", "bind", "is_gated"]
