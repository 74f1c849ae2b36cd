"""log(1 + x), accurate near 0; cut along x < -1."""

from __future__ import annotations

import sympy
from sympy.codegen.cfunctions import log1p

from derive.program.balls import NOWHERE, meets_real_cut
from derive.program.operation import Operation


def _ball(args, analytic):
    if analytic and meets_real_cut(args[0], -1):
        return NOWHERE
    return args[0].log1p()


OPERATION = Operation(
    name="log1p",
    arity=1,
    spellings=("log1p",),
    domain="x > -1",
    build=lambda x: sympy.log(1 + x),
    head=log1p,
    ball=_ball,
    exact=lambda mp, x: mp.log1p(x),
    backends={
        "numpy": "np.log1p({0})",
        "torch": "torch.log1p({0})",
        "jax": "jnp.log1p({0})",
        "c": "log1p({0})",
        "mpmath": "mp.log1p({0})",
    },
)
