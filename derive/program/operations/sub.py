"""The difference."""

from __future__ import annotations

from derive.program.operation import Operation

OPERATION = Operation(
    name="sub",
    arity=2,
    spellings=(),
    domain="all reals",
    build=lambda a, b: a - b,
    head=None,
    ball=lambda args, analytic: args[0] - args[1],
    exact=lambda mp, a, b: a - b,
    backends={"numpy": "{0} - {1}", "torch": "{0} - {1}", "jax": "{0} - {1}", "c": "{0} - {1}", "mpmath": "{0} - {1}"},
)
