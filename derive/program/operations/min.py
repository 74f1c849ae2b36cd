"""The smallest of its arguments."""

from __future__ import annotations

import sympy

from derive.program.operation import Operation


def _ball(args, analytic):
    result = args[0]
    for arg in args[1:]:
        result = result.real_min(arg, analytic=analytic)
    return result


OPERATION = Operation(
    name="min",
    arity=-1,
    spellings=("min", "minimum"),
    build=sympy.Min,
    head=sympy.Min,
    ball=_ball,
    exact=lambda mp, *args: min(args),
    backends={
        "numpy": "np.minimum({0}, {1})",
        "torch": "torch.minimum({0}, {1})",
        "jax": "jnp.minimum({0}, {1})",
        "c": "fmin({0}, {1})",
        "mpmath": "min({0}, {1})",
    },
)
