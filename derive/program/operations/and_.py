"""Whether all hold."""

from __future__ import annotations

import sympy

from derive.program.operation import Operation


def _ball(args, analytic):
    if any(arg is False for arg in args):
        return False
    return True if all(arg is True for arg in args) else None


OPERATION = Operation(
    name="and",
    arity=-1,
    spellings=(),
    domain="all reals",
    build=sympy.And,
    head=sympy.And,
    ball=_ball,
    exact=lambda mp, *args: all(args),
    backends={"numpy": "{0} & {1}", "torch": "{0} & {1}", "jax": "{0} & {1}", "c": "{0} && {1}", "mpmath": "{0} & {1}"},
)
