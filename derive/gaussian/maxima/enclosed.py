"""Enclosures of expectations of functions of a maximum over units, of one input or of two."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import flint
from flint import arb
from sympy import Expr, Integer, Symbol, sqrt

from derive.activation.normal_form import derivative, normal_form, to_piecewise
from derive.activation.pieces import rational
from derive.gaussian.enclosure.growth import ball
from derive.gaussian.maxima.pairs import LargestPair, paired
from derive.gaussian.maxima.plane import agreeing, axis, hoeffding
from derive.gaussian.maxima.contest import contest
from derive.gaussian.maxima.ranked import enclose_winner
from derive.gaussian.maxima.recognise import Largest, exchangeable, reduced
from derive.gaussian.node import GaussianE, single
from derive.program.symbols import Q1, Q2, K, X
from derive.records import Unsupported

REACH, DOUBLE = 10.75, 18
Numbers = dict[str, Any]


def enclose_maximum(node: GaussianE, given: Numbers, digits: int, tools: Any) -> arb | None:
    """A ball around the node's value where it is a question about maxima, else None.

    tools   `enclose`, `number` (of an expression without variables), `function` (analysed, of a body),
            `correlation` (q1, q2, c of a law of two variables): the evaluators of the enclosures' room
    """
    node = _numeric_law(node, given)
    line = reduced(node)
    if line is not None:
        return _evaluated(line, given, digits, tools)
    law = exchangeable(node)
    found = contest(node.body, node.variables) if law is not None and law[1] == 0 else None
    if found is not None:
        return enclose_winner(found, tools.number(law[0], given, digits), given, digits, tools)
    pair = paired(node)
    if pair is None:
        return None
    q1, q2, c = tools.correlation(
        GaussianE(single(X).integrand, [[pair.q1, pair.cross], [pair.cross, pair.q2]]), given, digits
    )
    if c in (0, 1, -1):
        return _evaluated(_degenerate(pair, int(c)), given, digits, tools)
    # the plane costs the square of its nodes: two digits beyond double precision are what is asked for
    digits = DOUBLE if digits <= DOUBLE + 3 else digits
    with flint.ctx.workprec(int(4 * digits) + 60):
        return _inside(pair, ball(q1).sqrt(), ball(q2).sqrt(), ball(c), given, digits, tools)


def _numeric_law(node: GaussianE, given: Numbers) -> GaussianE:
    """The node with exact numbers in its law, and with one variance where two are the same ball: alike units show."""
    law = node.cov.free_symbols
    swap: dict[Expr, Expr] = {s: rational(given[s.name]) for s in law if isinstance(given.get(s.name), Fraction)}
    if K in law and (given.get("c") == 0 or given.get("K") == 0):
        swap[K] = Integer(0)
    if {Q1, Q2} <= law - swap.keys() and given.get("q1") is given.get("q2"):
        swap[Q2] = Q1
    return GaussianE(node.integrand, node.cov.xreplace(swap), node.mean.xreplace(swap)) if swap else node


def _evaluated(expr: Expr, given: Numbers, digits: int, tools: Any) -> arb:
    """An expression in one-variable nodes as a ball."""
    nodes = sorted(expr.atoms(GaussianE), key=str)
    names = {node: Symbol(f"_node{i}", real=True) for i, node in enumerate(nodes)}
    values = {str(names[node]): tools.enclose(node, given, digits + 2) for node in nodes}
    value = tools.number(expr.xreplace(names), {**given, **values}, digits)
    return ball(value) if isinstance(value, Fraction) else value


def _degenerate(pair: LargestPair, c: int) -> Expr:
    """c = 0: independent inputs; c = 1: one input; c = -1: the largest of one is the smallest of the other."""
    f, g = pair.first, pair.second
    if c == 0:
        return single(f.on_line(pair.q1), pair.q1) * single(g.on_line(pair.q2), pair.q2)
    if c == 1:
        both = Largest(f.body * g.body.subs(X, X * sqrt(pair.q2 / pair.q1)), f.k, f.of_one)
        return single(both.on_line(pair.q1), pair.q1)
    if f.of_one:
        return single(X, pair.q1) * 0
    raise Unsupported(
        "a pair of maxima at c = -1 has no enclosure here",
        why="it is a question about the largest and the smallest unit together",
        instead="-1 < c <= 1",
    )


def _inside(pair: LargestPair, sigma1: arb, sigma2: arb, c: arb, given: Numbers, digits: int, tools: Any) -> arb:
    k, width = pair.first.k, ((1 - c) * (1 + c)).sqrt()
    goal = 10.0 ** (-digits - 3)
    make = _plain_axis if pair.first.of_one else _slope_axis
    first = make(pair.first.body, sigma1, width, k, goal, given, digits, tools)
    alike = pair.first.body == pair.second.body and bool(sigma1 == sigma2)
    second = first if alike else make(pair.second.body, sigma2, width, k, goal, given, digits, tools)
    if pair.first.of_one:
        return agreeing(first, second, c, k, goal)
    return _evaluated(_degenerate(pair, 0), given, digits, tools) + hoeffding(first, second, c, k, goal)


def _plain_axis(body: Expr, sigma: arb, width: arb, k: int, goal: float, given: Numbers, digits: int, tools: Any):
    return axis(tools.function(body, X, given), (), sigma, width, k, REACH, goal)


def _slope_axis(body: Expr, sigma: arb, width: arb, k: int, goal: float, given: Numbers, digits: int, tools: Any):
    slope, jumps = derivative(normal_form(body))
    places = tuple(
        (ball(tools.number(j.at, given, digits)), ball(tools.number(j.height, given, digits))) for j in jumps
    )
    return axis(tools.function(to_piecewise(slope), X, given), places, sigma, width, k, REACH, goal)
