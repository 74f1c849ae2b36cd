"""Bounds on a whole tree: depth, size, degree and the magnitude of its constants."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from derive.formula import nodes
from derive.formula.limits import MAX_DEGREE, MAX_DEPTH, MAX_MAGNITUDE, MAX_NODES, MAX_OPERANDS
from derive.formula.messages import fail
from derive.program.declared import declared
from derive.records import FormulaError

if TYPE_CHECKING:
    from derive.records import Node


def check(tree: Node, text: str) -> None:
    """Refuse a tree that is too deep, too large, of too high a degree, or with constants that are no moderate reals."""
    count, stack = 0, [(tree, 1)]
    while stack:
        node, depth = stack.pop()
        count += 1
        if depth > MAX_DEPTH:
            fail(
                text,
                node.span,
                f"the formula is more than {MAX_DEPTH} levels deep",
                why="a sum of n terms has n levels",
            )
        if count > MAX_NODES:
            fail(text, node.span, "the formula is too large", why=f"it has at most {MAX_NODES} parts, written out")
        stack.extend((arg, depth + 1) for arg in node.args)
    _degree(tree, text)
    _operands(tree, text)
    _constants(tree, text)


def _degree(node: Node, text: str) -> int:
    """A bound on the degree in x and the parameters, which SymPy reaches by multiplying exponents out."""
    if not node.args:
        return int(node.head == "name")
    degrees = [_degree(arg, text) for arg in node.args]
    degree = max(degrees)
    if node.head == "pow" and node.args[1].head == "num":
        degree = math.ceil(degrees[0] * abs(nodes.value(node.args[1])))
    elif node.head in ("mul", "div"):
        degree = sum(degrees)
    if degree > MAX_DEGREE:
        fail(text, node.span, "this power is too high", why=f"exponents multiply to at most {MAX_DEGREE}")
    return degree


def _operands(node: Node, text: str) -> int:
    """The number of operands of a max or min, those of the same kind inside it counted; 1 for another node."""
    widths = [_operands(arg, text) for arg in node.args]
    if node.head not in ("max", "min"):
        return 1
    total = sum(width if arg.head == node.head else 1 for arg, width in zip(node.args, widths, strict=True))
    if total > MAX_OPERANDS:
        fail(text, node.span, f"this {node.head} has {total} operands", why=f"at most {MAX_OPERANDS} are read")
    return total


def _constants(tree: Node, text: str) -> None:
    import mpmath

    mp = mpmath.MPContext()
    mp.dps = 20
    _constant(tree, text, mp, mp.mpf(10) ** MAX_MAGNITUDE)


def _constant(node: Node, text: str, mp, largest):
    """The value of a constant subtree, None where it holds a name; FormulaError where it is no moderate real number."""
    values = [_constant(arg, text, mp, largest) for arg in node.args]
    if node.head == "name" or any(value is None for value in values):
        return None
    try:
        value = number(node, values, mp)
    except (ZeroDivisionError, ValueError, OverflowError, TypeError):
        value = mp.nan
    if isinstance(value, bool):
        return value
    if not mp.isfinite(value) or mp.im(value) != 0:
        fail(text, node.span, "this constant is no real number", why="activations are real functions of a real number")
    if abs(value) > largest:
        fail(text, node.span, "this number is too large", why=f"constants are at most 10**{MAX_MAGNITUDE}")
    return mp.re(value)


def number(node: Node, values: list, mp):
    """One node evaluated on mpmath numbers (tests on booleans)."""
    head = node.head
    if head == "num":
        return mp.mpf(nodes.value(node).numerator) / nodes.value(node).denominator
    if head == "const":
        return mp.pi if node.value == "pi" else mp.e
    if head in ARITHMETIC:
        return ARITHMETIC[head](mp, *values)
    if head not in declared():
        raise FormulaError(f"{head!r} is no operation")
    from derive.program.registry import operations

    return operations()[head].exact(mp, *values)


ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": lambda mp, a, b: a + b,
    "sub": lambda mp, a, b: a - b,
    "mul": lambda mp, a, b: a * b,
    "div": lambda mp, a, b: a / b,
    "pow": lambda mp, a, b: mp.mpmathify(a) ** b,
    "neg": lambda mp, a: -a,
    "lt": lambda mp, a, b: bool(a < b),
    "le": lambda mp, a, b: bool(a <= b),
    "gt": lambda mp, a, b: bool(a > b),
    "ge": lambda mp, a, b: bool(a >= b),
    "eq": lambda mp, a, b: bool(a == b),
    "ne": lambda mp, a, b: bool(a != b),
    "and": lambda mp, *parts: all(parts),
    "or": lambda mp, *parts: any(parts),
    "not": lambda mp, a: not a,
    "cond": lambda mp, test, a, b: a if test else b,
}
