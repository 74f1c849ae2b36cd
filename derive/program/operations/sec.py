"""The secant 1/cos(x)."""

from __future__ import annotations

import sympy

from derive.program.operation import Operation

OPERATION = Operation(
    name="sec",
    arity=1,
    spellings=("sec",),
    domain="x not an odd multiple of pi/2",
    build=sympy.sec,
    head=sympy.sec,
    ball=lambda args, analytic: args[0].sec(),
    exact=lambda mp, x: mp.sec(x),
    backends={
        "numpy": "1/np.cos({0})",
        "torch": "1/torch.cos({0})",
        "jax": "1/jnp.cos({0})",
        "c": "1/cos({0})",
        "mpmath": "mp.sec({0})",
    },
)
