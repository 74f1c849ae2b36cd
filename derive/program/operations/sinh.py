"""The hyperbolic sine."""

from __future__ import annotations

import sympy

from derive.program.operation import Operation

OPERATION = Operation(
    name="sinh",
    arity=1,
    spellings=("sinh",),
    domain="all reals",
    build=sympy.sinh,
    head=sympy.sinh,
    ball=lambda args, analytic: args[0].sinh(),
    exact=lambda mp, x: mp.sinh(x),
    backends={
        "numpy": "np.sinh({0})",
        "torch": "torch.sinh({0})",
        "jax": "jnp.sinh({0})",
        "c": "sinh({0})",
        "mpmath": "mp.sinh({0})",
    },
)
