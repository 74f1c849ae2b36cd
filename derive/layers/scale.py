"""Scales of branches: a number, or a formula in named depths and strengths such as "1/sqrt(L)"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from sympy import Expr, Integer

from derive.layers.stage import ratio
from derive.program.symbols import parameter
from derive.records import EocError, FormulaError, Interval

POSITIVE = Interval(lower=0)
NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Scale:
    """An expression with its free names, all positive."""

    expr: Expr
    names: tuple[str, ...] = ()

    @property
    def domains(self) -> tuple[tuple[str, Interval], ...]:
        """The names with their domains."""
        return tuple((name, POSITIVE) for name in self.names)


def scale(value: Any, title: str) -> Scale:
    """The scale that a number, a SymPy expression or a text stands for.

    Names in a text are positive parameters of the theory: "1/sqrt(L)" for a depth L, "beta". Raises EocError.
    """
    if isinstance(value, Scale):
        return value
    if isinstance(value, str) and NAME.search(value):
        return _read(value, title)
    if isinstance(value, Expr):
        return Scale(value, tuple(sorted(s.name for s in value.free_symbols)))
    return Scale(Integer(value) if isinstance(value, int) else ratio(value, title))


def _read(text: str, title: str) -> Scale:
    from derive.formula import read, to_sympy

    words = {found.group() for found in NAME.finditer(text)}
    names = sorted(word for word in words if not re.search(rf"\b{word}\s*\(", text) and word not in ("pi", "e"))
    try:
        formula = read(text, variables=tuple(names)) if names else read(f"x*({text})")
    except FormulaError as error:
        raise EocError(
            f"{title} = {text!r} is no scale", why=str(error).splitlines()[0], instead='"1/sqrt(L)"'
        ) from None
    expr = to_sympy(formula)
    if not names:
        return Scale(expr.subs(dict.fromkeys(expr.free_symbols, 1)))
    return Scale(expr.subs({s: parameter(s.name, POSITIVE) for s in expr.free_symbols}), tuple(names))
