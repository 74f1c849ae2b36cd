"""Building trees: exact constants are folded as they appear, and sizes are bounded before anything grows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import cast

from derive.formula.limits import MAX_BITS, MAX_POWER
from derive.records import FormulaError, Node

COMPARISONS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
OPPOSITE = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}
TESTS = frozenset((*COMPARISONS.values(), "and", "or", "not"))
"""Heads whose value is true or false."""
X = Node("name", value="x")


def num(number: Fraction | int, span: tuple[int, int] = (0, 0)) -> Node:
    """An exact number."""
    return Node("num", value=Fraction(number), span=span)


def name(text: str, span: tuple[int, int] = (0, 0)) -> Node:
    """The variable or a parameter."""
    return Node("name", value=text, span=span)


def value(node: Node) -> Fraction:
    """The number of a "num" node."""
    return cast("Fraction", node.value)


def neg(arg: Node, span: tuple[int, int] = (0, 0)) -> Node:
    """-arg."""
    return num(-value(arg), span) if arg.head == "num" else Node("neg", (arg,), span=span)


def binary(head: str, left: Node, right: Node, span: tuple[int, int] = (0, 0)) -> Node:
    """left head right for "add", "sub", "mul", "div", "pow"; numbers are folded exactly.

    Raises FormulaError (without a place) for a division by zero and for numbers too large to keep exact.
    """
    if head == "pow":
        return _pow(left, right, span)
    if head == "div" and right == num(0):
        raise FormulaError("division by zero")
    if left.head == right.head == "num":
        a, b = value(left), value(right)
        folded = {"add": lambda: a + b, "sub": lambda: a - b, "mul": lambda: a * b, "div": lambda: a / b}[head]()
        return num(_bounded(folded), span)
    return Node(head, (left, right), span=span)


def _pow(base: Node, exponent: Node, span: tuple[int, int]) -> Node:
    if exponent.head == "num":
        power = value(exponent)
        if abs(power) > MAX_POWER:
            raise FormulaError(
                "this exponent is too large",
                why=f"numeric exponents are at most {MAX_POWER} in absolute value",
            )
        if base.head == "num" and power.denominator == 1:
            if value(base) == 0 and power < 0:
                raise FormulaError("division by zero")
            bits = max(abs(value(base).numerator), value(base).denominator).bit_length()
            if bits * abs(power) > 2 * MAX_BITS:
                raise FormulaError("this number is too large", why=f"exact numbers have at most {MAX_BITS} bits")
            return num(_bounded(value(base) ** int(power)), span)
    return Node("pow", (base, exponent), span=span)


def _bounded(size: Fraction) -> Fraction:
    if max(abs(size.numerator), size.denominator).bit_length() > MAX_BITS:
        raise FormulaError("this number is too large", why=f"exact numbers have at most {MAX_BITS} bits")
    return size


def negated(test: Node) -> Node:
    """The opposite of a test."""
    if test.head in OPPOSITE:
        return Node(OPPOSITE[test.head], test.args, span=test.span)
    return test.args[0] if test.head == "not" else Node("not", (test,), span=test.span)


def walk(tree: Node) -> Iterator[Node]:
    """Every node once per occurrence, without recursion."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(node.args)


def names(tree: Node) -> set[str]:
    """The names of the variable and the parameters in a tree."""
    return {str(node.value) for node in walk(tree) if node.head == "name"}


def rebuilt(node: Node, args: tuple[Node, ...], span: tuple[int, int] | None = None) -> Node:
    """The same node over other arguments, folded again."""
    where = node.span if span is None else span
    if node.head in ("add", "sub", "mul", "div", "pow"):
        return binary(node.head, args[0], args[1], where)
    if node.head == "neg":
        return neg(args[0], where)
    return Node(node.head, args, node.value, where)


def replaced(tree: Node, swap: Callable[[Node], Node | None], span: tuple[int, int] | None = None) -> Node:
    """The tree with each name for which `swap` gives a node replaced; `span` is given to what is copied."""
    if tree.head == "name" and (other := swap(tree)) is not None:
        return other
    if not tree.args:
        return tree if span is None else Node(tree.head, (), tree.value, span)
    return rebuilt(tree, tuple([replaced(arg, swap, span) for arg in tree.args]), span)
