"""The standard normal density phi(x) = exp(-x**2/2)/sqrt(2 pi)."""

from __future__ import annotations

from flint import acb
from sympy import exp, pi, sqrt

from derive.program.operation import Operation


def _ball(args, analytic):
    return (-(args[0] ** 2) / 2).exp() / (2 * acb.pi()).sqrt()


# A plain exponential to SymPy, so that Gaussian rules see it: no head of its own.
OPERATION = Operation(
    name="normal_pdf",
    arity=1,
    spellings=("phi",),
    build=lambda x: exp(-(x**2) / 2) / sqrt(2 * pi),
    head=None,
    ball=_ball,
    exact=lambda mp, x: mp.npdf(x),
    backends={
        "numpy": "0.3989422804014327*np.exp(-0.5*{0}*{0})",
        "torch": "0.3989422804014327*torch.exp(-0.5*{0}*{0})",
        "jax": "0.3989422804014327*jnp.exp(-0.5*{0}*{0})",
        "c": "0.3989422804014327*exp(-0.5*{0}*{0})",
        "mpmath": "mp.npdf({0})",
    },
)
