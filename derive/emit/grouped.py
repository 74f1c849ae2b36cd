"""Quotients of pair formulas sorted by the variance they depend on."""

from __future__ import annotations

from derive.program.passes.rewriting import rewrite
from derive.program.program import Builder, Instruction, Program


def grouped(program: Program) -> Program:
    """The program with q1*q2*r/((1 + q1)*(1 + q2)*s) -> (q1/(1 + q1))*(q2/(1 + q2))*(r/s).

    Each quotient stays in range where the products overflow, and where the variances are a row and a column beside a
    matrix of correlations each is computed once a row or column.
    """
    if not {"q1", "q2"} <= set(program.inputs):
        return program
    known: dict[int, frozenset[str]] = {}

    def rule(builder: Builder, item: Instruction) -> int | None:
        if item.operation != "div":
            return None
        above, below = _factors(builder, item.args[0]), _factors(builder, item.args[1])
        parts: dict[str, tuple[list[int], list[int]]] = {name: ([], []) for name in ("q1", "q2", "")}
        for side, factors in enumerate((above, below)):
            for factor in factors:
                depends = _depends(builder, factor, known)
                only = next((name for name in ("q1", "q2") if depends & LAW == {name}), "")
                parts[only][side].append(factor)
        if (not parts["q1"][1] and not parts["q2"][1]) or len(above) + len(below) < 3:
            return None
        quotients = [_quotient(builder, *parts[name]) for name in ("q1", "q2", "")]
        return builder.mul(tuple(found for found in quotients if found is not None))

    return rewrite(program, rule)


LAW = frozenset(("q1", "q2", "c", "K", "Delta", "sin_theta", "root_q1q2", "sqrt_Delta"))


def _factors(builder: Builder, index: int) -> tuple[int, ...]:
    item = builder.instructions[index]
    return tuple(f for arg in item.args for f in _factors(builder, arg)) if item.operation == "mul" else (index,)


def _quotient(builder: Builder, above: list[int], below: list[int]) -> int | None:
    if not below:
        return builder.mul(tuple(above)) if above else None
    return builder.div(builder.mul(tuple(above)), builder.mul(tuple(below)))


def _depends(builder: Builder, index: int, known: dict[int, frozenset[str]]) -> frozenset[str]:
    if index not in known:
        item = builder.instructions[index]
        own = frozenset((str(item.value),)) if item.operation == "input" else frozenset()
        known[index] = own.union(*(_depends(builder, arg, known) for arg in item.args))
    return known[index]
