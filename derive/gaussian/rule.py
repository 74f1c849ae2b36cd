"""What a rule is: its statement, and a function from one problem to simpler ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sympy import Expr

from derive.gaussian.closed import Closed
from derive.gaussian.node import GaussianE
from derive.gaussian.problem import Problem
from derive.gaussian.scalars import Scalars


@dataclass(frozen=True, slots=True)
class Outcome:
    """E problem = sum over terms of coefficient * product of the expectations of the parts.

    positive  what must be positive for this to hold and does not follow from the assumptions
    """

    terms: tuple[tuple[Closed, tuple[Problem, ...]], ...]
    positive: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the calculus.

    name       the file's name
    order      rules are tried by ascending order; the first that takes the problem acts
    statement  the identity, in LaTeX
    source     paper and equation
    apply      (problem, scalars) -> Outcome, or None where the rule does not take the problem
    rewrite    expectation -> an equal expression in simpler expectations, or None: for integrands that are no
               atoms. Its nodes are made of atoms, or have fewer summands that are none, so that it ends.
    cancels    whether its closed forms lose digits in floating point, at small variances or strong correlation
    """

    name: str
    order: int
    statement: str
    source: str
    apply: Callable[[Problem, Scalars], Outcome | None]
    rewrite: Callable[[GaussianE], Expr | None] | None = None
    cancels: bool = False


__all__ = ["Outcome", "Rule"]
