"""Dirac parts of derivatives of functions with jumps, carried through sums and products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sympy import Expr, limit

from derive.program.symbols import X
from derive.records import Undefined


@dataclass(frozen=True, slots=True)
class Dirac:
    """weight * delta(x - at)."""

    at: Expr
    weight: Expr


def of_derivative(jumps: Any, carried: tuple[Dirac, ...]) -> tuple[Dirac, ...] | None:
    """Dirac parts of f' from the jumps of f; a Dirac part that is differentiated again has no meaning here."""
    return None if carried else tuple(Dirac(jump.at, jump.height) for jump in jumps)


def of_sum(first: Any, second: Any) -> tuple[Dirac, ...] | None:
    """Dirac parts of f + g (None: undefined)."""
    if first.diracs is None or second.diracs is None:
        return None
    return first.diracs + second.diracs


def of_product(first: Any, second: Any) -> tuple[Dirac, ...] | None:
    """Dirac parts of f*g; None where a Dirac part meets another Dirac part or a jump."""
    if first.diracs is None or second.diracs is None or (first.diracs and second.diracs):
        return None
    with_dirac, smooth = (first, second) if first.diracs else (second, first)
    parts = []
    for dirac in with_dirac.diracs:
        left, right = (limit(smooth.expr, X, dirac.at, side) for side in "-+")
        if left != right:
            return None
        parts.append(Dirac(dirac.at, dirac.weight * left))
    return tuple(parts)


def of_power(f: Any, power: int) -> tuple[Dirac, ...] | None:
    """Dirac parts of f**power."""
    if power == 1 or f.diracs == ():
        return f.diracs
    return None


def demand(f: Any) -> tuple[Dirac, ...]:
    """The Dirac parts of f; raises Undefined where they have no meaning."""
    if f.diracs is None:
        raise Undefined(
            "the product of two Dirac parts at one place has no meaning",
            why="the function jumps, so that its derivative squared is not integrable",
            instead="leave out distributional=True for the function away from the jumps",
        )
    return f.diracs
