"""Whether a <= b; on complex balls the real parts are compared."""

from __future__ import annotations

import sympy

from derive.program.operation import Operation


def _ball(args, analytic):
    a, b = args[0].real, args[1].real
    if a <= b:
        return True
    return False if a > b else None


OPERATION = Operation(
    name="le",
    arity=2,
    spellings=(),
    domain="all reals",
    build=sympy.Le,
    head=sympy.LessThan,
    ball=_ball,
    exact=lambda mp, a, b: a <= b,
    backends={
        "numpy": "{0} <= {1}",
        "torch": "{0} <= {1}",
        "jax": "{0} <= {1}",
        "c": "{0} <= {1}",
        "mpmath": "{0} <= {1}",
    },
)
