"""The sign: 1, 0 or -1."""

from __future__ import annotations

import sympy

from derive.program.operation import Operation

OPERATION = Operation(
    name="sign",
    arity=1,
    spellings=("sign", "sgn"),
    domain="all reals",
    build=sympy.sign,
    head=sympy.sign,
    ball=lambda args, analytic: args[0].real_sgn(analytic=analytic),
    exact=lambda mp, x: mp.sign(x),
    backends={
        "numpy": "np.sign({0})",
        "torch": "torch.sign({0})",
        "jax": "jnp.sign({0})",
        "c": "(({0} > 0) - ({0} < 0))",
        "mpmath": "mp.sign({0})",
    },
)
