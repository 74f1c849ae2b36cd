"""The sine."""

from __future__ import annotations

import sympy

from derive.program.operation import Operation

OPERATION = Operation(
    name="sin",
    arity=1,
    spellings=("sin",),
    domain="all reals",
    build=sympy.sin,
    head=sympy.sin,
    ball=lambda args, analytic: args[0].sin(),
    exact=lambda mp, x: mp.sin(x),
    backends={
        "numpy": "np.sin({0})",
        "torch": "torch.sin({0})",
        "jax": "jnp.sin({0})",
        "c": "sin({0})",
        "mpmath": "mp.sin({0})",
    },
)
