"""The absolute value."""

from __future__ import annotations

import sympy

from derive.program.operation import Operation

OPERATION = Operation(
    name="abs",
    arity=1,
    spellings=("abs",),
    domain="all reals",
    build=sympy.Abs,
    head=sympy.Abs,
    ball=lambda args, analytic: args[0].real_abs(analytic=analytic),
    exact=lambda mp, x: mp.fabs(x),
    backends={
        "numpy": "np.abs({0})",
        "torch": "torch.abs({0})",
        "jax": "jnp.abs({0})",
        "c": "fabs({0})",
        "mpmath": "mp.fabs({0})",
    },
)
