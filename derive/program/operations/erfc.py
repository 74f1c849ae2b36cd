"""The complementary error function 1 - erf(x)."""

from __future__ import annotations

import sympy

from derive.program.balls import monotone
from derive.program.operation import Operation

_ball = monotone(lambda z: z.erfc())

OPERATION = Operation(
    name="erfc",
    arity=1,
    spellings=("erfc",),
    domain="all reals",
    build=sympy.erfc,
    head=sympy.erfc,
    ball=lambda args, analytic: _ball(args[0]),
    exact=lambda mp, x: mp.erfc(x),
    backends={
        "numpy": "erfc({0})",
        "torch": "torch.erfc({0})",
        "jax": "jax.scipy.special.erfc({0})",
        "c": "erfc({0})",
        "mpmath": "mp.erfc({0})",
    },
)
