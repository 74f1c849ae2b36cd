"""Exponents of two oscillations against each other: K - (q1 + q2)/2 without cancellation at large variances."""

from __future__ import annotations

from fractions import Fraction

from derive.emit.function import ROOT
from derive.program.passes.rewriting import rewrite
from derive.program.passes.stable import normal_product, signed_terms
from derive.program.program import ONE, TWO, Builder, Instruction, Program


def opposed(program: Program) -> Program:
    """The program with b*(+-2 K - q1 - q2) under an exponential as -b*(((q1 - q2)/(r1 + r2))**2 + 2 r1 r2 (1 -+ c)).

    r1, r2 are the roots of the variances. At q = 1e6 rounding K alone is 1e6 units of the last place of exp(K - q).
    """
    known = {name: index for index, name in enumerate(program.inputs)}
    if not {"q1", "q2", "c", "K", ROOT.name} <= known.keys():
        return program

    def rule(builder: Builder, item: Instruction) -> int | None:
        if item.operation not in ("exp", "exp_difference"):
            return None
        changed = [_stable(builder, arg, known) for arg in item.args[:2]]
        if all(new is None for new in changed):
            return None
        first = [old if new is None else new for old, new in zip(item.args[:2], changed, strict=True)]
        return builder.put(item.operation, *first, *item.args[2:])

    return rewrite(program, rule)


def _stable(builder: Builder, index: int, known: dict[str, int]) -> int | None:
    found: dict[int, tuple[Fraction, tuple[int, ...]]] = {}
    rest: list[tuple[int, int]] = []
    for sign, term in signed_terms(builder, index, 1):
        item = builder.instructions[term]
        factors = item.args if item.operation == "mul" else (term,)
        of = [known[name] for name in ("K", "q1", "q2") if known[name] in factors]
        if len(of) != 1 or of[0] in found:
            rest.append((sign, term))
            continue
        number, others = normal_product(builder, tuple(f for f in factors if f != of[0]))
        found[of[0]] = (sign * number, others)
    k, q1, q2 = (found.get(known[name]) for name in ("K", "q1", "q2"))
    if k is None or q1 is None or q1 != q2 or k[1] != q1[1] or abs(k[0]) != -2 * q1[0]:
        return None
    factor = builder.mul((builder.literal(-q1[0]), *q1[1]))
    roots = builder.put("add", builder.put("sqrt", known["q1"]), builder.put("sqrt", known["q2"]))
    gap = builder.div(builder.put("sub", known["q1"], known["q2"]), roots)
    beside = builder.put("sub" if k[0] > 0 else "add", builder.literal(ONE), known["c"])
    whole = builder.put("add", builder.put("pow", gap, builder.literal(2)), _twice(builder, known[ROOT.name], beside))
    plus = tuple(term for sign, term in rest if sign > 0)
    minus = (builder.mul((factor, whole)), *(term for sign, term in rest if sign < 0))
    return builder.signed_sum(plus, minus)


def _twice(builder: Builder, first: int, second: int) -> int:
    return builder.mul((builder.literal(TWO), first, second))
