"""The sum."""

from __future__ import annotations

import sympy

from derive.program.operation import Operation

OPERATION = Operation(
    name="add",
    arity=-1,
    spellings=(),
    domain="all reals",
    build=sympy.Add,
    head=None,
    ball=lambda args, analytic: sum(args[1:], args[0]),
    exact=lambda mp, *args: mp.fsum(args),
    backends={"numpy": "{0} + {1}", "torch": "{0} + {1}", "jax": "{0} + {1}", "c": "{0} + {1}", "mpmath": "{0} + {1}"},
)
