"""The cosine."""

from __future__ import annotations

import sympy

from derive.program.operation import Operation

OPERATION = Operation(
    name="cos",
    arity=1,
    spellings=("cos",),
    domain="all reals",
    build=sympy.cos,
    head=sympy.cos,
    ball=lambda args, analytic: args[0].cos(),
    exact=lambda mp, x: mp.cos(x),
    backends={
        "numpy": "np.cos({0})",
        "torch": "torch.cos({0})",
        "jax": "jnp.cos({0})",
        "c": "cos({0})",
        "mpmath": "mp.cos({0})",
    },
)
