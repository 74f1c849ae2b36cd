"""Partial derivatives of results at fixed other arguments, in forms that hold at c = 1 and c = -1 too."""

from __future__ import annotations

from sympy import Derivative, Expr, Integer, Symbol, sqrt

from derive.activation.cells import Cell
from derive.activation.normal_form import derivative, jumps, normal_form, to_piecewise
from derive.activation.terms import from_cells
from derive.emit import Partial
from derive.gaussian import numbers
from derive.gaussian.factors import pair_factors
from derive.gaussian.node import GaussianE, pair
from derive.program.symbols import DELTA, Q1, Q2, C, K, X
from derive.records import Unsupported
from derive.surface.jumps import Slope, at_corners, at_jumps

Stated = dict[str, Partial]


def stated(template: Expr, names: tuple[str, ...], slope: str = "", twice: bool = True) -> Stated:
    """The partial derivative in each of the names; the one in c with its own where `twice`.

    With `slope`, the function of the module that is E f'(u) g'(v), the one in c is a call of that.

    An expectation of a pair is differentiated under the integral sign: with u = sqrt(q1) z its derivative in q1 is
    E u f'(u) g(v) / (2 q1), and in c sqrt(q1 q2) E f'(u) g'(v) (Price 1958), with the Dirac parts of f' and g': two of
    them meet in the density at a corner, which is infinite at c = 1 where the truth is.
    """
    template = carried_out(template)
    symbols = {s.name: s for s in template.free_symbols | {Q1, Q2, C}}
    law = tuple(name for name in names if name in ("q1", "q2", "c"))
    given = "".join(f", {{{n}}}" for n in names if n not in law)
    given = "({q2}, {q1}, {c}" + given + ")" if _is_symmetric(template) else ""
    found = {}
    for variable in names:
        if variable == "q2" and given:
            found[variable] = Partial(Integer(0), {}, "{mine}_d_q1" + given)
            continue
        if variable == "c" and slope:
            found[variable] = Partial(Integer(0), {}, "{q1}**0.5*{q2}**0.5*" + slope)
            continue
        try:
            first = partial(template, symbols[variable]) if variable in symbols else Integer(0)
        except Unsupported:
            continue  # no derivative is stated in this parameter, and asking for it says so
        found[variable] = Partial(
            resolved(first), _second(first, symbols, law, given) if variable == "c" and twice else {}
        )
    return found


def _second(first: Expr, symbols: dict[str, Symbol], law: tuple[str, ...], given: str) -> Stated:
    """The partial derivatives of the one in c."""
    found = {}
    for variable in law:
        if variable == "q2" and given:
            found[variable] = Partial(Integer(0), {}, "{mine}_d_q1" + given)
        else:
            found[variable] = Partial(resolved(partial(first, symbols[variable])))
    return found


def _is_symmetric(template: Expr) -> bool:
    """Whether it is one expectation of a pair under one function: exchanging the variances changes nothing."""
    if not isinstance(template, GaussianE) or template != numbers.canonical(template) or len(template.variables) != 2:
        return False
    f, g = pair_factors(template)
    return bool(f == g)


def carried_out(template: Expr) -> Expr:
    """The template with its derivatives of nodes as expressions in nodes."""
    found = {part: _slope_of(part) for part in numbers.outermost(template) if isinstance(part, Derivative)}
    return template.xreplace(found)


def _slope_of(part: Derivative) -> Expr:
    """A derivative of a node; in q1 or q2 at fixed K, which is (E u f'(u) g(v) - K E f'(u) g'(v))/(2 q1)."""
    slope = carried_out(part.expr)
    for symbol, count in part.variable_count:
        for _ in range(int(count)):
            if symbol in (Q1, Q2, K) and (slope.has(K) or slope.has(DELTA)):
                in_k = partial(slope, C) / sqrt(Q1 * Q2)
                slope = in_k if symbol == K else partial(slope, symbol) - K / (2 * symbol) * in_k
            else:
                slope = partial(slope, symbol)
    return slope


def resolved(template: Expr) -> Expr:
    """The template with closed nodes substituted."""
    from derive.surface.results import resolve

    return resolve(template)


def partial(template: Expr, symbol: Symbol) -> Expr:
    """d/ds of an expression in nodes, at fixed c where s is q1 or q2."""
    parts = numbers.outermost(template)
    stand_ins = {part: Symbol(f"_node{i}", real=True) for i, part in enumerate(parts)}
    back = {v: k for k, v in stand_ins.items()}
    flat = template.xreplace(stand_ins)
    total = _explicit(flat, symbol).xreplace(back)
    for part, stand_in in stand_ins.items():
        total += flat.diff(stand_in).xreplace(back) * _node(part, symbol)
    return total


def _explicit(expr: Expr, symbol: Symbol) -> Expr:
    """d/ds of an expression in K and Delta, both functions of q1, q2, c."""
    through_k = {C: sqrt(Q1 * Q2), Q1: K / (2 * Q1), Q2: K / (2 * Q2)}.get(symbol, Integer(0))
    direct = Integer(0) if symbol == C else numbers.closed_partial(expr, symbol)
    return direct + numbers.closed_partial(expr, K) * through_k


def _node(node: GaussianE, symbol: Symbol) -> Expr:
    if node.cov != numbers.canonical(node).cov or len(node.variables) != 2:
        closed = numbers.closed_form(node)
        return node.diff(symbol) if closed is None else closed.diff(symbol)
    f, g = pair_factors(node)
    first, second = (Slope(*_slope(h)) for h in (f, g))
    if symbol == Q1:
        return (_pair(X * first.smooth, g) + at_jumps(first, g, Q1, times=X)) / (2 * Q1)
    if symbol == Q2:
        return (_pair(f, X * second.smooth) + at_jumps(second, f, Q2, times=X)) / (2 * Q2)
    if symbol == C:
        faces = at_jumps(first, second.smooth, Q1) + at_jumps(second, first.smooth, Q2)
        return sqrt(Q1 * Q2) * (_pair(first.smooth, second.smooth) + faces + at_corners(first, second))
    return _pair(_in_parameter(f, symbol), g) + _pair(f, _in_parameter(g, symbol))


def _in_parameter(f: Expr, symbol: Symbol) -> Expr:
    """df/da piece by piece: right where f is continuous at breakpoints that move with a.

    Raises Unsupported where f jumps there: its derivative has a Dirac part.
    """
    form = normal_form(f)
    for jump in jumps(form):
        if jump.at.has(symbol):
            raise Unsupported(f"the derivative in {symbol} of a function that jumps at {jump.at}")
    cells = [Cell(cell.lower, cell.upper, cell.value.diff(symbol)) for cell in form.cells]
    return to_piecewise(from_cells(cells))


def _pair(f: Expr, g: Expr) -> Expr:
    return Integer(0) if f == 0 or g == 0 else pair(f, g)


def _slope(f: Expr) -> tuple[Expr, tuple]:
    slope, jumps = derivative(normal_form(f))
    return to_piecewise(slope), jumps
