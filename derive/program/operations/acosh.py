"""The inverse hyperbolic cosine, cut along x < 1."""

from __future__ import annotations

import sympy

from derive.program.balls import NOWHERE, meets_real_cut
from derive.program.operation import Operation

OPERATION = Operation(
    name="acosh",
    arity=1,
    spellings=("acosh", "arccosh", "arcosh"),
    domain="x >= 1",
    build=sympy.acosh,
    head=sympy.acosh,
    ball=lambda args, analytic: NOWHERE if analytic and meets_real_cut(args[0], 1) else args[0].acosh(),
    exact=lambda mp, x: mp.acosh(x),
    backends={
        "numpy": "np.arccosh({0})",
        "torch": "torch.acosh({0})",
        "jax": "jnp.arccosh({0})",
        "c": "acosh({0})",
        "mpmath": "mp.acosh({0})",
    },
)
