"""exp(e)*Phi(h) as one operation: it stays finite where the factors overflow and vanish."""

from __future__ import annotations

from sympy import exp

from derive.program.operation import Operation
from derive.program.operations import normal_cdf
from derive.program.owen_source import MILLS, exp_cdf_source, gauss_source

NUMPY = exp_cdf_source("np", "erfc", "erfcx")
JAX = "\n".join((gauss_source("jnp"), MILLS, exp_cdf_source("jnp", "jax.scipy.special.erfc", "_erfcx")))
TORCH = exp_cdf_source("torch", "torch.erfc", "torch.special.erfcx")

OPERATION = Operation(
    name="exp_normal_cdf",
    arity=2,
    build=lambda e, h: exp(e) * normal_cdf.NormalCdf(h),
    ball=lambda args, analytic: args[0].exp() * normal_cdf.OPERATION.ball(args[1:], analytic),
    exact=lambda mp, e, h: mp.exp(e) * normal_cdf.OPERATION.exact(mp, h),
    backends={
        "numpy": "_exp_normal_cdf({0}, {1})",
        "torch": "_exp_normal_cdf({0}, {1})",
        "jax": "_exp_normal_cdf({0}, {1})",
        "mpmath": "(mp.exp({0})*mp.ncdf({1}))",
    },
    helpers={"numpy": NUMPY, "torch": TORCH, "jax": JAX},
)
