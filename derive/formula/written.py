"""An operation's formula with its arguments put in."""

from __future__ import annotations

from functools import cache

from derive.formula import nodes
from derive.formula.aten import formulas
from derive.formula.parser import Parser
from derive.records import FormulaError, Node


def written(name: str, values: dict[str, Node]) -> Node:
    """The tree of `name` over its arguments, without the factors of 1 and terms of 0 that defaults leave behind."""
    try:
        return _filled(_template(name), values)
    except FormulaError as error:
        raise FormulaError(f"aten.{name} cannot take these values: {error.what}", why=error.why) from error


@cache
def _template(name: str) -> Node:
    declared, text = formulas()[name]
    return Parser(text, [part.partition("=")[0] for part in declared.split()]).expression()


def _filled(node: Node, values: dict[str, Node]) -> Node:
    if node.head == "name":
        return values[str(node.value)]
    if not node.args:
        return Node(node.head, (), node.value)
    one, zero = nodes.num(1), nodes.num(0)
    built = nodes.rebuilt(node, tuple([_filled(arg, values) for arg in node.args]), (0, 0))
    if built.head == "mul" and one in built.args:
        return built.args[1] if built.args[0] == one else built.args[0]
    if (built.head == "div" and built.args[1] == one) or (built.head in ("add", "sub") and built.args[1] == zero):
        return built.args[0]
    return built
