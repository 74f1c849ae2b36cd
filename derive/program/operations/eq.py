"""Whether a = b."""

from __future__ import annotations

import sympy

from derive.program.operation import Operation


def _ball(args, analytic):
    difference = args[0] - args[1]
    if difference.is_zero():
        return True
    return None if difference.contains(0) else False


OPERATION = Operation(
    name="eq",
    arity=2,
    spellings=(),
    domain="all reals",
    build=sympy.Eq,
    head=sympy.Equality,
    ball=_ball,
    exact=lambda mp, a, b: a == b,
    backends={
        "numpy": "{0} == {1}",
        "torch": "{0} == {1}",
        "jax": "{0} == {1}",
        "c": "{0} == {1}",
        "mpmath": "{0} == {1}",
    },
)
