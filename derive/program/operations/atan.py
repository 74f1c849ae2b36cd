"""The inverse tangent, cut along +-i*[1, oo)."""

from __future__ import annotations

import sympy

from derive.program.balls import NOWHERE, meets_imaginary_cut
from derive.program.operation import Operation

OPERATION = Operation(
    name="atan",
    arity=1,
    spellings=("atan", "arctan"),
    domain="all reals",
    build=sympy.atan,
    head=sympy.atan,
    ball=lambda args, analytic: NOWHERE if analytic and meets_imaginary_cut(args[0]) else args[0].atan(),
    exact=lambda mp, x: mp.atan(x),
    backends={
        "numpy": "np.arctan({0})",
        "torch": "torch.atan({0})",
        "jax": "jnp.arctan({0})",
        "c": "atan({0})",
        "mpmath": "mp.atan({0})",
    },
)
