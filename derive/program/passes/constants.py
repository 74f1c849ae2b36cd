"""Folding: every subtree without inputs becomes one number of the target precision."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import mpmath

from derive.program.evaluate import run_mp
from derive.program.passes.rewriting import rewrite
from derive.program.program import Builder, Instruction, Program

WORKING_DIGITS = 60


def fold(program: Program, bits: int = 53) -> Program:
    """The program with constants folded: no operation is left whose arguments are all literals.

    Numbers are rounded to `bits` significant bits (53: float64), from 60 digits. Afterwards no
    function of a backend is ever called with numbers only, and a product or sum has at most one literal.
    """

    def rule(builder: Builder, item: Instruction) -> int | None:
        if item.operation in ("input", "literal"):
            return None
        if item.args and all(builder.is_literal(arg) for arg in item.args):
            return builder.literal(_number(builder, item, bits)) if not _is_test(item) else None
        if item.operation == "neg":
            return _negative(builder, item.args[0])
        if item.operation in ("mul", "add"):
            return _merge(builder, item, bits)
        if item.operation == "select":
            test = builder.instructions[item.args[0]]
            if test.operation in TESTS and all(builder.is_literal(arg) for arg in test.args):
                holds = _evaluate(builder, test)
                return item.args[1] if holds else item.args[2]
        return None

    folded = rewrite(program, rule)
    return rewrite(folded, lambda builder, item: _rounded(builder, item, bits))


TESTS = ("lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not")


def _is_test(item: Instruction) -> bool:
    return item.operation in TESTS


def _evaluate(builder: Builder, item: Instruction):
    """The value of an instruction whose arguments are literals."""
    args = [builder.instructions[arg] for arg in item.args]
    small = Program((), (*args, Instruction(item.operation, tuple(range(len(args))))), (("value", len(args)),))
    return run_mp(small, {}, WORKING_DIGITS)["value"]


def _number(builder: Builder, item: Instruction, bits: int) -> Fraction | str:
    values = [builder.instructions[arg].value for arg in item.args]
    if item.operation in EXACT and all(isinstance(value, Fraction) for value in values):
        if item.operation == "div" and values[1] == 0:
            return _as_literal(_evaluate(builder, item))
        return EXACT[item.operation](*values)
    return _as_literal(_evaluate(builder, item))


def _as_literal(value) -> Fraction | str:
    """An mpmath number as an exact literal, with all its digits: rounding comes last."""
    if mpmath.isinf(value):
        return "inf" if value > 0 else "-inf"
    sign, man, exp, _ = value._mpf_
    return Fraction(-int(man) if sign else int(man)) * Fraction(2) ** int(exp)


def _sum(*values: Fraction) -> Fraction:
    return sum(values, Fraction(0))


def _product(*values: Fraction) -> Fraction:
    result = Fraction(1)
    for value in values:
        result *= value
    return result


EXACT: dict[str, Callable[..., Fraction]] = {
    "add": _sum,
    "mul": _product,
    "sub": lambda a, b: a - b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
}


def _merge(builder: Builder, item: Instruction, bits: int) -> int:
    """A sum or product with its literals gathered into one, in front."""
    flat: list[int] = []
    for arg in item.args:
        inner = builder.instructions[arg]
        flat.extend(inner.args if inner.operation == item.operation == "mul" else (arg,))
    numbers = [arg for arg in flat if builder.is_literal(arg)]
    others = [arg for arg in flat if not builder.is_literal(arg)]
    if len(numbers) > 1:
        gathered = Instruction(item.operation, tuple(numbers))
        numbers = [builder.literal(_number(builder, gathered, bits))]
    join = builder.mul if item.operation == "mul" else builder.add
    return join((*numbers, *others))


def _negative(builder: Builder, index: int) -> int | None:
    """The negative of a product with a literal in front, as one product."""
    inner = builder.instructions[index]
    first = builder.instructions[inner.args[0]] if inner.operation == "mul" else inner
    if inner.operation == "mul" and first.operation == "literal" and isinstance(first.value, Fraction):
        return builder.mul((builder.literal(-first.value), *inner.args[1:]))
    return None


def _rounded(builder: Builder, item: Instruction, bits: int) -> int | None:
    """A long literal rounded to nearest; short rationals stay exact for the printer to divide."""
    if item.operation != "literal":
        return None
    value = item.value
    with mpmath.workdps(WORKING_DIGITS):
        if value == "pi":
            value = _as_literal(+mpmath.pi)
        if not isinstance(value, Fraction):
            return None
        with mpmath.workprec(bits):
            nearest = mpmath.fdiv(value.numerator, value.denominator, prec=bits, rounding="n")
        return builder.literal(_as_literal(nearest))
