"""Dawson's integral F(x) = exp(-x**2) int_0^x exp(t**2) dt: the mean of a sine over half a line."""

from __future__ import annotations

from flint import acb, ctx
from sympy import Integer

from derive.program.faddeeva_source import faddeeva_source
from derive.program.operation import Operation
from derive.program.special_head import SpecialFunction


def _ball(args, analytic):
    z = args[0]
    size = z.abs_upper()
    # exp(-z**2) amplifies the rounding of z**2 by its size
    bits = 4 * max(0, int(size.log().mid().ceil().unique_fmpz())) if size > 1 and size.is_finite() else 0
    with ctx.workprec(ctx.prec + 10 + bits):
        result = (-z * z).exp() * z.erfi() * acb.pi().sqrt() / 2
    return +result


class Dawson(SpecialFunction):
    """F(x) = exp(-x**2) int_0^x exp(t**2) dt, odd; F' = 1 - 2 x F. Kind: SPECIAL. DLMF 7.2(ii)."""

    nargs = 1
    latex_name = "F"
    ball = staticmethod(_ball)

    @classmethod
    def eval(cls, x):
        if x.is_zero:
            return Integer(0)
        return -cls(-x) if x.could_extract_minus_sign() else None

    def fdiff(self, argindex=1):
        x = self.args[0]
        return 1 - 2 * x * Dawson(x)

    def _eval_is_positive(self):
        return self.args[0].is_positive


OPERATION = Operation(
    name="dawson",
    arity=1,
    build=Dawson,
    head=Dawson,
    ball=_ball,
    exact=lambda mp, x: mp.exp(-(x**2)) * mp.erfi(x) * mp.sqrt(mp.pi) / 2,
    backends={
        "numpy": "_dawson({0})",
        "torch": "_dawson({0})",
        "jax": "_dawson({0})",
        "mpmath": "(mp.exp(-({0})**2)*mp.erfi({0})*mp.sqrt(mp.pi)/2)",
    },
    helpers={"numpy": faddeeva_source("np"), "torch": faddeeva_source("torch"), "jax": faddeeva_source("jnp")},
    source="DLMF 7.2(ii); helpers: Al Azah and Chandler-Wilde 2021, SIAM J. Numer. Anal. 59, 2346",
)
