"""Protection: the branch a selection does not take is evaluated where it is harmless."""

from __future__ import annotations

import itertools
from fractions import Fraction

from derive.program.evaluate import run_mp
from derive.program.program import Builder, Instruction, Program

ALGEBRA = ("input", "literal", "neg", "add", "sub", "mul", "abs", "sign", "step", "max", "min", "clip", "select")
SMOOTH = ("tanh", "sin", "cos", "sinc", "sech", "erf", "erfc", "normal_cdf", "sigmoid", "softplus", "atan", "asinh")
HARMLESS = frozenset((*ALGEBRA, *SMOOTH, "lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not"))
"""Operations that stay finite, with finite derivatives, on the whole line."""

USUAL = (Fraction(1, 2), Fraction(1), Fraction(-1), Fraction(2), Fraction(-2))
OTHERS = (Fraction(3, 4), Fraction(5, 4), Fraction(-3, 4), Fraction(3), Fraction(-3))
TRIES = 2000

Test = tuple[int, bool]


def protect(program: Program) -> Program:
    """The program with the inputs of every branch replaced, where the branch is not taken.

    In where(x > 0, x, exp(x) - 1) the exponential overflows at x = 1000; the value is not used, but
    its gradient is infinity times zero. The branch becomes exp(where(x > 0, s, x)) - 1 with s a
    point of the branch. Only branches with operations that can overflow or have a pole are touched.
    """
    worker = _Protection(program)
    outputs = tuple((name, worker.copy(index, (), {})) for name, index in program.outputs)
    return worker.builder.program(program.inputs, outputs)


class _Protection:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.builder = Builder()
        for name in program.inputs:
            self.builder.put("input", value=name)
        self.done: dict[tuple, int] = {}
        self.inputs_of: list[frozenset[int]] = []
        self.dangerous: list[bool] = []
        for index, item in enumerate(program.instructions):
            own = frozenset((index,)) if item.operation == "input" else frozenset()
            self.inputs_of.append(own.union(*(self.inputs_of[arg] for arg in item.args)))
            self.dangerous.append(self._can_fail(item) or any(self.dangerous[arg] for arg in item.args))

    def _can_fail(self, item: Instruction) -> bool:
        if item.operation == "pow":
            exponent = self.program.instructions[item.args[1]]
            return not (
                exponent.operation == "literal"
                and isinstance(exponent.value, Fraction)
                and exponent.value.denominator == 1
            )
        if item.operation == "div":
            return self.program.instructions[item.args[1]].operation != "literal"
        return item.operation not in HARMLESS

    def copy(self, index: int, path: tuple[Test, ...], replaced: dict[int, int]) -> int:
        """The instruction rebuilt under the tests passed so far, with inputs replaced."""
        key = (index, path, tuple(sorted(replaced.items())))
        if key not in self.done:
            self.done[key] = self._copy(index, path, replaced)
        return self.done[key]

    def _copy(self, index: int, path: tuple[Test, ...], replaced: dict[int, int]) -> int:
        item = self.program.instructions[index]
        if index in replaced:
            return replaced[index]
        if item.operation != "select":
            args = tuple(self.copy(arg, path, replaced) for arg in item.args)
            return self.builder.put(item.operation, *args, value=item.value)
        test, yes, no = item.args
        condition = self.copy(test, path, replaced)
        return self.builder.put(
            "select",
            condition,
            self._branch(yes, (*path, (test, True)), condition, replaced),
            self._branch(no, (*path, (test, False)), condition, replaced),
        )

    def _branch(self, index: int, path: tuple[Test, ...], condition: int, replaced: dict[int, int]) -> int:
        if not self.dangerous[index]:
            return self.copy(index, path, replaced)
        test, wanted = path[-1]
        moved = self.inputs_of[test] & self.inputs_of[index]
        safe = self._safe_point(path)
        inside = dict(replaced)
        for number in sorted(moved & safe.keys()):
            current, value = self.copy(number, path, replaced), self.builder.literal(safe[number])
            choice = (condition, current, value) if wanted else (condition, value, current)
            inside[number] = self.builder.put("select", *choice)
        return self.copy(index, path, inside)

    def _safe_point(self, path: tuple[Test, ...]) -> dict[int, Fraction]:
        """Values of the inputs at which every test on the path turns out as wanted; empty if none is found."""
        numbers = sorted(frozenset().union(*(self.inputs_of[test] for test, _ in path)))
        thresholds = sorted({value for test, _ in path for value in self._literals(test)})
        middles = [(low + high) / 2 for low, high in itertools.pairwise(thresholds)]
        ends = [thresholds[-1] + 1, thresholds[0] - 1] if thresholds else []
        candidates = list(dict.fromkeys([*middles, *ends, *USUAL, *thresholds]))
        # the second and later inputs keep clear of the first: a tie may be a boundary of the branch
        choices = [candidates, *[OTHERS] * (len(numbers) - 1)]
        for values in itertools.islice(itertools.product(*choices), TRIES):
            point = dict(zip(numbers, values, strict=True))
            if all(self._holds(test, point) is wanted for test, wanted in path):
                return point
        return {}

    def _literals(self, index: int) -> set[Fraction]:
        item = self.program.instructions[index]
        if item.operation == "literal":
            return {item.value} if isinstance(item.value, Fraction) else set()
        return set().union(*(self._literals(arg) for arg in item.args))

    def _holds(self, test: int, point: dict[int, Fraction]) -> bool:
        values = {str(self.program.instructions[number].value): value for number, value in point.items()}
        small = Builder()
        small.instructions = list(self.program.instructions)
        question = small.program(tuple(values), (("test", test),))
        return bool(run_mp(question, values, 30)["test"])
