"""A formula as read: its text, its tree, its parameters."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Node:
    """One node of a formula's tree.

    head    "num" (value: Fraction), "const" (value: "pi" or "e"), "name" (value: "x" or a parameter);
            "add" "sub" "mul" "div" "pow" (two arguments), "neg"; "lt" "le" "gt" "ge" "eq" "ne"
            (two arguments), "and" "or" (two or more), "not"; "cond" (test, value if true, value if
            false); or the name of an operation of `derive.program.operations` ("exp", "max", ...)
    args    child nodes
    value   see head
    span    start and end offset in the text, for messages
    """

    head: str
    args: tuple[Node, ...] = ()
    value: Fraction | str | None = None
    span: tuple[int, int] = field(default=(0, 0), compare=False)


@dataclass(frozen=True, slots=True)
class Interval:
    """The domain of a parameter: an interval of the real line with open or closed ends."""

    lower: Fraction | float = float("-inf")
    upper: Fraction | float = float("inf")
    lower_open: bool = True
    upper_open: bool = True

    def __contains__(self, value: object) -> bool:
        above = value > self.lower or (value == self.lower and not self.lower_open)  # type: ignore[operator]
        below = value < self.upper or (value == self.upper and not self.upper_open)  # type: ignore[operator]
        return bool(above and below)

    def __str__(self) -> str:
        left, right = "(" if self.lower_open else "[", ")" if self.upper_open else "]"
        return f"{left}{self.lower}, {self.upper}{right}"


REAL_LINE = Interval()


@dataclass(frozen=True, slots=True)
class Formula:
    """An activation's formula.

    text         as typed (or reconstructed from a module)
    tree         its tree in x and the parameters
    parameters   names of the free parameters, in alphabetical order
    domains      (name, interval) for each parameter, in the same order
    name         a name for titles; empty if there is none
    notes        what was assumed while reading ("sin(x)/x is filled by its limit 1 at x = 0", ...)
    """

    text: str
    tree: Node
    parameters: tuple[str, ...] = ()
    domains: tuple[tuple[str, Interval], ...] = ()
    name: str = ""
    notes: tuple[str, ...] = ()

    def domain(self, parameter: str) -> Interval:
        """The domain of a parameter."""
        return dict(self.domains).get(parameter, REAL_LINE)
