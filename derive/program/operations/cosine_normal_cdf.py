"""Phi_cos(h, b) = E[cos(b z) 1{z < h}], z standard normal: the real part of exp(-b**2/2) Phi(h - i b)."""

from __future__ import annotations

from sympy import Integer, cos, exp, oo, sin

from derive.program.faddeeva_source import faddeeva_source
from derive.program.operation import Operation
from derive.program.operations.normal_cdf import NormalCdf
from derive.program.operations.normal_pdf import OPERATION as DENSITY
from derive.program.special_head import SpecialFunction
from derive.program.wave_balls import wave_cdf


def _ball(args, analytic):
    return wave_cdf(*args)[0]


class CosineNormalCdf(SpecialFunction):
    """Phi_cos(h, b), even in b; d/dh = cos(b h) phi(h), d/db = sin(b h) phi(h) - b Phi_cos. Kind: SPECIAL."""

    nargs = 2
    latex_name = r"\Phi_{\cos}"
    ball = staticmethod(_ball)

    @classmethod
    def eval(cls, h, b):
        if b.is_zero:
            return NormalCdf(h)
        if h.is_zero:
            return exp(-(b**2) / 2) / 2
        if h in (oo, -oo):
            return exp(-(b**2) / 2) if h is oo else Integer(0)
        return cls(h, -b) if b.could_extract_minus_sign() else None

    def fdiff(self, argindex=1):
        h, b = self.args
        density = DENSITY.build(h)
        return cos(b * h) * density if argindex == 1 else sin(b * h) * density - b * self


OPERATION = Operation(
    name="cosine_normal_cdf",
    arity=2,
    build=CosineNormalCdf,
    head=CosineNormalCdf,
    ball=_ball,
    exact=lambda mp, h, b: mp.re(mp.exp(-(b**2) / 2) * mp.erfc(mp.mpc(-h, b) / mp.sqrt(2))) / 2,
    backends={
        "numpy": "_cosine_cdf({0}, {1})",
        "torch": "_cosine_cdf({0}, {1})",
        "jax": "_cosine_cdf({0}, {1})",
        "mpmath": "(mp.re(mp.exp(-({1})**2/2)*mp.erfc(mp.mpc(-({0}), {1})/mp.sqrt(2)))/2)",
    },
    helpers={"numpy": faddeeva_source("np"), "torch": faddeeva_source("torch"), "jax": faddeeva_source("jnp")},
    source="DLMF 7.2(i); helpers: Al Azah and Chandler-Wilde 2021, SIAM J. Numer. Anal. 59, 2346",
)
