"""The hyperbolic cosine."""

from __future__ import annotations

import sympy

from derive.program.operation import Operation

OPERATION = Operation(
    name="cosh",
    arity=1,
    spellings=("cosh",),
    domain="all reals",
    build=sympy.cosh,
    head=sympy.cosh,
    ball=lambda args, analytic: args[0].cosh(),
    exact=lambda mp, x: mp.cosh(x),
    backends={
        "numpy": "np.cosh({0})",
        "torch": "torch.cosh({0})",
        "jax": "jnp.cosh({0})",
        "c": "cosh({0})",
        "mpmath": "mp.cosh({0})",
    },
)
