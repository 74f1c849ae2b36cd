"""What the layers share: joining by >>, printing, and the refusals that every layer words alike."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from typing import Any, ClassVar

from sympy import Expr, Rational

from derive.records import EocError
from derive.records.state import State, Unit


class Stage:
    """A layer: a frozen dataclass with `forward(state) -> State`.

    blocks    names of its arguments that are blocks; "*" where all positional ones are
    formulas  names of its arguments that are activations
    named_only  in block text its arguments are named: a bare number could mean either of two things
    keeps_width  as many coordinates leave the layer as enter it, or fresh weights restore their number
    """

    blocks: ClassVar[tuple[str, ...]] = ()
    formulas: ClassVar[tuple[str, ...]] = ()
    named_only: ClassVar[bool] = False
    keeps_width: ClassVar[bool] = False

    @property
    def passed(self) -> Expr | None:
        """p where the layer is known to be y = p x + n, E n = 0 whatever x: fresh weights, noise; None elsewhere."""
        return None

    def __rshift__(self, other: Any) -> Any:
        from derive.layers.block import join

        return join(self, other)

    def __rrshift__(self, other: Any) -> Any:
        from derive.layers.block import join

        return join(other, self)

    def __repr__(self) -> str:
        first, *rest = [(f.name, getattr(self, f.name), f.default) for f in fields(self)]  # type: ignore[arg-type]
        given = [f"{name}={value}" for name, value, default in rest if value != default]
        return f"{type(self).__name__.lower()}({', '.join([str(first[1]), *given])})"


class Unjoined(EocError):
    """A layer that needs the law of the signal behind one that leaves only its moments."""


def demand_unit(stage: Stage, state: State) -> Unit:
    """The unit of a state; raises Unjoined where only moments are known."""
    if state.unit is None:
        raise Unjoined(
            f"{stage!r} needs a function of Gaussian units",
            why="of the signal before it only the moments are known",
            instead=f"put a Dense between: ... >> Dense() >> {stage!r}",
        )
    return state.unit


def size(value: Any, name: str) -> int:
    """A number of units, at least 1."""
    try:
        number = Fraction(str(value))
    except ValueError:
        number = Fraction(0)
    if number.denominator != 1 or number < 1:
        raise EocError(f"{name} = {value} is no number of units", instead=f"{name}=2")
    return int(number)


def ratio(value: Any, name: str) -> Expr:
    """An exact number from a decimal, a fraction or a SymPy expression."""
    if isinstance(value, Expr):
        return value
    try:
        number = Fraction(str(value))
    except ValueError:
        raise EocError(f"{name} = {value!r} is no number", instead=f"{name}=0.5") from None
    return Rational(number.numerator, number.denominator)
