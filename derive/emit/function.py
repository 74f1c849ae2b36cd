"""What is emitted: one function of a module, with its arguments, parameters and partial derivatives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sympy import Expr, Symbol, sqrt

from derive.program.operations.correlation import Correlation
from derive.program.symbols import Q1, Q2, C

Bindings = tuple[tuple[str, Expr], ...]


@dataclass(frozen=True)
class Partial:
    """A partial derivative stated exactly, with its own partial derivatives where they need stating too.

    call  where another function of the module gives it: the text that calls that one, with the names of arguments and
          the function's own (mine) in braces; the expression is then not written
    """

    expr: Expr
    gradients: Mapping[str, Partial | Expr] = field(default_factory=dict)
    call: str = ""


@dataclass(frozen=True)
class EmittedFunction:
    """One function of an emitted module.

    name        its name, an identifier
    expr        its value, in symbols named as the arguments, parameters and bindings
    arguments   positional arguments, in order
    parameters  keyword arguments without default, in order
    doc         its docstring
    gradients   argument or parameter -> partial derivative (at fixed other arguments and parameters).
                Where given, automatic differentiation uses these instead of differentiating the
                text: the way to one-sided derivatives at an edge such as c = 1. All that is not
                listed has then no derivative, and asking for it raises.
    bindings    names bound before the value is computed, such as `pair_bindings()`: each in terms of the
                arguments and of bindings before it; one that bears an argument's name replaces it
    """

    name: str
    expr: Expr
    arguments: tuple[str, ...]
    parameters: tuple[str, ...] = ()
    doc: str = ""
    gradients: Mapping[str, Partial | Expr] = field(default_factory=dict)
    bindings: Bindings = ()


SINE = Symbol("sin_theta", nonnegative=True)
"""sqrt((1 - c)*(1 + c)): c is the cosine of the angle theta between the two variables."""
ROOT = Symbol("root_q1q2", positive=True)
SQRT_DELTA = Symbol("sqrt_Delta", nonnegative=True)


def pair_bindings() -> Bindings:
    """For a function of (q1, q2, c): K = c*sqrt(q1*q2) and Delta = q1*q2 - K**2 without cancellation.

    Roots are taken before products: q1*q2 overflows in single precision where sqrt(q1)*sqrt(q2) does not.
    """
    return (("c", Correlation(C)), *angle_bindings(sqrt((1 - C) * (1 + C)), (1 - C) * (1 + C)))


def angle_bindings(sine: Expr, square: Expr) -> Bindings:
    """The same with sin(theta) and its square given."""
    return (
        (SINE.name, sine),
        (ROOT.name, sqrt(Q1) * sqrt(Q2)),
        (SQRT_DELTA.name, ROOT * SINE),
        ("K", C * ROOT),
        ("Delta", Q1 * Q2 * square),
    )
