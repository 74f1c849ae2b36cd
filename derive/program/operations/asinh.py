"""The inverse hyperbolic sine, cut along +-i*[1, oo)."""

from __future__ import annotations

import sympy

from derive.program.balls import NOWHERE, meets_imaginary_cut
from derive.program.operation import Operation

OPERATION = Operation(
    name="asinh",
    arity=1,
    spellings=("asinh", "arcsinh", "arsinh"),
    domain="all reals",
    build=sympy.asinh,
    head=sympy.asinh,
    ball=lambda args, analytic: NOWHERE if analytic and meets_imaginary_cut(args[0]) else args[0].asinh(),
    exact=lambda mp, x: mp.asinh(x),
    backends={
        "numpy": "np.arcsinh({0})",
        "torch": "torch.asinh({0})",
        "jax": "jnp.arcsinh({0})",
        "c": "asinh({0})",
        "mpmath": "mp.asinh({0})",
    },
)
