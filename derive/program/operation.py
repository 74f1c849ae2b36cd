"""An operation: everything known about one function, in one record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, eq=False)
class Operation:
    """One function of real arguments and its spelling everywhere.

    name       its name in programs and in the tree of a formula
    arity      number of arguments; -1 for any number (at least one)
    spellings  its names in formula text; empty if it cannot be typed
    domain     where it is real and finite, in plain text
    build      SymPy expressions -> SymPy expression
    head       the SymPy class that the gate lowers to this operation, or None
    ball       (list of acb, analytic) -> acb, a rigorous enclosure at the current precision. With
               `analytic` the result is non-finite unless the function (a piecewise one: the piece
               the ball lies in) is analytic on the whole ball. Tests give True, False or None (undecided).
    exact      (mpmath context, *numbers) -> number: the definition, free to be slow
    backends   backend -> spelling with {0}, {1}, ... for the arguments ({args} for any number)
    helpers    backend -> source text of a function the backend lacks, used by its spelling
    source     paper and equation, where the definition needs one
    """

    name: str
    arity: int
    ball: Callable[[list[Any], bool], Any]
    exact: Callable[..., Any]
    build: Callable[..., Any]
    spellings: tuple[str, ...] = ()
    domain: str = "all reals"
    head: type | None = None
    backends: Mapping[str, str] = field(default_factory=dict)
    helpers: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
