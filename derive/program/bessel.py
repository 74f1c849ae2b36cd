"""The scaled modified Bessel functions exp(x)*K_n(x), n = 0, 1: balls, definitions, spellings."""

from __future__ import annotations

from flint import acb, ctx
from sympy import Integer, oo

from derive.program.balls import NOWHERE, meets_real_cut
from derive.program.special_head import SpecialFunction


def scaled_bessel_k(order: int, x: acb) -> acb:
    """exp(x)*K_order(x) on balls off the negative real axis; decreasing on the positive one."""
    if meets_real_cut(x, below=0):
        return NOWHERE
    if x.imag.is_zero() and x.real.rad() > abs(x.real).mid() / 8 and x.real.is_finite():
        low, high = (_product(order, acb(end)) for end in (x.real.lower(), x.real.upper()))
        return low.union(high)
    return _product(order, x)


def _product(order: int, x: acb) -> acb:
    size = x.abs_upper()
    whole = size.log().mid().ceil().unique_fmpz() if size > 1 and size.is_finite() else None
    bits = 2 * max(0, int(whole)) if whole is not None else 0
    with ctx.workprec(ctx.prec + 10 + bits):
        result = x.exp() * x.bessel_k(order)
    return +result


class BesselK(SpecialFunction):
    """k_n(x) = exp(x) K_n(x) for x > 0."""

    nargs = 1

    @classmethod
    def eval(cls, x):
        if x is oo:
            return Integer(0)
        return oo if x.is_zero else None

    def _eval_is_positive(self):
        return self.args[0].is_positive


_JAX = '''
def _bessel_mean(x, order):
    """exp(x)*K_order(x), the integral of exp(-x*(cosh(u) - 1))*cosh(order*u) by the trapezoidal rule."""
    x = jnp.asarray(x)[..., None]
    end = jnp.arccosh(1 + 40/x)
    u = end*jnp.arange(161)/160
    values = jnp.exp(-2*x*jnp.sinh(0.5*u)**2)*(jnp.cosh(u) if order else 1)
    return (values[..., 1:].sum(-1) + 0.5*values[..., 0])*end[..., 0]/160


_scaled_bessel_k0 = _differentiable(
    lambda x: _bessel_mean(x, 0), {0: lambda x: _scaled_bessel_k0(x) - _scaled_bessel_k1(x)}, ("x",)
)


_scaled_bessel_k1 = _differentiable(
    lambda x: _bessel_mean(x, 1),
    {0: lambda x: _scaled_bessel_k1(x) - _scaled_bessel_k0(x) - _scaled_bessel_k1(x)/x},
    ("x",),
)
'''

_TORCH = """
_scaled_bessel_k0 = _differentiable(
    torch.special.scaled_modified_bessel_k0, {0: lambda x: _scaled_bessel_k0(x) - _scaled_bessel_k1(x)}, ("x",)
)


_scaled_bessel_k1 = _differentiable(
    torch.special.scaled_modified_bessel_k1,
    {0: lambda x: _scaled_bessel_k1(x) - _scaled_bessel_k0(x) - _scaled_bessel_k1(x)/x},
    ("x",),
)
"""

HELPERS = {"torch": _TORCH, "jax": _JAX}

__all__ = ["HELPERS", "BesselK", "scaled_bessel_k"]
