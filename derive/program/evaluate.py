"""Programs on complex balls (rigorous, the inner loop of integration) and on mpmath numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import mpmath
from flint import acb, arb, ctx, fmpq

from derive.program.balls import whole_power
from derive.program.program import Instruction, Program, Value
from derive.program.registry import operations
from derive.records import EocError

KEPT_PRECISIONS = 32


class Plan:
    """A program made ready for balls: one closure an instruction, constants computed once a precision."""

    def __init__(self, program: Program) -> None:
        self.inputs = [(i, str(item.value)) for i, item in enumerate(program.instructions) if item.operation == "input"]
        order = {name: place for place, name in enumerate(program.inputs)}
        self.places = [(index, order[name]) for index, name in self.inputs]
        self.outputs = [index for _, index in program.outputs]
        constant: set[int] = set()
        self.steps: list[tuple[int, Callable]] = []
        self.constants: list[tuple[int, Callable]] = []
        for index, item in enumerate(program.instructions):
            if item.operation == "input":
                continue
            fixed = all(arg in constant for arg in item.args)
            (self.constants if fixed else self.steps).append((index, _closure(item, program)))
            if fixed:
                constant.add(index)
        self.size = len(program.instructions)
        self.templates: dict[int, list] = {}

    def template(self) -> list:
        """The list of values with the constants filled in, at the current precision."""
        values = self.templates.get(ctx.prec)
        if values is None:
            values = [None] * self.size
            for index, compute in self.constants:
                values[index] = compute(values, False)
            if len(self.templates) >= KEPT_PRECISIONS:
                self.templates.clear()
            self.templates[ctx.prec] = values
        return values.copy()

    def __call__(self, arguments: Sequence[acb], analytic: bool = False) -> list:
        """The outputs, for arguments in the order of the program's inputs."""
        values = self.template()
        for index, place in self.places:
            values[index] = arguments[place]
        for index, compute in self.steps:
            values[index] = compute(values, analytic)
        return [values[index] for index in self.outputs]


def plan(program: Program) -> Plan:
    """The program's plan, made at the first call and kept with the program."""
    found = program.__dict__.get("_plan")
    if found is None:
        found = program.__dict__["_plan"] = Plan(program)
    return found


def run_balls(program: Program, inputs: Mapping[str, acb | arb], analytic: bool = False) -> dict[str, Any]:
    """Enclosures of the outputs at the current flint precision, which the caller sets.

    With `analytic` an output is non-finite unless the function is analytic on the whole ball: what
    `acb.integral` asks. In an inner loop `plan(program)` takes the arguments as a sequence.
    """
    missing = [name for name in program.inputs if name not in inputs]
    if missing:
        raise _missing(missing, program)
    values = [value if isinstance(value := inputs[name], acb) else acb(value) for name in program.inputs]
    return dict(zip((name for name, _ in program.outputs), plan(program)(values, analytic), strict=True))


def run_mp(program: Program, inputs: Mapping[str, Any], dps: int = 30) -> dict[str, Any]:
    """The outputs by the operations' definitions, in mpmath with `dps` working digits (not rigorous).

    nan where there is no real value; in a branch that a selection does not take that is no error.
    """
    missing = [name for name in program.inputs if name not in inputs]
    if missing:
        raise _missing(missing, program)
    table = operations()
    with mpmath.workdps(dps):
        mp, values = mpmath.mp, []
        for item in program.instructions:
            if item.operation == "input":
                values.append(_to_mp(inputs[str(item.value)]))
            elif item.operation == "literal":
                values.append(_to_mp(item.value))
            else:
                values.append(_real(table[item.operation].exact, mp, [values[arg] for arg in item.args]))
        return {name: values[index] for name, index in program.outputs}


def _real(definition: Callable, mp: Any, args: list) -> Any:
    try:
        value = definition(mp, *args)
    except ZeroDivisionError:
        return mp.nan
    return mp.nan if isinstance(value, mp.mpc) else value


def _to_mp(value: Any) -> Any:
    if isinstance(value, str):
        return +mpmath.pi if value == "pi" else mpmath.mpf(value)
    if isinstance(value, Fraction):
        return mpmath.mpf(value.numerator) / value.denominator
    return mpmath.mpf(value)


def literal_ball(value: Value) -> acb:
    """The enclosure of a literal at the current precision."""
    if isinstance(value, Fraction):
        return acb(fmpq(value.numerator, value.denominator))
    return {"pi": acb.pi, "inf": lambda: acb(arb.pos_inf()), "-inf": lambda: acb(arb.neg_inf())}[str(value)]()


def _closure(item: Instruction, program: Program) -> Callable[[list, bool], Any]:
    """The instruction as a function of the list of values; the commonest ones without a call of `ball`."""
    if item.operation == "literal":
        return lambda values, analytic: literal_ball(item.value)
    args = item.args
    if item.operation == "pow":
        exponent = program.instructions[args[1]]
        if exponent.operation == "literal" and isinstance(exponent.value, Fraction) and exponent.value.denominator == 1:
            base, power = args[0], int(exponent.value)
            # bounds are asked of wide balls, with `analytic`; values are asked at points
            if power == 2:
                return lambda values, analytic: (
                    whole_power(values[base], 2) if analytic else values[base] * values[base]
                )
            return lambda values, analytic: whole_power(values[base], power) if analytic else values[base] ** power
    ball = operations()[item.operation].ball
    if len(args) == 1:
        only = args[0]
        if item.operation == "exp":
            return lambda values, analytic: values[only].exp()
        return lambda values, analytic: ball([values[only]], analytic)
    if len(args) == 2:
        first, second = args
        quick = {
            "add": lambda values, analytic: values[first] + values[second],
            "mul": lambda values, analytic: values[first] * values[second],
            "sub": lambda values, analytic: values[first] - values[second],
            "div": lambda values, analytic: values[first] / values[second],
        }.get(item.operation)
        return quick or (lambda values, analytic: ball([values[first], values[second]], analytic))
    return lambda values, analytic: ball([values[arg] for arg in args], analytic)


def _missing(names: list[str], program: Program) -> EocError:
    return EocError(
        f"no value for {', '.join(names)}",
        where=", ".join(names),
        why=f"the arguments are: {', '.join(program.inputs)}",
        instead=f"give {names[0]} a value",
    )
