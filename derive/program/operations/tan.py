"""The tangent; poles at odd multiples of pi/2."""

from __future__ import annotations

import sympy

from derive.program.operation import Operation

OPERATION = Operation(
    name="tan",
    arity=1,
    spellings=("tan",),
    domain="x not an odd multiple of pi/2",
    build=sympy.tan,
    head=sympy.tan,
    ball=lambda args, analytic: args[0].tan(),
    exact=lambda mp, x: mp.tan(x),
    backends={
        "numpy": "np.tan({0})",
        "torch": "torch.tan({0})",
        "jax": "jnp.tan({0})",
        "c": "tan({0})",
        "mpmath": "mp.tan({0})",
    },
)
