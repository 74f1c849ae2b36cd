"""Whether one holds."""

from __future__ import annotations

import sympy

from derive.program.operation import Operation


def _ball(args, analytic):
    if any(arg is True for arg in args):
        return True
    return False if all(arg is False for arg in args) else None


OPERATION = Operation(
    name="or",
    arity=-1,
    spellings=(),
    domain="all reals",
    build=sympy.Or,
    head=sympy.Or,
    ball=_ball,
    exact=lambda mp, *args: any(args),
    backends={"numpy": "{0} | {1}", "torch": "{0} | {1}", "jax": "{0} | {1}", "c": "{0} || {1}", "mpmath": "{0} | {1}"},
)
