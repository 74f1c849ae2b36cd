"""The power a**b: any integer b, else a >= 0 (cut along the negative axis)."""

from __future__ import annotations

import sympy

from derive.program.balls import whole_power
from derive.program.operation import Operation


def _ball(args, analytic):
    base, exponent = args
    if exponent.is_exact() and exponent.imag.is_zero() and exponent.real.is_integer():
        return whole_power(base, int(exponent.real.unique_fmpz()))
    return base.pow(exponent, analytic=analytic)


OPERATION = Operation(
    name="pow",
    arity=2,
    domain="a > 0, or b an integer",
    build=sympy.Pow,
    head=None,
    ball=_ball,
    exact=lambda mp, a, b: mp.power(a, b),
    backends={
        "numpy": "np.power({0}, {1})",
        "torch": "torch.pow({0}, {1})",
        "jax": "jnp.power({0}, {1})",
        "c": "pow({0}, {1})",
        "mpmath": "mp.power({0}, {1})",
    },
)
