"""The Heaviside step: 1 for x > 0, 0 for x < 0, and 1/2 (the mean of both sides) at 0."""

from __future__ import annotations

import sympy

from derive.program.operation import Operation


def _ball(args, analytic):
    return (1 + args[0].real_sgn(analytic=analytic)) / 2


OPERATION = Operation(
    name="step",
    arity=1,
    spellings=("step", "heaviside", "Heaviside"),
    build=sympy.Heaviside,
    head=sympy.Heaviside,
    ball=_ball,
    exact=lambda mp, x: (1 + mp.sign(x)) / 2,
    backends={
        "numpy": "np.heaviside({0}, 0.5)",
        "torch": "0.5*(1 + torch.sign({0}))",
        "jax": "0.5*(1 + jnp.sign({0}))",
        "c": "0.5*(1 + ({0} > 0) - ({0} < 0))",
        "mpmath": "(1 + mp.sign({0}))/2",
    },
)
