"""The error function 2/sqrt(pi) times the integral of exp(-t**2) from 0 to x."""

from __future__ import annotations

import sympy

from derive.program.balls import monotone
from derive.program.operation import Operation

_ball = monotone(lambda z: z.erf())

OPERATION = Operation(
    name="erf",
    arity=1,
    spellings=("erf",),
    domain="all reals",
    build=sympy.erf,
    head=sympy.erf,
    ball=lambda args, analytic: _ball(args[0]),
    exact=lambda mp, x: mp.erf(x),
    backends={
        "numpy": "erf({0})",
        "torch": "torch.erf({0})",
        "jax": "jax.scipy.special.erf({0})",
        "c": "erf({0})",
        "mpmath": "mp.erf({0})",
    },
)
