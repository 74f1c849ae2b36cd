"""The value x moved into [lo, hi]."""

from __future__ import annotations

import sympy

from derive.program.operation import Operation

OPERATION = Operation(
    name="clip",
    arity=3,
    spellings=("clip", "clamp"),
    domain="lo <= hi",
    build=lambda x, lo, hi: sympy.Min(sympy.Max(x, lo), hi),
    head=None,
    ball=lambda args, analytic: args[0].real_max(args[1], analytic=analytic).real_min(args[2], analytic=analytic),
    exact=lambda mp, x, lo, hi: min(max(x, lo), hi),
    backends={
        "numpy": "np.minimum(np.maximum({0}, {1}), {2})",
        "torch": "torch.minimum(torch.maximum({0}, {1}), {2})",
        "jax": "jnp.minimum(jnp.maximum({0}, {1}), {2})",
        "c": "fmin(fmax({0}, {1}), {2})",
        "mpmath": "min(max({0}, {1}), {2})",
    },
)
