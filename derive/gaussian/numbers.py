"""Certified numbers for expressions in `GaussianE` nodes, node by node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

import flint
from sympy import Derivative, Dummy, Expr, Integer, Symbol, sqrt

from derive.gaussian.answer import answer
from derive.gaussian.balls import to_enclosure
from derive.gaussian.by_orthants import ball_by_orthants
from derive.gaussian.diagonal import on_the_diagonal
from derive.gaussian.divergence import infinite
from derive.gaussian.enclosure import enclose
from derive.gaussian.enclosure.budget import SECONDS, OutOfTime, limited
from derive.gaussian.forms import cancels, canonical, closed_form, closed_partial, differentiate_closed, partial_form
from derive.gaussian.node import GaussianE
from derive.gaussian.slopes import largest_slope, price
from derive.program import Program, freeze, run_balls
from derive.program.symbols import DELTA, Q1, Q2, C, K
from derive.records import Enclosure, EocError, Undefined, Unsupported

Values = Mapping[str, Any]
"""Exact rationals or balls by the symbol's name."""


QUESTION = 2 * SECONDS
"""Processor time of a question about an expression; SECONDS of it at most for one expectation."""


def ball(value: Any) -> flint.arb:
    """The ball of an exact rational, or the ball itself, at the current precision."""
    if isinstance(value, flint.arb):
        return value
    value = Fraction(value)
    return flint.arb(value.numerator) / flint.arb(value.denominator)


def number(expr: Expr, values: Values, digits: int = 16) -> Enclosure:
    """A certified number for an expression in nodes, to `digits` digits of its scale.

    The precision doubles until the radius is small against the largest of the value and the nodes.
    Kind: ENCLOSURE. Raises EocError where an expectation diverges or cannot be certified, or the limit of processor
    time (a minute, longer for many digits) passes before any ball is reached; one that is reached is then returned.
    """
    best = [flint.arb(0, flint.arb("inf"))]
    try:
        with limited(QUESTION * max(1.0, digits / 16) ** 2):
            return _closing_in(expr, values, digits, best)
    except OutOfTime:
        if best[0].is_finite():
            return to_enclosure(best[0])
        raise


def _closing_in(expr: Expr, values: Values, digits: int, best: list[flint.arb]) -> Enclosure:
    """The number at doubling precision; `best` holds the narrowest ball so far."""
    for attempt in range(4):
        goal = (digits + 4) * (attempt + 1)
        with flint.ctx.workprec(int(3.33 * goal) + 40):
            result, scale = evaluate(expr, values, goal)
            if not best[0].is_finite() or result.rad() < best[0].rad():
                best[0] = result
            if not result.is_finite() and not result.is_nan() and result.rad().is_finite():
                return to_enclosure(result)
            if result.is_finite() and result.rad() <= scale * flint.arb(10) ** (-digits):
                return to_enclosure(result)
    return to_enclosure(best[0])


def evaluate(expr: Expr, values: Values, digits: int) -> tuple[flint.arb, flint.arb]:
    """The ball of an expression at the current precision, and the scale of its parts."""
    expr = on_the_diagonal(expr, values)
    parts = outermost(expr)
    names, inputs, scale = {}, {}, flint.arb(0)
    for i, part in enumerate(parts):
        symbol = Symbol(f"_node{i}", real=True)
        names[part] = symbol
        value = node_ball(part, values, digits)
        inputs[symbol] = value
        if value.is_finite():
            scale = max(scale, abs(value).mid())
    flat = expr.xreplace(names) if names else expr
    result = plain_ball(flat, values, inputs)
    if result.is_finite():
        scale = max(scale, abs(result).mid()) if not parts else max(abs(result).mid(), scale * flint.arb("1e-6"))
    return result, scale


def outermost(expr: Expr) -> tuple[Expr, ...]:
    """The outermost nodes (and derivatives of nodes) of an expression, in a stable order."""
    found: list[Expr] = []

    def walk(e: Any) -> None:
        if isinstance(e, (GaussianE, Derivative)):
            if e not in found:
                found.append(e)
            return
        for arg in getattr(e, "args", ()):
            walk(arg)

    walk(expr)
    return tuple(found)


