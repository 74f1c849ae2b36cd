"""The calculus: a question becomes problems, rules turn each into simpler ones, down to closed forms."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from sympy import Add, Expr, Mul, exp

from derive.gaussian.closed import Closed, angle, constant
from derive.gaussian.node import GaussianE
from derive.gaussian.problem import Problem, marginal
from derive.gaussian.rule import Outcome
from derive.gaussian.rules import rules
from derive.gaussian.scalars import Scalars
from derive.gaussian.setup import problems
from derive.gaussian.shapes import Printer
from derive.gaussian.stops import Blocked
from derive.records import Step


@dataclass
class Run:
    """One derivation under way: its scalars, memory, conditions and time limit, and a printer if it is traced.

    last   asked where no rule takes a problem
    """

    scalars: Scalars
    printer: Printer | None
    deadline: float
    last: Callable[[Problem, Scalars], Outcome | None] | None = None
    known: dict[Problem, tuple[Closed, Step | None]] = field(default_factory=dict)
    conditions: dict[Expr, None] = field(default_factory=dict)
    sources: dict[str, None] = field(default_factory=dict)


@dataclass(frozen=True)
class Derived:
    """A closed form and how it came about.

    positive  what must be positive for it to hold, beyond the assumptions on the symbols
    sources   of the rules that acted
    step      the derivation, where it was asked for
    """

    closed: Closed
    positive: tuple[Expr, ...]
    sources: tuple[str, ...]
    step: Step | None


def derive_closed(
    node: GaussianE,
    *,
    trace: bool = False,
    budget_seconds: float = 10.0,
    last: Callable[[Problem, Scalars], Outcome | None] | None = None,
) -> Derived:
    """The closed form of an expectation; `last` is asked for what no rule takes.

    Raises Blocked with the parts that no rule takes, Diverges where a condition of convergence fails.
    """
    deadline = time.thread_time() + budget_seconds
    scalars, terms = problems(node)
    run = Run(scalars, Printer(scalars) if trace else None, deadline, last)
    outcome = Outcome(tuple((factor, (problem,)) for factor, problem in terms))
    total, after, children = _evaluate(outcome, run, None)
    step = None
    if trace:
        source = next(rule.source for rule in rules() if rule.name == "linearity")
        step = children[0] if after == node else Step("linearity", node, after, "", source, children)
    return Derived(total, tuple(run.conditions), tuple(run.sources), step)


def solve(problem: Problem, run: Run) -> tuple[Closed, Step | None]:
    """The closed form of one problem by the first rule that takes it, and so on down the tree."""
    if problem in run.known:
        return run.known[problem]
    if time.thread_time() > run.deadline:
        raise Blocked(["the time budget"])
    for rule in rules():
        outcome = rule.apply(problem, run.scalars)
        if outcome is not None:
            run.sources[rule.source] = None
            break
    else:
        outcome = run.last(problem, run.scalars) if run.last else None
        if outcome is None:
            raise Blocked([problem.describe(run.scalars)])
    run.conditions.update(dict.fromkeys(outcome.positive))
    total, after, children = _evaluate(outcome, run, (rule.name, problem.measure()))
    step = None
    if run.printer:
        before = problem.node(run.scalars, run.printer.element)
        step = Step(rule.name, before, after, as_text(outcome.positive), rule.source, children)
    run.known[problem] = total, step
    return total, step


def _evaluate(outcome: Outcome, run: Run, above: tuple[str, tuple] | None) -> tuple[Closed, Expr, tuple[Step, ...]]:
    """The value of an outcome, how it reads, and the steps below it; each part must be smaller than what is above."""
    scalars = run.scalars
    total = Closed(scalars, {})
    children: list[Step] = []
    shown: list[Expr] = []
    for factor, parts in outcome.terms:
        nodes, values = [], []
        for part in parts:
            coefficient, inner = marginal(part, scalars)
            factor = factor * constant(scalars, coefficient)
            if not inner.names:
                factor = factor * _point(inner, scalars)
                continue
            if above and inner.measure() >= above[1]:
                raise RuntimeError(f"rule {above[0]} does not lower the measure")
            value, step = solve(inner, run)
            values.append(value)
            if run.printer and step:
                nodes.append(inner.node(scalars, run.printer.element))
                children.append(step)
        if run.printer:
            shown.append(Mul(_spelled(factor, run.printer), *nodes))
        for value in values:
            factor = factor * value
        total = total + factor
    return total, Add(*shown), tuple(children)


def _point(problem: Problem, scalars: Scalars) -> Closed:
    """The value of a problem without variables."""
    real, imag = (constant(scalars, sum((c for _, c in p), scalars.zero)) for p in (problem.poly, problem.imag))
    if problem.phase is None:
        return real
    along, across = angle(scalars, problem.phase)
    return along * real + across * imag * constant(scalars, -scalars.one)


def _spelled(closed: Closed, printer: Printer) -> Expr:
    terms = []
    for key, coefficient in closed.terms.items():
        special = exp(printer.element(key.exponent)) * Mul(*[f**power for f, power in key.specials])
        terms.append(printer.coefficient(coefficient, key.radicals) * special)
    return Add(*terms)


def as_text(positive: tuple[Expr, ...]) -> str:
    """A condition of convergence as plain text."""
    return " and ".join(f"{expr} > 0" for expr in positive)


__all__ = ["Derived", "as_text", "derive_closed", "solve"]
