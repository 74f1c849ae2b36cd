"""The negative."""

from __future__ import annotations

from derive.program.operation import Operation

OPERATION = Operation(
    name="neg",
    arity=1,
    spellings=(),
    domain="all reals",
    build=lambda a: -a,
    head=None,
    ball=lambda args, analytic: -args[0],
    exact=lambda mp, a: -a,
    backends={"numpy": "-{0}", "torch": "-{0}", "jax": "-{0}", "c": "-{0}", "mpmath": "-{0}"},
)
