"""The cotangent 1/tan(x)."""

from __future__ import annotations

import sympy

from derive.program.operation import Operation

OPERATION = Operation(
    name="cot",
    arity=1,
    spellings=("cot",),
    domain="x not a multiple of pi",
    build=sympy.cot,
    head=sympy.cot,
    ball=lambda args, analytic: args[0].cot(),
    exact=lambda mp, x: mp.cot(x),
    backends={
        "numpy": "1/np.tan({0})",
        "torch": "1/torch.tan({0})",
        "jax": "1/jnp.tan({0})",
        "c": "1/tan({0})",
        "mpmath": "mp.cot({0})",
    },
)
