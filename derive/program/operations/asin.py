"""The inverse sine, cut along |x| > 1."""

from __future__ import annotations

import sympy

from derive.program.balls import NOWHERE, meets_real_cut
from derive.program.operation import Operation

OPERATION = Operation(
    name="asin",
    arity=1,
    spellings=("asin", "arcsin"),
    domain="-1 <= x <= 1",
    build=sympy.asin,
    head=sympy.asin,
    ball=lambda args, analytic: NOWHERE if analytic and meets_real_cut(args[0], -1, 1) else args[0].asin(),
    exact=lambda mp, x: mp.asin(x),
    backends={
        "numpy": "np.arcsin({0})",
        "torch": "torch.asin({0})",
        "jax": "jnp.arcsin({0})",
        "c": "asin({0})",
        "mpmath": "mp.asin({0})",
    },
)
