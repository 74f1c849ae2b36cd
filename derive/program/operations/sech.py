"""The hyperbolic secant 1/cosh(x)."""

from __future__ import annotations

import sympy

from derive.program.operation import Operation

_NUMPY = """
def _sech(x):
    \"\"\"1/cosh(x), without overflow.\"\"\"
    e = np.exp(-np.abs(x))
    return 2*e/(1 + e*e)
"""

OPERATION = Operation(
    name="sech",
    arity=1,
    spellings=("sech",),
    build=sympy.sech,
    head=sympy.sech,
    ball=lambda args, analytic: args[0].sech(),
    exact=lambda mp, x: mp.sech(x),
    backends={
        "numpy": "_sech({0})",
        "torch": "_sech({0})",
        "jax": "_sech({0})",
        "c": "1/cosh({0})",
        "mpmath": "mp.sech({0})",
    },
    helpers={"numpy": _NUMPY, "torch": _NUMPY.replace("np.", "torch."), "jax": _NUMPY.replace("np.", "jnp.")},
)
