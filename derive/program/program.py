"""A program: a frozen list of instructions, each in terms of earlier ones; what SymPy expressions become."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

Value = Fraction | str | None

ZERO, ONE, TWO, HALF = Fraction(0), Fraction(1), Fraction(2), Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction.

    operation  "input" (value: its name), "literal" (value: an exact Fraction, "pi", "inf" or "-inf"),
               or the name of an operation
    args       indices of earlier instructions
    """

    operation: str
    args: tuple[int, ...] = ()
    value: Value = None


@dataclass(frozen=True)
class Program:
    """Instructions in a stable order, without duplicates and without unused ones.

    inputs   names of the arguments, in order (all of them, used or not)
    outputs  (name, index of the instruction that computes it)
    """

    inputs: tuple[str, ...]
    instructions: tuple[Instruction, ...]
    outputs: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        lines = []
        for index, instruction in enumerate(self.instructions):
            inside = ", ".join(f"t{arg}" for arg in instruction.args) if instruction.args else str(instruction.value)
            lines.append(f"t{index} = {instruction.operation}({inside})")
        return "\n".join(lines + [f"{name} = t{index}" for name, index in self.outputs])

    def __reduce__(self):
        # without what evaluation keeps beside the instructions
        return Program, (self.inputs, self.instructions, self.outputs)


class Builder:
    """Collects instructions; equal ones are stored once."""

    def __init__(self) -> None:
        self.instructions: list[Instruction] = []
        self._index: dict[Instruction, int] = {}

    def put(self, operation: str, *args: int, value: Value = None) -> int:
        """The index of the instruction, added if it is new."""
        instruction = Instruction(operation, args, value)
        if instruction not in self._index:
            self._index[instruction] = len(self.instructions)
            self.instructions.append(instruction)
        return self._index[instruction]

    def literal(self, value: Fraction | int | str) -> int:
        """An exact literal."""
        return self.put("literal", value=value if isinstance(value, str) else Fraction(value))

    def is_literal(self, index: int, value: Value = None) -> bool:
        """Whether the instruction is a literal (with this value)."""
        instruction = self.instructions[index]
        return instruction.operation == "literal" and (value is None or instruction.value == value)

    def neg(self, index: int) -> int:
        """The negative, simplified where that is free."""
        instruction = self.instructions[index]
        if instruction.operation == "literal" and isinstance(instruction.value, Fraction):
            return self.literal(-instruction.value)
        if instruction.operation == "neg":
            return instruction.args[0]
        if instruction.operation == "sub":
            return self.put("sub", instruction.args[1], instruction.args[0])
        if instruction.operation == "mul":
            first = self.instructions[instruction.args[0]]
            if first.operation == "literal" and isinstance(first.value, Fraction) and first.value < 0:
                return self.mul((self.literal(-first.value), *instruction.args[1:]))
        return self.put("neg", index)

    def add(self, terms: tuple[int, ...]) -> int:
        """The sum of any number of terms."""
        kept = tuple(term for term in terms if not self.is_literal(term, ZERO))
        if len(kept) > 1:
            return self.put("add", *kept)
        return kept[0] if kept else self.literal(0)

    def mul(self, factors: tuple[int, ...]) -> int:
        """The product of any number of factors."""
        kept = tuple(factor for factor in factors if not self.is_literal(factor, ONE))
        if len(kept) > 1:
            return self.put("mul", *kept)
        return kept[0] if kept else self.literal(1)

    def signed_sum(self, plus: tuple[int, ...], minus: tuple[int, ...]) -> int:
        """The sum of the first terms less the sum of the second."""
        if not minus:
            return self.add(plus)
        if not plus:
            return self.neg(self.add(minus))
        return self.put("sub", self.add(plus), self.add(minus))

    def div(self, numerator: int, denominator: int) -> int:
        """The quotient."""
        return numerator if self.is_literal(denominator, ONE) else self.put("div", numerator, denominator)

    def program(self, inputs: tuple[str, ...], outputs: tuple[tuple[str, int], ...]) -> Program:
        """What was collected, without unused instructions."""
        needed: set[int] = set()
        stack = [index for _, index in outputs]
        while stack:
            index = stack.pop()
            if index not in needed:
                needed.add(index)
                stack.extend(self.instructions[index].args)
        place = {old: new for new, old in enumerate(sorted(needed))}
        kept = [self.instructions[old] for old in sorted(needed)]
        renamed = tuple(
            Instruction(item.operation, tuple(place[arg] for arg in item.args), item.value) for item in kept
        )
        return Program(inputs, renamed, tuple((name, place[index]) for name, index in outputs))
