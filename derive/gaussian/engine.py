"""The calculus: a question becomes problems, rules turn each into simpler ones, down to closed forms."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from sympy import Add, Expr, Mul

from derive.gaussian.atoms import Blocked
from derive.gaussian.closed import Closed
from derive.gaussian.node import GaussianE
from derive.gaussian.problem import Problem
from derive.gaussian.rules import rules
from derive.gaussian.scalars import Scalars
from derive.gaussian.setup import problems
from derive.records import Step


@dataclass
class Run:
    """One derivation under way: its scalars, its memory, the conditions it met, its time limit."""

    scalars: Scalars
    trace: bool
    deadline: float
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


def derive_closed(node: GaussianE, *, trace: bool = False, budget_seconds: float = 10.0) -> Derived:
    """The closed form of an expectation.

    Raises Blocked with the parts that no rule takes, Diverges where a condition of convergence fails.
    """
    deadline = time.monotonic() + budget_seconds
    scalars, terms = problems(node)
    run = Run(scalars, trace, deadline)
    total, children, after = Closed(scalars, {}), [], []
    for factor, problem in terms:
        value, step = solve(problem, run)
        total = total + factor * value
        if trace:
            after.append(factor.expr() * problem.node(scalars))
            children.append(step)
    step = None
    if trace:
        source = next(rule.source for rule in rules() if rule.name == "linearity")
        step = Step("linearity", node, Add(*after), "", source, tuple(children))
    return Derived(total, tuple(run.conditions), tuple(run.sources), step)


def solve(problem: Problem, run: Run) -> tuple[Closed, Step | None]:
    """The closed form of one problem by the first rule that takes it, and so on down the tree."""
    if problem in run.known:
        return run.known[problem]
    if time.monotonic() > run.deadline:
        raise Blocked(["the time budget"])
    scalars = run.scalars
    for rule in rules():
        outcome = rule.apply(problem, scalars)
        if outcome is not None:
            break
    else:
        raise Blocked([problem.describe(scalars)])
    run.conditions.update(dict.fromkeys(outcome.positive))
    run.sources[rule.source] = None
    total, children, after = Closed(scalars, {}), [], []
    for factor, parts in outcome.terms:
        value, shown = factor, [factor.expr()] if run.trace else []
        for part in parts:
            if part.measure() >= problem.measure():
                raise RuntimeError(f"rule {rule.name} does not lower the measure")
            closed, step = solve(part, run)
            value = value * closed
            if run.trace:
                shown.append(part.node(scalars))
                children.append(step)
        total = total + value
        after.append(Mul(*shown))
    step = None
    if run.trace:
        before = problem.node(scalars)
        step = Step(rule.name, before, Add(*after), as_text(outcome.positive), rule.source, tuple(children))
    run.known[problem] = total, step
    return total, step


def as_text(positive: tuple[Expr, ...]) -> str:
    """A condition of convergence as plain text."""
    return " and ".join(f"{expr} > 0" for expr in positive)


__all__ = ["Derived", "as_text", "derive_closed", "solve"]
