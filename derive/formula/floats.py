"""Floating-point numbers of other people's code as the exact numbers they were meant to be."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from derive.formula import nodes
from derive.formula.intervals import exact
from derive.formula.parser import Parser
from derive.records import FormulaError, Node

CONSTANTS = {
    "sqrt(2)": math.sqrt(2), "sqrt(3)": math.sqrt(3), "sqrt(5)": math.sqrt(5), "1/sqrt(2)": 1 / math.sqrt(2),
    "pi": math.pi, "2*pi": 2 * math.pi, "pi/2": math.pi / 2, "pi/4": math.pi / 4, "1/pi": 1 / math.pi,
    "2/pi": 2 / math.pi, "sqrt(pi)": math.sqrt(math.pi), "sqrt(2*pi)": math.sqrt(2 * math.pi),
    "1/sqrt(2*pi)": 1 / math.sqrt(2 * math.pi), "sqrt(2/pi)": math.sqrt(2 / math.pi),
    "sqrt(pi/8)": math.sqrt(math.pi / 8),
    "2/sqrt(pi)": 2 / math.sqrt(math.pi), "e": math.e, "log(2)": math.log(2),
}  # fmt: skip
LONG = 15
"""Decimals of so many digits are results of a computation, not numbers that somebody typed."""


def typed(value: float) -> tuple[Node, str]:
    """The exact number behind a float, and a note where it was recognised ("1.4142135623730951 is read as sqrt(2)").

    A float of few digits is its shortest decimal. One of 15 digits or more that equals the double of a common
    constant, or of a fraction with a denominator below 1000, is that number; any other keeps all its digits.
    """
    if isinstance(value, (bool, int)):
        return nodes.num(int(value)), ""
    if not math.isfinite(value):
        raise FormulaError(f"{value} is no number of a formula")
    digits = len(repr(abs(value)).partition("e")[0].replace(".", "").strip("0"))
    if digits >= LONG:
        for text, double in CONSTANTS.items():
            if abs(value) == double:
                node = Parser(text).expression()
                return (node if value > 0 else nodes.neg(node)), f"{abs(value)!r} is read as {text}"
        fraction = Fraction(value).limit_denominator(999)
        if float(fraction) == value:
            return nodes.num(fraction), f"{value!r} is read as {fraction}"
    return nodes.num(exact(float(value))), ""


def shortest(value: float, rounds: Callable[[float], float]) -> float:
    """The shortest decimal that `rounds` (to a narrower type) gives `value`: 0.1 for the float32 nearest 0.1."""
    return next((short for digits in range(1, 17) if rounds(short := float(f"{value:.{digits}g}")) == value), value)
