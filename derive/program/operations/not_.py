"""Whether it does not hold."""

from __future__ import annotations

import sympy

from derive.program.operation import Operation

OPERATION = Operation(
    name="not",
    arity=1,
    spellings=(),
    domain="all reals",
    build=sympy.Not,
    head=sympy.Not,
    ball=lambda args, analytic: None if args[0] is None else not args[0],
    exact=lambda mp, a: not a,
    backends={"numpy": "~{0}", "torch": "~{0}", "jax": "~{0}", "c": "!{0}", "mpmath": "~{0}"},
)
