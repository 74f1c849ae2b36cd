"""One step of a derivation; a derivation is a tree of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sympy import Expr


@dataclass(frozen=True, slots=True)
class Step:
    """What one rule did.

    rule       the rule's name, a file of `derive.gaussian.rules` ("tilt", "stein", ...)
    before     the expectation the rule was given (a SymPy expression with `GaussianE` nodes)
    after      the equal expression it returned
    condition  a condition under which it holds, as plain text; empty if there is none
    source     paper and equation
    children   the steps that evaluated the nodes of `after`, in order
    """

    rule: str
    before: Expr
    after: Expr
    condition: str = ""
    source: str = ""
    children: tuple[Step, ...] = ()
