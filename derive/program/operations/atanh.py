"""The inverse hyperbolic tangent, cut along |x| > 1."""

from __future__ import annotations

from typing import Any

import sympy
from flint import acb, arb

from derive.program.balls import NOWHERE, meets_real_cut
from derive.program.operation import Operation


def _ball(args: list[Any], analytic: bool) -> Any:
    """On the real line between the cuts the value is real, which the complex function does not say."""
    z = args[0]
    if z.imag.is_zero() and abs(z.real) < arb(1):
        return acb(z.real.atanh())
    return NOWHERE if analytic and meets_real_cut(z, -1, 1) else z.atanh()


OPERATION = Operation(
    name="atanh",
    arity=1,
    spellings=("atanh", "arctanh", "artanh"),
    domain="-1 < x < 1",
    build=sympy.atanh,
    head=sympy.atanh,
    ball=_ball,
    exact=lambda mp, x: mp.atanh(x),
    backends={
        "numpy": "np.arctanh({0})",
        "torch": "torch.atanh({0})",
        "jax": "jnp.arctanh({0})",
        "c": "atanh({0})",
        "mpmath": "mp.atanh({0})",
    },
)
