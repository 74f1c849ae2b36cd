"""Expectations of integrands that are no atoms: rewritten by rules until atoms are left, or nothing moves."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, expand_mul

from derive.gaussian.engine import derive_closed
from derive.gaussian.node import GaussianE
from derive.gaussian.rule import Rule
from derive.gaussian.rules import rules
from derive.gaussian.stops import Blocked
from derive.gaussian.summands import is_atomic, summands
from derive.gaussian.tidy import cost, tidy
from derive.records import Step


@dataclass(frozen=True)
class Rewritten:
    """node = after by one rule; `value` is `after` with the closed forms of the expectations in it.

    positive  what must be positive for the closed parts to converge
    sources   of the rules that acted
    cancels   whether the closed form loses digits in floating point
    """

    rule: Rule
    after: Expr
    value: Expr
    positive: tuple[Expr, ...] = ()
    sources: tuple[str, ...] = ()
    cancels: bool = False


def rewritten(node: GaussianE, budget_seconds: float = 10.0) -> Rewritten | None:
    """The first rewriting that leaves no expectation; None where there is none.

    Raises Diverges where a part made of atoms diverges.
    """
    for rule in rules():
        after = rule.rewrite(node) if rule.rewrite else None
        found = None if after is None else _resolved(node, rule, after, budget_seconds)
        if found is not None:
            return found
    return None


def _resolved(node: GaussianE, rule: Rule, after: Expr, budget_seconds: float) -> Rewritten | None:
    values: dict[Expr, Expr] = {}
    positive: dict[Expr, None] = {}
    sources: dict[str, None] = {rule.source: None}
    above, cancels = measure(node), rule.cancels
    # the parts that may stay open first: where one does, the others need not be derived
    for part in sorted(after.atoms(GaussianE), key=lambda part: (is_atomic(part.body, part.variables), str(part))):
        try:
            derived = derive_closed(part, budget_seconds=budget_seconds)
            values[part], conditions, used = tidy(derived.closed), derived.positive, derived.sources
        except Blocked:
            if measure(part) >= above:
                raise RuntimeError(f"rule {rule.name} does not lower the measure") from None
            inner = rewritten(part, budget_seconds)
            if inner is None:
                return None
            values[part], conditions, used = inner.value, inner.positive, inner.sources
            cancels = cancels or inner.cancels
        positive.update(dict.fromkeys(conditions))
        sources.update(dict.fromkeys(used))
    value = after.xreplace(values)
    return Rewritten(rule, after, min((value, expand_mul(value)), key=cost), tuple(positive), tuple(sources), cancels)


def measure(node: GaussianE) -> tuple[int, int]:
    """What a rewriting lowers: summands that are no atoms, all summands."""
    terms = summands(node)
    return sum(not is_atomic(term, node.variables) for term in terms), len(terms)


def rewriting_step(node: GaussianE) -> Step | None:
    """The derivation of a closed form by rewriting, or None where there is none."""
    found = rewritten(node, 60.0)
    if found is None:
        return None
    children = []
    for part in sorted(found.after.atoms(GaussianE), key=str):
        try:
            step = derive_closed(part, trace=True, budget_seconds=60.0).step
        except Blocked:
            step = rewriting_step(part)
        if step is not None:
            children.append(step)
    return Step(found.rule.name, node, found.after, "", found.rule.source, tuple(children))


__all__ = ["Rewritten", "rewriting_step", "rewritten"]
