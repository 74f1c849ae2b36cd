"""The hyperbolic tangent."""

from __future__ import annotations

import sympy

from derive.program.balls import monotone
from derive.program.operation import Operation

_ball = monotone(lambda z: z.tanh())

OPERATION = Operation(
    name="tanh",
    arity=1,
    spellings=("tanh",),
    domain="all reals",
    build=sympy.tanh,
    head=sympy.tanh,
    ball=lambda args, analytic: _ball(args[0]),
    exact=lambda mp, x: mp.tanh(x),
    backends={
        "numpy": "np.tanh({0})",
        "torch": "torch.tanh({0})",
        "jax": "jnp.tanh({0})",
        "c": "tanh({0})",
        "mpmath": "mp.tanh({0})",
    },
)
