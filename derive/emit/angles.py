"""Angles without cancellation: inverse sines and cosines become atan2."""

from __future__ import annotations

from fractions import Fraction

from derive.emit.function import SINE, SQRT_DELTA
from derive.program.passes.rewriting import rewrite
from derive.program.program import ONE, Builder, Instruction, Program


def angles(program: Program) -> Program:
    """The program with asin(n/d) -> atan2(n, w) and acos(n/d) -> atan2(w, n), w = sqrt((d - n)*(d + n)),
    and with the width w/d beside the correlation of a bivariate normal distribution function.

    Where n/d is K/sqrt(q1*q2) and Delta is an input, w is sqrt(Delta): exact at the edge c = +-1,
    where acos(c) and its derivative lose half their digits. And pi - atan2(y, x) -> atan2(y, -x) for y >= 0.
    Quotients by Delta, its root or sin(theta) are continued to Delta = 0.
    """
    known = {name: index for index, name in enumerate(program.inputs)}
    edge = {known[name] for name in ("Delta", SQRT_DELTA.name, SINE.name) if name in known}

    def rule(builder: Builder, item: Instruction) -> int | None:
        if item.operation == "div" and edge and _vanishes(builder, item.args[1], edge):
            return builder.put("ratio", *item.args)
        if item.operation == "sub":
            return _supplement(builder, *item.args)
        if item.operation == "bivariate_normal_cdf":
            _, numerator, denominator = _fraction(builder, item.args[2])
            width = builder.div(_width(builder, numerator, denominator, known), denominator)
            return builder.put("exp_bivariate_normal_cdf", builder.literal(0), *item.args, width)
        if item.operation not in ("asin", "acos"):
            return None
        negated, numerator, denominator = _fraction(builder, item.args[0])
        if builder.is_literal(numerator):
            return None
        width = _width(builder, numerator, denominator, known)
        top = builder.neg(numerator) if negated else numerator
        return builder.put("atan2", *((top, width) if item.operation == "asin" else (width, top)))

    return rewrite(program, rule)


def _vanishes(builder: Builder, index: int, edge: set[int]) -> bool:
    """Whether the instruction is zero with Delta: a product or power of it, of its root, or of sin(theta)."""
    item = builder.instructions[index]
    if item.operation in ("mul", "sqrt", "pow"):
        return any(_vanishes(builder, arg, edge) for arg in item.args)
    if item.operation in ("div", "ratio"):
        return _vanishes(builder, item.args[0], edge)
    return index in edge


def _width(builder: Builder, numerator: int, denominator: int, known: dict[str, int]) -> int:
    """sqrt(d**2 - n**2)."""
    if SINE.name in known and numerator == known.get("c") and builder.is_literal(denominator, ONE):
        return known[SINE.name]
    if _is_correlation(builder, numerator, denominator, known):
        return known.get(SQRT_DELTA.name) or builder.put("sqrt", known["Delta"])
    below = builder.put("sub", denominator, numerator)
    return builder.put("sqrt", builder.mul((below, builder.put("add", denominator, numerator))))


def _supplement(builder: Builder, first: int, second: int) -> int | None:
    angle = builder.instructions[second]
    if not builder.is_literal(first, "pi") or angle.operation != "atan2":
        return None
    height, width = angle.args
    if builder.instructions[height].operation != "sqrt":
        return None
    return builder.put("atan2", height, builder.neg(width))


def _fraction(builder: Builder, index: int) -> tuple[bool, int, int]:
    item = builder.instructions[index]
    if item.operation == "neg":
        negated, numerator, denominator = _fraction(builder, item.args[0])
        return not negated, numerator, denominator
    if item.operation == "div":
        return False, item.args[0], item.args[1]
    return False, index, builder.literal(Fraction(1))


def _is_correlation(builder: Builder, numerator: int, denominator: int, known: dict[str, int]) -> bool:
    """Whether the quotient is K/sqrt(q1*q2), in any of its spellings."""
    if not {"K", "Delta", "q1", "q2"} <= known.keys() or numerator != known["K"]:
        return False
    variances = {known["q1"], known["q2"]}
    item = builder.instructions[denominator]
    if item.operation == "sqrt":
        inside = builder.instructions[item.args[0]]
        return inside.operation == "mul" and len(inside.args) == 2 and set(inside.args) == variances
    roots = [builder.instructions[arg] for arg in item.args] if item.operation == "mul" else []
    return (
        len(roots) == 2
        and all(root.operation == "sqrt" for root in roots)
        and ({root.args[0] for root in roots} == variances)
    )
