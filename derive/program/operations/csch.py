"""The hyperbolic cosecant 1/sinh(x)."""

from __future__ import annotations

import sympy

from derive.program.operation import Operation

OPERATION = Operation(
    name="csch",
    arity=1,
    spellings=("csch",),
    domain="x != 0",
    build=sympy.csch,
    head=sympy.csch,
    ball=lambda args, analytic: args[0].csch(),
    exact=lambda mp, x: mp.csch(x),
    backends={
        "numpy": "1/np.sinh({0})",
        "torch": "1/torch.sinh({0})",
        "jax": "1/jnp.sinh({0})",
        "c": "1/sinh({0})",
        "mpmath": "mp.csch({0})",
    },
)
