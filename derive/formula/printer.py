"""A tree as text that reads back to the same tree."""

from __future__ import annotations

from fractions import Fraction

from derive.formula import nodes
from derive.program.declared import declared
from derive.records import Node

SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "**"}
TESTS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
CONDITIONAL, OR, AND, NOT, COMPARE, SUM, PRODUCT, SIGN, POWER, ATOM = range(10)


def show_text(tree: Node) -> str:
    """The tree in Python spelling, with as few brackets as needed: read(show_text(t)).tree == t."""
    return _show(tree, CONDITIONAL)


def _show(node: Node, level: int) -> str:
    text, binds = _shown(node)
    return text if binds >= level else f"({text})"


def _shown(node: Node) -> tuple[str, int]:
    head, args = node.head, node.args
    if head == "num":
        return number_text(nodes.value(node))
    if head in ("const", "name"):
        return str(node.value), ATOM
    if head in ("add", "sub"):
        space = f" {SIGNS[head]} "
        return f"{_show(args[0], SUM)}{space}{_show(args[1], PRODUCT)}", SUM
    if head in ("mul", "div"):
        return f"{_show(args[0], PRODUCT)}{SIGNS[head]}{_show(args[1], SIGN)}", PRODUCT
    if head == "pow":
        return f"{_show(args[0], ATOM)}**{_show(args[1], SIGN)}", POWER
    if head == "neg":
        return f"-{_show(args[0], POWER)}", SIGN
    if head in TESTS:
        return f"{_show(args[0], SUM)} {TESTS[head]} {_show(args[1], SUM)}", COMPARE
    if head in ("and", "or"):
        level = AND if head == "and" else OR
        return f" {head} ".join(_show(arg, level + 1) for arg in args), level
    if head == "not":
        return f"not {_show(args[0], COMPARE)}", NOT
    if head == "cond":
        test, first, second = args
        return f"{_show(first, OR)} if {_show(test, OR)} else {_show(second, CONDITIONAL)}", CONDITIONAL
    spelling = declared()[head].spellings[0]
    return f"{spelling}({', '.join(_show(arg, CONDITIONAL) for arg in args)})", ATOM


def number_text(value: Fraction) -> tuple[str, int]:
    """An exact number: decimal where it ends within 40 digits, else p/q; and how tightly it binds."""
    size, sign = abs(value), "-" if value < 0 else ""
    if size.denominator == 1:
        return f"{sign}{size.numerator}", SIGN if sign else ATOM
    twos, rest = 0, size.denominator
    places = 0
    while rest % 10 == 0:
        rest, places = rest // 10, places + 1
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    fives = 0
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    places += max(twos, fives)
    if rest != 1 or places > 40:
        return f"{sign}{size.numerator}/{size.denominator}", COMPARE
    digits = str(size.numerator * 10**places // size.denominator).rjust(places + 1, "0")
    return f"{sign}{digits[:-places]}.{digits[-places:]}", SIGN if sign else ATOM
