"""The exponential function."""

from __future__ import annotations

import sympy

from derive.program.operation import Operation

OPERATION = Operation(
    name="exp",
    arity=1,
    spellings=("exp",),
    domain="all reals",
    build=sympy.exp,
    head=sympy.exp,
    ball=lambda args, analytic: args[0].exp(),
    exact=lambda mp, x: mp.exp(x),
    backends={
        "numpy": "np.exp({0})",
        "torch": "torch.exp({0})",
        "jax": "jnp.exp({0})",
        "c": "exp({0})",
        "mpmath": "mp.exp({0})",
    },
)
