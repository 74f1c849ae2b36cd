"""The scaled complementary error function exp(x**2)*erfc(x)."""

from __future__ import annotations

from flint import ctx
from sympy import Integer, erfc, exp, oo, pi, sqrt

from derive.program.balls import monotone
from derive.program.operation import Operation
from derive.program.owen_source import MILLS, gauss_source
from derive.program.special_head import SpecialFunction


def _product(z):
    # exp(z**2) amplifies the rounding of z**2 by its size
    size = z.abs_upper()
    bits = 2 * max(0, int(size.log().mid().ceil().unique_fmpz()) * 2) if size > 1 and size.is_finite() else 0
    with ctx.workprec(ctx.prec + 10 + bits):
        result = (z * z).exp() * z.erfc()
    return +result


_enclose = monotone(_product)


def _ball(args, analytic):
    return _enclose(args[0])


class Erfcx(SpecialFunction):
    """erfcx(x) = exp(x**2)*erfc(x), without overflow for large x."""

    nargs = 1
    latex_name = r"\operatorname{erfcx}"
    ball = staticmethod(_ball)

    @classmethod
    def eval(cls, x):
        if x.is_zero:
            return Integer(1)
        return Integer(0) if x is oo else None

    def fdiff(self, argindex=1):
        x = self.args[0]
        return 2 * x * Erfcx(x) - 2 / sqrt(pi)

    def _eval_is_positive(self):
        return True if self.args[0].is_real else None

    def _eval_rewrite_as_erfc(self, x, **kwargs):
        return exp(x**2) * erfc(x)


OPERATION = Operation(
    name="erfcx",
    arity=1,
    spellings=("erfcx",),
    build=Erfcx,
    head=Erfcx,
    ball=_ball,
    exact=lambda mp, x: mp.exp(x**2) * mp.erfc(x),
    backends={
        "numpy": "erfcx({0})",
        "torch": "torch.special.erfcx({0})",
        "jax": "_erfcx({0})",
        "mpmath": "(mp.exp({0}**2)*mp.erfc({0}))",
    },
    helpers={"jax": gauss_source("jnp") + "\n" + MILLS},
)
