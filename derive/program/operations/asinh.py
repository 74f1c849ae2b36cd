"""The inverse hyperbolic sine, cut along +-i*[1, oo)."""

from __future__ import annotations

import sympy
from flint import acb

from derive.program.balls import NOWHERE, by_slope, meets_imaginary_cut, monotone
from derive.program.operation import Operation

_off_the_cut = by_slope(monotone(lambda z: z.asinh()), lambda z: (z * z + 1).rsqrt())


def _ball(z: acb, analytic: bool) -> acb:
    if meets_imaginary_cut(z):
        return NOWHERE if analytic else z.asinh()
    # Arb's log(z + sqrt(1 + z^2)) cancels on the left
    return -_off_the_cut(-z) if z.real < 0 else _off_the_cut(z)


OPERATION = Operation(
    name="asinh",
    arity=1,
    spellings=("asinh", "arcsinh", "arsinh"),
    domain="all reals",
    build=sympy.asinh,
    head=sympy.asinh,
    ball=lambda args, analytic: _ball(args[0], analytic),
    exact=lambda mp, x: mp.asinh(x),
    backends={
        "numpy": "np.arcsinh({0})",
        "torch": "torch.asinh({0})",
        "jax": "jnp.arcsinh({0})",
        "c": "asinh({0})",
        "mpmath": "mp.asinh({0})",
    },
)