def plain_ball(expr: Expr, values: Values, extra: Mapping[Symbol, flint.arb] | None = None) -> flint.arb:
    """The ball of an expression without nodes."""
    extra = extra or {}
    if expr.is_Rational:
        return ball(Fraction(int(expr.p), int(expr.q)))
    if expr in extra:
        return extra[expr]
    inputs: dict[Symbol, flint.arb] = {}
    for symbol in sorted(expr.free_symbols, key=str):
        inputs[symbol] = extra[symbol] if symbol in extra else ball(_value(symbol, values))
    program = _program(expr, tuple(inputs))
    result = run_balls(program, {s.name: flint.acb(b) for s, b in inputs.items()})["value"]
    return result.real if result.imag.contains(0) else flint.arb("nan")


@lru_cache(maxsize=512)
def _program(expr: Expr, symbols: tuple[Symbol, ...]) -> Program:
    return freeze({"value": expr}, symbols)


def _value(symbol: Symbol, values: Values) -> Any:
    if symbol.name in values:
        return values[symbol.name]
    if symbol == K and {"q1", "q2", "c"} <= set(values):
        return ball(values["c"]) * (ball(values["q1"]) * ball(values["q2"])).sqrt()
    if symbol == DELTA and {"q1", "q2", "c"} <= set(values):
        c = values["c"]
        return ball(values["q1"]) * ball(values["q2"]) * (1 - ball(c)) * (1 + ball(c))
    raise EocError(f"no value for {symbol.name}", instead=f"number({symbol.name}=...)")


def node_ball(part: Expr, values: Values, digits: int) -> flint.arb:
    """The ball of one node, or of a derivative of a node."""
    if isinstance(part, Derivative):
        node = part.expr
        closed = closed_form(node)
        if closed is not None and not _degenerate(node, values) and _converges(node, values, digits):
            # the law of a nested expectation holds expectations itself
            value = evaluate(differentiate_closed(closed, part), values, digits)[0]
            if value.is_finite():
                return value
        if infinite(canonical(node), {**values, **numeric_law(node, values, digits)}) is not None:
            raise Undefined("a derivative of an expectation that diverges", where=str(node))
        return evaluate(price(part) or largest_slope(part) or part.doit(), values, digits)[0]
    law = numeric_law(part, values, digits)
    canon = canonical(part)
    reply = answer(canon)
    both = {**values, **{k: v for k, v in law.items() if k != "edge"}}
    if reply.closed is not None and not law.get("edge") and _holds(reply.positive, {**values, **law}):
        nested = reply.closed.has(GaussianE)  # the law of a nested expectation holds expectations itself
        value = evaluate(reply.closed, values, digits)[0] if nested else plain_ball(reply.closed, {**values, **law})
        if value.is_finite() and value.rad() <= (abs(value).mid() + flint.arb("1e-30")) * flint.arb(10) ** (
            -digits // 2
        ):
            return value
    try:
        return enclose(canon, both, digits)
    except Unsupported as refusal:
        found = ball_by_orthants(canon, lambda e, extra: plain_ball(e, both, extra))
        return _infinity(canon, both, refusal) if found is None else found


def _infinity(node: GaussianE, values: Values, refusal: Unsupported) -> flint.arb:
    """The infinite value of an expectation that certainly diverges; raises the refusal where that is undecided."""
    sign = infinite(node, values)
    if sign is None:
        raise refusal
    return sign * flint.arb("inf")


def _holds(positive: tuple[Expr, ...], values: Values) -> bool:
    """Whether a condition of convergence certainly holds; a closed form means nothing where it does not."""
    return all(plain_ball(expr, values) > 0 for expr in positive)


def _converges(node: GaussianE, values: Values, digits: int) -> bool:
    positive = answer(canonical(node)).positive
    return not positive or _holds(positive, {**values, **numeric_law(node, values, digits)})


