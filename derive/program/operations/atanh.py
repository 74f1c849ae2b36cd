"""The inverse hyperbolic tangent, cut along |x| > 1."""

from __future__ import annotations

import sympy

from derive.program.balls import NOWHERE, meets_real_cut
from derive.program.operation import Operation

OPERATION = Operation(
    name="atanh",
    arity=1,
    spellings=("atanh", "arctanh", "artanh"),
    domain="-1 < x < 1",
    build=sympy.atanh,
    head=sympy.atanh,
    ball=lambda args, analytic: NOWHERE if analytic and meets_real_cut(args[0], -1, 1) else args[0].atanh(),
    exact=lambda mp, x: mp.atanh(x),
    backends={
        "numpy": "np.arctanh({0})",
        "torch": "torch.atanh({0})",
        "jax": "jnp.arctanh({0})",
        "c": "atanh({0})",
        "mpmath": "mp.atanh({0})",
    },
)
