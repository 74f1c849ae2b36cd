"""The inverse cosine, cut along |x| > 1."""

from __future__ import annotations

import sympy

from derive.program.balls import NOWHERE, meets_real_cut
from derive.program.operation import Operation

OPERATION = Operation(
    name="acos",
    arity=1,
    spellings=("acos", "arccos"),
    domain="-1 <= x <= 1",
    build=sympy.acos,
    head=sympy.acos,
    ball=lambda args, analytic: NOWHERE if analytic and meets_real_cut(args[0], -1, 1) else args[0].acos(),
    exact=lambda mp, x: mp.acos(x),
    backends={
        "numpy": "np.arccos({0})",
        "torch": "torch.acos({0})",
        "jax": "jnp.arccos({0})",
        "c": "acos({0})",
        "mpmath": "mp.acos({0})",
    },
)