def differentiate(template: Expr, symbol: Symbol) -> Expr:
    """d/ds of an expression in nodes; derivatives of nodes stay unevaluated until they are resolved."""
    parts = outermost(template)
    stand_ins = {part: Dummy("e") for part in parts}
    back = {v: k for k, v in stand_ins.items()}
    flat = template.xreplace(stand_ins)
    root = {C: sqrt(Q1 * Q2), Q1: K / (2 * Q1), Q2: K / (2 * Q2)}.get(symbol, Integer(0))
    total = (flat.diff(symbol) + flat.diff(K) * root).xreplace(back)
    for part, stand_in in stand_ins.items():
        inner = Derivative(part, symbol) if symbol in part.free_symbols else Integer(0)
        if K in part.free_symbols and root != 0:
            inner += Derivative(part, K) * root
        total += flat.diff(stand_in).xreplace(back) * inner
    return total


def _degenerate(node: GaussianE, values: Values) -> bool:
    return node.cov.rows == 2 and "c" in values and not isinstance(values["c"], flint.arb) and abs(values["c"]) == 1


def numeric_law(node: GaussianE, values: Values, digits: int) -> dict[str, Any]:
    """The numeric law of a node: q, or q1, q2, c (with K, Delta), with `edge` where |c| = 1 or a variance is 0."""
    if not node.mean.is_zero_matrix or node.cov.rows > 2:
        return {}

    def entry(e: Expr) -> Any:
        if isinstance(e, Symbol) and e.name in values:
            return values[e.name]
        if e.is_Rational:
            return Fraction(int(e.p), int(e.q))
        return evaluate(e, values, digits)[0]

    if node.cov.rows == 1:
        q = entry(node.cov[0, 0])
        return {"q": q, "edge": q == 0}
    q1, q2 = entry(node.cov[0, 0]), entry(node.cov[1, 1])
    c = _correlation(node, values, q1, q2, entry)
    edge = q1 == 0 or q2 == 0 or ((abs(c) == 1) if not isinstance(c, flint.arb) else not (abs(c) < 1))
    law = {"q1": q1, "q2": q2, "c": c, "edge": edge}
    law["K"] = ball(c) * (ball(q1) * ball(q2)).sqrt()
    law["Delta"] = ball(q1) * ball(q2) * (1 - ball(c)) * (1 + ball(c))
    return law


def _correlation(node: GaussianE, values: Values, q1: Any, q2: Any, entry: Callable[[Expr], Any]) -> Any:
    """The correlation of a pair, exact where it is decided: given, rational, 0 or +-1."""
    correlation = node.cov[0, 1] / sqrt(node.cov[0, 0] * node.cov[1, 1])
    if "c" in values and (correlation == C or (node.cov[0, 1] == K and _is_given(node, values, q1, q2))):
        return values["c"]
    if q1 == 0 or q2 == 0:
        return Fraction(0)
    if correlation.is_Rational:
        return Fraction(int(correlation.p), int(correlation.q))
    k = entry(node.cov[0, 1])
    if not any(isinstance(value, flint.arb) for value in (q1, q2, k)):
        q1, q2, k = Fraction(q1), Fraction(q2), Fraction(k)
        if k * k in (0, q1 * q2):
            return Fraction((k > 0) - (k < 0))
    return ball(k) / (ball(q1) * ball(q2)).sqrt()


def _is_given(node: GaussianE, values: Values, q1: Any, q2: Any) -> bool:
    """Whether c is the correlation of this pair: its variances are q1 and q2, or have their product.

    A layer that adds variance (noise, embeddings) keeps K and has another correlation.
    """
    if (node.cov[0, 0], node.cov[1, 1]) == (Q1, Q2) or not {"q1", "q2"} <= set(values):
        return True
    given = (values["q1"], values["q2"])
    exact = not any(isinstance(value, flint.arb) for value in (q1, q2, *given))
    return exact and Fraction(q1) * Fraction(q2) == Fraction(given[0]) * Fraction(given[1])


__all__ = [
    "Values",
    "ball",
    "cancels",
    "canonical",
    "closed_form",
    "closed_partial",
    "differentiate",
    "differentiate_closed",
    "evaluate",
    "largest_slope",
    "node_ball",
    "number",
    "numeric_law",
    "outermost",
    "partial_form",
    "plain_ball",
    "price",
    "to_enclosure",
]
