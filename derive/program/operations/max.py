"""The largest of its arguments."""

from __future__ import annotations

import sympy

from derive.program.operation import Operation


def _ball(args, analytic):
    result = args[0]
    for arg in args[1:]:
        result = result.real_max(arg, analytic=analytic)
    return result


OPERATION = Operation(
    name="max",
    arity=-1,
    spellings=("max", "maximum"),
    build=sympy.Max,
    head=sympy.Max,
    ball=_ball,
    exact=lambda mp, *args: max(args),
    backends={
        "numpy": "np.maximum({0}, {1})",
        "torch": "torch.maximum({0}, {1})",
        "jax": "jnp.maximum({0}, {1})",
        "c": "fmax({0}, {1})",
        "mpmath": "max({0}, {1})",
    },
)
