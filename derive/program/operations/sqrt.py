"""The square root, cut along the negative axis."""

from __future__ import annotations

import sympy

from derive.program.operation import Operation

OPERATION = Operation(
    name="sqrt",
    arity=1,
    spellings=("sqrt",),
    domain="x >= 0",
    build=sympy.sqrt,
    head=None,
    ball=lambda args, analytic: args[0].sqrt(analytic=analytic),
    exact=lambda mp, x: mp.sqrt(x),
    backends={
        "numpy": "np.sqrt({0})",
        "torch": "torch.sqrt({0})",
        "jax": "jnp.sqrt({0})",
        "c": "sqrt({0})",
        "mpmath": "mp.sqrt({0})",
    },
)
