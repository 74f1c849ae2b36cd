"""A SymPy expression that a user hands in, as a Formula."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import sympy

from derive.formula import nodes
from derive.formula.intervals import exact
from derive.formula.printer import show_text
from derive.formula.reader import finished
from derive.formula.vocabulary import check_parameter
from derive.program.registry import by_head, by_spelling
from derive.records import Formula, FormulaError, Interval, Node

TESTS = {
    sympy.StrictLessThan: "lt", sympy.LessThan: "le", sympy.StrictGreaterThan: "gt", sympy.GreaterThan: "ge",
    sympy.Equality: "eq", sympy.Unequality: "ne",
}  # fmt: skip
JOINS = {sympy.And: "and", sympy.Or: "or", sympy.Not: "not"}
CONSTANTS = {sympy.pi: "pi", sympy.E: "e"}


def from_sympy(
    expr: sympy.Expr, domains: Mapping[str, object] | None = None, name: str = "", *, derived: bool = False
) -> Formula:
    """The Formula of a SymPy expression: any symbol named x is the variable, the others are parameters.

    A parameter declared positive, negative, nonnegative or nonpositive keeps that as its domain. Floats are read
    by their shortest decimal. FormulaError names the smallest part that no formula can hold.

    derived  the expression was derived (a derivative, a sum of activations): it may have lost x or a parameter,
             so that a constant is accepted and domains of absent parameters are passed over
    """
    if isinstance(expr, sympy.Expr):  # a Symbol is a Boolean too
        tree = tree_of(expr)
    elif isinstance(expr, sympy.logic.boolalg.Boolean):
        tree = _test(expr)
    else:
        raise FormulaError(f"{type(expr).__name__} is no SymPy expression")
    usual: dict[str, object] = {}
    for symbol in expr.free_symbols:
        if symbol.name != "x" and (domain := _declared(symbol)) is not None:
            usual[symbol.name] = domain
    if derived:
        domains = {key: domain for key, domain in (domains or {}).items() if key in nodes.names(tree)}
    return finished(show_text(tree), tree, ("x",), (), domains, name, usual, constant=derived)


def _declared(symbol: sympy.Symbol) -> Interval | None:
    if symbol.is_positive:
        return Interval(lower=Fraction(0))
    if symbol.is_negative:
        return Interval(upper=Fraction(0))
    if symbol.is_nonnegative:
        return Interval(lower=Fraction(0), lower_open=False)
    if symbol.is_nonpositive:
        return Interval(upper=Fraction(0), upper_open=False)
    return None


def tree_of(expr: sympy.Expr) -> Node:
    """The tree of a SymPy expression; FormulaError at the first part that a formula cannot hold."""
    if expr.is_Rational:
        return nodes.num(Fraction(int(expr.p), int(expr.q)))
    if expr.is_Float:
        if not expr.is_finite:
            raise FormulaError(f"{expr} is no real number")
        return nodes.num(exact(float(expr)))
    if expr in CONSTANTS:
        return Node("const", value=CONSTANTS[expr])
    if expr.is_Symbol:
        return _symbol(expr)
    if expr.is_Add:
        return _sum(expr)
    if expr.is_Mul:
        return _product(expr)
    if isinstance(expr, sympy.exp):
        return _operation("exp", (expr.args[0],))
    if expr.is_Pow:
        return _power(expr)
    if isinstance(expr, sympy.Piecewise):
        return _piecewise(expr)
    if isinstance(expr, sympy.Heaviside):
        return _operation("step", (expr.args[0],))
    known = by_head().get(type(expr))
    if known is None or not known.spellings:
        raise FormulaError(
            f"{type(expr).__name__} is no function of a formula",
            where=f"  {str(expr)[:72]}",
            why="functions are read from a fixed list",
            instead="write it with the functions of formula text",
        )
    return _operation(known.spellings[0], expr.args)


def _symbol(symbol: sympy.Symbol) -> Node:
    name = symbol.name
    if name == "x":
        return nodes.X
    if not name.isidentifier() or not name.isascii():
        raise FormulaError(f"the symbol {name!r} has no plain name", instead="use letters, digits and underscores")
    check_parameter(name, name, (0, len(name)))
    return nodes.name(name)


def _operation(spelling: str, args) -> Node:
    operation = by_spelling()[spelling]
    return Node(operation.name, tuple(tree_of(arg) for arg in args))


def _sum(expr: sympy.Add) -> Node:
    tree: Node | None = None
    for term in expr.as_ordered_terms():
        minus = term.could_extract_minus_sign() and tree is not None
        part = tree_of(-term if minus else term)
        tree = part if tree is None else nodes.binary("sub" if minus else "add", tree, part)
    assert tree is not None
    return tree


def _product(expr: sympy.Mul) -> Node:
    coefficient, factors = expr.as_coeff_mul()
    above: Node | None = None
    below: Node | None = None
    sign = coefficient.is_negative
    size = -coefficient if sign else coefficient
    if size != 1:
        above = tree_of(size)
    for factor in sorted(factors, key=sympy.default_sort_key):
        base, exponent = (
            (factor.base, factor.exp) if factor.is_Pow and factor.base is not sympy.E else (factor, sympy.S.One)
        )
        if exponent.is_Rational and exponent < 0:
            part = tree_of(base ** (-exponent))
            below = part if below is None else nodes.binary("mul", below, part)
        else:
            part = tree_of(factor)
            above = part if above is None else nodes.binary("mul", above, part)
    above = above if above is not None else nodes.num(1)
    tree = above if below is None else nodes.binary("div", above, below)
    return nodes.neg(tree) if sign else tree


def _power(expr: sympy.Pow) -> Node:
    base, exponent = expr.args
    if exponent == sympy.Rational(1, 2):
        return _operation("sqrt", (base,))
    if exponent.is_Rational and exponent < 0:
        return nodes.binary("div", nodes.num(1), tree_of(base ** (-exponent)))
    return nodes.binary("pow", tree_of(base), tree_of(exponent))


def _piecewise(expr: sympy.Piecewise) -> Node:
    branches = list(expr.args)
    if branches[-1].cond != sympy.true:
        raise FormulaError(
            "this Piecewise has no default",
            where=f"  {str(expr)[:72]}",
            why="an activation has a value everywhere",
            instead="end it with (value, True)",
        )
    tree = tree_of(branches[-1].expr)
    for branch in reversed(branches[:-1]):
        tree = Node("cond", (_test(branch.cond), tree_of(branch.expr), tree))
    return tree


def _test(condition) -> Node:
    if (head := TESTS.get(type(condition))) is not None:
        return Node(head, (tree_of(condition.lhs), tree_of(condition.rhs)))
    if (head := JOINS.get(type(condition))) is not None:
        return Node(head, tuple(_test(arg) for arg in sorted(condition.args, key=sympy.default_sort_key)))
    if isinstance(condition, sympy.ITE):
        test, first, second = condition.args
        return _test(sympy.Or(sympy.And(test, first), sympy.And(sympy.Not(test), second)))
    raise FormulaError("this is no condition that a formula can hold", where=f"  {str(condition)[:72]}")
