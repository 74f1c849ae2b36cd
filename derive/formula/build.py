"""A tree as a SymPy expression."""

from __future__ import annotations

from collections.abc import Mapping

import sympy

from derive.formula import nodes
from derive.program.registry import operations
from derive.program.symbols import U, V, X, Z, parameter
from derive.records import REAL_LINE, Formula, Interval, Node

VARIABLES = {"x": X, "z": Z, "u": U, "v": V}
BINARY = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "pow": lambda a, b: sympy.exp(b) if a is sympy.E else a**b,
}
TESTS = {"lt": sympy.Lt, "le": sympy.Le, "gt": sympy.Gt, "ge": sympy.Ge, "eq": sympy.Eq, "ne": sympy.Ne}
JOINS = {"and": sympy.And, "or": sympy.Or, "not": sympy.Not}


def to_sympy(formula: Formula | Node, domains: Mapping[str, Interval] | None = None) -> sympy.Expr:
    """The SymPy expression of a formula or of a bare tree, in `derive.program.symbols.X` and its parameters.

    Parameters carry the sign their domain gives them; conditionals become Piecewise, comparisons used as
    numbers Piecewise((1, test), (0, True)).
    """
    if isinstance(formula, Formula):
        domains, tree = dict(formula.domains), formula.tree
    else:
        domains, tree = dict(domains or {}), formula
    return _number(tree, domains)


def _number(node: Node, domains: Mapping[str, Interval]) -> sympy.Expr:
    """The node as a number."""
    if node.head == "num":
        number = nodes.value(node)
        return sympy.Rational(number.numerator, number.denominator)
    if node.head == "const":
        return sympy.pi if node.value == "pi" else sympy.E
    if node.head == "name":
        name = str(node.value)
        return VARIABLES.get(name) or parameter(name, domains.get(name, REAL_LINE))
    if node.head in TESTS or node.head in JOINS:
        return sympy.Piecewise((sympy.Integer(1), _test(node, domains)), (sympy.Integer(0), True))
    if node.head == "cond":
        test, first, second = node.args
        return sympy.Piecewise((_number(first, domains), _test(test, domains)), (_number(second, domains), True))
    args = [_number(arg, domains) for arg in node.args]
    if node.head in BINARY:
        return BINARY[node.head](*args)
    if node.head == "neg":
        return -args[0]
    return operations()[node.head].build(*args)


def _test(node: Node, domains: Mapping[str, Interval]):
    """The node as a condition."""
    if node.head in TESTS:
        return TESTS[node.head](*[_number(arg, domains) for arg in node.args])
    return JOINS[node.head](*[_test(arg, domains) for arg in node.args])
