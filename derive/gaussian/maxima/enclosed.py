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
from derive.gaussian.maxima.contest import Contest, contest
from derive.gaussian.maxima.opposite import opposite
from derive.gaussian.maxima.pairs import LargestPair, contests, paired
from derive.gaussian.maxima.plane import agreeing, axis, hoeffding
from derive.gaussian.maxima.ranked import enclose_winner
from derive.gaussian.maxima.recognise import Largest, exchangeable, reduced
from derive.gaussian.maxima.rotated import Side, turned
from derive.gaussian.node import GaussianE, single
from derive.program.symbols import Q1, Q2, K, X
from derive.records import Unsupported

REACH, DOUBLE = 10.75, 18
STEEP, STEEPEST = 0.85, 0.96
"""From the first |c| on coordinates along the diagonal are quicker than Mehler's series in c; jumps want the series."""
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
    if found is not None and law is not None:
        return enclose_winner(found, tools.number(law[0], given, digits), given, digits, tools)
    pair = paired(node)
    if pair is None:
        if contests(node) is not None:
            return _two_winners(node, given, digits, tools)
        if node.cov.rows > 2:
            raise _unreached(node)
        return None
    q1, q2, c = tools.correlation(
        GaussianE(single(X).integrand, [[pair.q1, pair.cross], [pair.cross, pair.q2]]), given, digits
    )
    if c in (0, 1) or (c == -1 and pair.first.of_one):
        return _evaluated(_degenerate(pair, int(c)), given, digits, tools)
    # the plane costs the square of its nodes: two digits beyond double precision are what is asked for
    digits = DOUBLE if digits <= DOUBLE + 3 else digits
    with flint.ctx.workprec(int(4 * digits) + 60):
        sigma1, sigma2, goal = ball(q1).sqrt(), ball(q2).sqrt(), 10.0 ** (-digits - 3)
        if c == -1:
            return _mirrored(pair, sigma1, sigma2, given, goal, tools)
        return _inside(pair, sigma1, sigma2, ball(c), given, digits, tools)


def _unreached(node: GaussianE) -> Unsupported:
    """The refusal for other expectations of three and more variables, without the whole law in it."""
    text = str(node.body)
    return Unsupported(
        f"an expectation over {node.cov.rows} dependent variables has no enclosure",
        where=text if len(text) < 90 else f"{text[:87]}...",
        why="rules stand for one and two variables, and for the largest of independent or equally correlated units",
        instead="a Result's estimate(...): a sample mean with its standard error",
    )


def _two_winners(node: GaussianE, given: Numbers, digits: int, tools: Any) -> arb:
    """Winners at two inputs behind a function that rises and falls: c = 0 and c = 1 are questions about one input."""
    pair = contests(node)
    assert pair is not None
    q1, q2, c = tools.correlation(
        GaussianE(single(X).integrand, [[pair.q1, pair.cross], [pair.cross, pair.q2]]), given, digits
    )
    f, g = pair.first, pair.second
    if c == 0:
        parts = [enclose_winner(one, q, given, digits, tools) for one, q in ((f, q1), (g, q2))]
        return parts[0] * parts[1]
    if c == 1 and q1 == q2:
        both = Contest(f.rank, f.body * g.body, f.k, f.of_one)
        return enclose_winner(both, q1, given, digits, tools)
    raise Unsupported(
        "two inputs of the largest of units behind a function that rises and falls were not enclosed",
        where=f"f(x) = {f.rank}",
        why="the largest of f(z_1), ..., f(z_k) is not f of the largest; its pairs are enclosed at c = 0 and c = 1",
        instead="estimate(...) for a sample mean; c = 0 or 1 with equal variances; pooling before the activation",
    )


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
    return single(X, pair.q1) * 0  # c = -1: no unit is the largest at both


def _mirrored(pair: LargestPair, sigma1: arb, sigma2: arb, given: Numbers, goal: float, tools: Any) -> arb:
    """The pair of maxima at c = -1."""
    sides = [
        Side(tools.function(one.body, X, given), sigma, False)
        for one, sigma in ((pair.first, sigma1), (pair.second, sigma2))
    ]
    return opposite(sides[0], sides[1], pair.first.k, REACH, goal)


def _jumps(pair: LargestPair) -> bool:
    return any(derivative(normal_form(one.body))[1] for one in (pair.first, pair.second))


def _near(pair: LargestPair, sigma1: arb, sigma2: arb, c: arb, given: Numbers, digits: int, tools: Any) -> arb:
    """Inputs nearly alike or nearly opposite: the value at c = 1 or -1, and the rest along the diagonal."""
    goal, k, of_one = 10.0 ** (-digits - 3), pair.first.k, pair.first.of_one
    if not (c * c < 1):
        raise Unsupported(
            "a pair of maxima was not enclosed",
            where=f"c = {c.str(8)}",
            why="it is not told apart from c = 1 or -1",
            instead="c = 1 or c = -1 exactly, or a c that is known better",
        )
    sides = []
    for one, sigma in ((pair.first, sigma1), (pair.second, sigma2)):
        body = one.body
        if not of_one:
            slope, jumps = derivative(normal_form(body))
            body = to_piecewise(slope)
            if jumps:
                raise Unsupported(
                    "a pair of maxima behind a function that jumps was not enclosed",
                    where=f"c = {c.str(8)}",
                    why="its jumps lie across the diagonal of the plane",
                    instead="|c| <= 0.96, or c = 1 exactly",
                )
        sides.append(Side(tools.function(body, X, given), sigma, body == 1))
    if pair.first.body == pair.second.body and bool(sigma1 == sigma2):
        sides[1] = sides[0]
    inner = turned(sides[0], sides[1], c, k, of_one, REACH, goal)
    if of_one:
        return inner
    if c > 0:
        base = _evaluated(_degenerate(pair, 1), given, digits, tools)
    else:
        base = _mirrored(pair, sigma1, sigma2, given, goal, tools)
    return base + inner * sigma1 * sigma2


def _inside(pair: LargestPair, sigma1: arb, sigma2: arb, c: arb, given: Numbers, digits: int, tools: Any) -> arb:
    if abs(c).upper() > (STEEPEST if not pair.first.of_one and _jumps(pair) else STEEP):
        return _near(pair, sigma1, sigma2, c, given, digits, tools)
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
