"""The hyperbolic cotangent 1/tanh(x)."""

from __future__ import annotations

import sympy

from derive.program.operation import Operation

OPERATION = Operation(
    name="coth",
    arity=1,
    spellings=("coth",),
    domain="x != 0",
    build=sympy.coth,
    head=sympy.coth,
    ball=lambda args, analytic: args[0].coth(),
    exact=lambda mp, x: mp.coth(x),
    backends={
        "numpy": "1/np.tanh({0})",
        "torch": "1/torch.tanh({0})",
        "jax": "1/jnp.tanh({0})",
        "c": "1/tanh({0})",
        "mpmath": "mp.coth({0})",
    },
)
