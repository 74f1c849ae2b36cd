"""Removable singularities: a quotient that is 0/0 at a point is given its limit there, and that is said."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from derive.formula import nodes
from derive.formula.printer import show_text
from derive.records import FormulaError, Node

KINKED = frozenset(("max", "min", "clip", "sign", "step", "cond", "abs", "select")) | nodes.TESTS
POLES = frozenset(("coth", "csch", "cot", "csc"))
MAX_ORDER = 6
"""Derivatives tried before 0/0 is left as it is."""
MAX_SIZE = 300
"""Parts of a quotient beyond which its derivatives are not worth their time."""
MAX_ROOT_DEGREE = 12


def filled(tree: Node) -> tuple[Node, tuple[str, ...]]:
    """The tree with its removable singularities at rational points filled, and a note for each.

    sin(u)/u becomes the cardinal sine; any other quotient f/g with f = g = 0 at a point and a finite
    limit becomes `limit if x == point else f/g`. Points are 0 and the rational zeros of polynomial
    denominators. A pole such as 1/x stays as it is.
    """
    notes: list[str] = []
    return _filled(tree, notes), tuple(notes)


def _filled(node: Node, notes: list[str]) -> Node:
    if not node.args:
        return node
    if node.head in ("mul", "div", "neg", "pow"):
        above: list[Node] = []
        below: list[Node] = []
        _factors(node, above, below)
        below_x = [factor for factor in below if "x" in nodes.names(factor)]
        if below_x and any("x" in nodes.names(factor) for factor in above):
            return _quotient(node, below_x, notes)
    if node.head == "cond" and node.args[0].head in ("eq", "ne"):
        # the author treats a point apart: that point is already taken care of
        return node
    if node.head in ("add", "sub") and (whole := _sum(node, notes)) is not None:
        return whole
    args = tuple([_filled(arg, notes) for arg in node.args])
    return node if args == node.args else nodes.rebuilt(node, args)


def _sum(node: Node, notes: list[str]) -> Node | None:
    """A sum whose terms have poles that cancel, such as coth(x) - 1/x, filled as a whole; else None."""
    terms: list[Node] = []
    stack = [node]
    while stack:
        part = stack.pop()
        if part.head in ("add", "sub", "neg"):
            stack.extend(part.args)
        else:
            terms.append(part)
    poles = 0
    for term in terms:
        above: list[Node] = []
        below: list[Node] = []
        _factors(term, above, below)
        below_x = [factor for factor in below if "x" in nodes.names(factor)]
        at_zero = Fraction(0) in _zeros(below_x) and _limit(term, Fraction(0)) is None
        poles += at_zero or any(factor.head in POLES and factor.args == (nodes.X,) for factor in above)
    if poles < 2 or (limit := _limit(node, Fraction(0))) is None:
        return None
    notes.append(f"{show_text(node)} is filled by its limit {show_text(limit)} at x = 0")
    return Node("cond", (Node("eq", (nodes.X, nodes.num(0))), limit, node), span=node.span)


def _factors(node: Node, above: list[Node], below: list[Node]) -> None:
    """Numerator and denominator of a chain of products and quotients."""
    if node.head == "mul":
        _factors(node.args[0], above, below)
        _factors(node.args[1], above, below)
    elif node.head == "div":
        _factors(node.args[0], above, below)
        _factors(node.args[1], below, above)
    elif node.head == "neg":
        _factors(node.args[0], above, below)
    elif node.head == "pow" and node.args[1].head == "num" and nodes.value(node.args[1]) < 0:
        below.append(nodes.binary("pow", node.args[0], nodes.neg(node.args[1])))
    else:
        above.append(node)


def _quotient(node: Node, below: list[Node], notes: list[str]) -> Node:
    if node.head == "div" and node.args[0].head == "sin" and node.args[0].args == node.args[1:]:
        notes.append(f"{show_text(node)} is filled by its limit 1 where {show_text(node.args[1])} = 0")
        return Node("sinc", node.args[1:], span=node.span)
    tree = node
    for point in _zeros(below):
        limit = _limit(node, point)
        if limit is not None:
            notes.append(f"{show_text(node)} is filled by its limit {show_text(limit)} at x = {point}")
            tree = Node("cond", (Node("eq", (nodes.X, nodes.num(point))), limit, tree), span=node.span)
    return tree


def _zeros(below: list[Node]) -> list[Fraction]:
    """Rational points where a factor of the denominator is exactly 0."""
    import sympy

    from derive.formula.build import to_sympy
    from derive.program.symbols import X

    found = set()
    for factor in below:
        expr = to_sympy(factor)
        if expr.subs(X, 0) == 0:
            found.add(Fraction(0))
        if expr.is_polynomial(X) and expr.free_symbols == {X}:
            poly = sympy.Poly(expr, X)
            if poly.degree() <= MAX_ROOT_DEGREE and (poly.domain.is_ZZ or poly.domain.is_QQ):
                found |= {Fraction(int(root.p), int(root.q)) for root in sympy.roots(poly, filter="Q")}
    return sorted(found)


def _limit(node: Node, point: Fraction) -> Node | None:
    """The limit of the quotient at a point, by l'Hôpital's rule on each side; None where there is none."""
    import sympy

    from derive.formula.build import to_sympy
    from derive.formula.unbuild import tree_of
    from derive.program.symbols import X

    if sum(1 for _ in nodes.walk(node)) > MAX_SIZE:
        return None
    at = sympy.Rational(point.numerator, point.denominator)
    limits = set()
    for version in _sides(node, point):
        if any(part.head in KINKED for part in nodes.walk(version)):
            return None
        expr = to_sympy(version)
        for head, quotient in (
            (sympy.coth, lambda u: sympy.cosh(u) / sympy.sinh(u)),
            (sympy.csch, lambda u: 1 / sympy.sinh(u)),
            (sympy.cot, lambda u: sympy.cos(u) / sympy.sin(u)),
            (sympy.csc, lambda u: 1 / sympy.sin(u)),
        ):
            expr = expr.replace(head, quotient)
        top, bottom = expr.as_numer_denom()
        for _ in range(MAX_ORDER):
            upper, lower = top.subs(X, at), bottom.subs(X, at)
            if lower != 0:
                break
            if upper != 0 or upper is sympy.nan:
                return None
            top, bottom = top.diff(X), bottom.diff(X)
        else:
            return None
        value = upper / lower
        if value.is_finite is False or value.has(sympy.nan, sympy.zoo, sympy.oo):
            return None
        limits.add(value)
    if len(limits) != 1:
        return None
    try:
        return tree_of(limits.pop())
    except FormulaError:
        return None


def _sides(node: Node, point: Fraction) -> Iterator[Node]:
    """The quotient on each side of the point: |x| is x or -x at 0."""
    bars = Node("abs", (nodes.X,))
    if point != 0 or all(part != bars for part in nodes.walk(node)):
        yield node
        return
    yield _swapped(node, bars, nodes.X)
    yield _swapped(node, bars, nodes.neg(nodes.X))


def _swapped(node: Node, old: Node, new: Node) -> Node:
    if node == old:
        return new
    return nodes.rebuilt(node, tuple([_swapped(arg, old, new) for arg in node.args])) if node.args else node
