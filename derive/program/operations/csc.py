"""The cosecant 1/sin(x)."""

from __future__ import annotations

import sympy

from derive.program.operation import Operation

OPERATION = Operation(
    name="csc",
    arity=1,
    spellings=("csc",),
    domain="x not a multiple of pi",
    build=sympy.csc,
    head=sympy.csc,
    ball=lambda args, analytic: args[0].csc(),
    exact=lambda mp, x: mp.csc(x),
    backends={
        "numpy": "1/np.sin({0})",
        "torch": "1/torch.sin({0})",
        "jax": "1/jnp.sin({0})",
        "c": "1/sin({0})",
        "mpmath": "mp.csc({0})",
    },
)
