"""exp(x) - 1, accurate near 0."""

from __future__ import annotations

import sympy
from sympy.codegen.cfunctions import expm1

from derive.program.operation import Operation

OPERATION = Operation(
    name="expm1",
    arity=1,
    spellings=("expm1",),
    build=lambda x: sympy.exp(x) - 1,
    head=expm1,
    ball=lambda args, analytic: args[0].expm1(),
    exact=lambda mp, x: mp.expm1(x),
    backends={
        "numpy": "np.expm1({0})",
        "torch": "torch.expm1({0})",
        "jax": "jnp.expm1({0})",
        "c": "expm1({0})",
        "mpmath": "mp.expm1({0})",
    },
)
