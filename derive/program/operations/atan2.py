"""The angle of the point (x, y), in (-pi, pi]; arguments in the order y, x."""

from __future__ import annotations

import sympy
from flint import acb, arb

from derive.program.balls import NOWHERE, is_real, meets_imaginary_cut
from derive.program.operation import Operation


def _ball(args, analytic):
    y, x = args
    if is_real(y) and is_real(x) and not analytic:
        return acb(arb.atan2(y.real, x.real))
    if x.real > 0:
        ratio, turn = y / x, acb(0)
    elif y.real > 0:
        ratio, turn = -x / y, acb.pi() / 2
    elif y.real < 0:
        ratio, turn = -x / y, -acb.pi() / 2
    elif not analytic and is_real(y) and is_real(x):
        return acb(arb.atan2(y.real, x.real))
    else:
        return NOWHERE
    if meets_imaginary_cut(ratio):
        return NOWHERE
    return turn + ratio.atan()


OPERATION = Operation(
    name="atan2",
    arity=2,
    spellings=("atan2", "arctan2"),
    domain="(x, y) not the origin",
    build=sympy.atan2,
    head=sympy.atan2,
    ball=_ball,
    exact=lambda mp, y, x: mp.atan2(y, x),
    backends={
        "numpy": "np.arctan2({0}, {1})",
        "torch": "torch.atan2({0}, {1})",
        "jax": "jnp.arctan2({0}, {1})",
        "c": "atan2({0}, {1})",
        "mpmath": "mp.atan2({0}, {1})",
    },
)
