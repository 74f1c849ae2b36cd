"""The product."""

from __future__ import annotations

from math import prod

import sympy

from derive.program.operation import Operation


def _ball(args, analytic):
    if len(args) == 2:
        return args[0] * args[1]
    return prod(args[1:], start=args[0])


OPERATION = Operation(
    name="mul",
    arity=-1,
    spellings=(),
    domain="all reals",
    build=sympy.Mul,
    head=None,
    ball=_ball,
    exact=lambda mp, *args: mp.fprod(args),
    backends={"numpy": "{0}*{1}", "torch": "{0}*{1}", "jax": "{0}*{1}", "c": "{0}*{1}", "mpmath": "{0}*{1}"},
)
