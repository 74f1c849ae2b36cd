"""The natural logarithm, cut along the negative axis."""

from __future__ import annotations

import sympy

from derive.program.operation import Operation

OPERATION = Operation(
    name="log",
    arity=1,
    spellings=("log", "ln"),
    domain="x > 0",
    build=sympy.log,
    head=sympy.log,
    ball=lambda args, analytic: args[0].log(analytic=analytic),
    exact=lambda mp, x: mp.log(x),
    backends={
        "numpy": "np.log({0})",
        "torch": "torch.log({0})",
        "jax": "jnp.log({0})",
        "c": "log({0})",
        "mpmath": "mp.log({0})",
    },
)
