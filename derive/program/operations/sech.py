"""The hyperbolic secant 1/cosh(x)."""

from __future__ import annotations

import sympy

from derive.program.operation import Operation

_SOURCE = """
def _sech(x):
    \"\"\"1/cosh(x), without overflow.\"\"\"
    e = np.exp(-np.abs(x))
    return 2*e/(1 + e*e)
"""

# smooth at 0 and without overflow: 1/cosh(x) = 2*exp(x - log(1 + exp(2*x)))
_TORCH = """
def _sech(x):
    \"\"\"1/cosh(x), with finite derivatives far out.\"\"\"
    return 2*torch.exp(x - torch.nn.functional.softplus(2*x, threshold=40))
"""

_JAX = """
def _sech(x):
    \"\"\"1/cosh(x), with finite derivatives far out.\"\"\"
    return 2*jnp.exp(x - jax.nn.softplus(2*x))
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
    helpers={
        "numpy": _SOURCE,
        "torch": _TORCH,
        "jax": _JAX,
    },
)
