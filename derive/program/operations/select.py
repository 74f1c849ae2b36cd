"""One of two values: a where the test holds, b elsewhere."""

from __future__ import annotations

import sympy

from derive.program.balls import NOWHERE
from derive.program.operation import Operation


def _ball(args, analytic):
    test, yes, no = args
    if test is None:
        return NOWHERE if analytic else yes.union(no)
    return yes if test else no


OPERATION = Operation(
    name="select",
    arity=3,
    spellings=(),
    build=lambda test, yes, no: sympy.Piecewise((yes, test), (no, True)),
    head=None,
    ball=_ball,
    exact=lambda mp, test, yes, no: yes if test else no,
    backends={
        "numpy": "np.where({0}, {1}, {2})",
        "torch": "torch.where({0}, {1}, {2})",
        "jax": "jnp.where({0}, {1}, {2})",
        "c": "{0} ? {1} : {2}",
        "mpmath": "({1} if {0} else {2})",
    },
)
