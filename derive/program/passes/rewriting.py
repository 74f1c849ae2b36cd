"""The loop that passes share: rebuild a program instruction by instruction."""

from __future__ import annotations

from collections.abc import Callable

from derive.program.program import Builder, Instruction, Program

Rule = Callable[[Builder, Instruction], int | None]


def rewrite(program: Program, rule: Rule) -> Program:
    """The program with every instruction replaced by what the rule builds for it, in order.

    The rule is given a builder that holds the arguments already rewritten and returns the index of
    the replacement, or None to keep the instruction.
    """
    builder = Builder()
    place: list[int] = []
    for name in program.inputs:
        builder.put("input", value=name)
    for item in program.instructions:
        moved = Instruction(item.operation, tuple(place[arg] for arg in item.args), item.value)
        index = rule(builder, moved)
        place.append(builder.put(moved.operation, *moved.args, value=moved.value) if index is None else index)
    return builder.program(program.inputs, tuple((name, place[index]) for name, index in program.outputs))
