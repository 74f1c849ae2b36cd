"""The inverse tangent, cut along +-i*[1, oo)."""

from __future__ import annotations

import sympy
from flint import acb

from derive.program.balls import NOWHERE, by_slope, meets_imaginary_cut, monotone
from derive.program.operation import Operation

_off_the_cut = by_slope(monotone(lambda z: z.atan()), lambda z: 1 / (z * z + 1))


def _ball(z: acb, analytic: bool) -> acb:
    if meets_imaginary_cut(z):
        return NOWHERE if analytic else z.atan()
    return _off_the_cut(z)


OPERATION = Operation(
    name="atan",
    arity=1,
    spellings=("atan", "arctan"),
    domain="all reals",
    build=sympy.atan,
    head=sympy.atan,
    ball=lambda args, analytic: _ball(args[0], analytic),
    exact=lambda mp, x: mp.atan(x),
    backends={
        "numpy": "np.arctan({0})",
        "torch": "torch.atan({0})",
        "jax": "jnp.arctan({0})",
        "c": "atan({0})",
        "mpmath": "mp.atan({0})",
    },
)
