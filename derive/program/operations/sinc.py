"""The cardinal sine sin(x)/x, with 1 at 0."""

from __future__ import annotations

import sympy

from derive.program.operation import Operation

OPERATION = Operation(
    name="sinc",
    arity=1,
    spellings=("sinc",),
    domain="all reals",
    build=sympy.sinc,
    head=sympy.sinc,
    ball=lambda args, analytic: args[0].sinc(),
    exact=lambda mp, x: mp.sinc(x),
    backends={
        "numpy": "np.sinc({0}/np.pi)",
        "torch": "torch.sinc({0}/torch.pi)",
        "jax": "jnp.sinc({0}/jnp.pi)",
        "c": "({0} == 0 ? 1 : sin({0})/{0})",
        "mpmath": "mp.sinc({0})",
    },
)
