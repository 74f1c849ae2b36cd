"""Phi_sin(h, b) = E[sin(b z) 1{z < h}], z standard normal: the imaginary part of exp(-b**2/2) Phi(h - i b)."""

from __future__ import annotations

from sympy import Integer, cos, oo, pi, sin, sqrt

from derive.program.faddeeva_source import faddeeva_source
from derive.program.operation import Operation
from derive.program.operations.dawson import Dawson
from derive.program.operations.normal_pdf import OPERATION as DENSITY
from derive.program.special_head import SpecialFunction
from derive.program.wave_balls import wave_cdf


def _ball(args, analytic):
    return wave_cdf(*args)[1]


class SineNormalCdf(SpecialFunction):
    """Phi_sin(h, b), odd in b, even in h; d/dh = sin(b h) phi(h), d/db = -cos(b h) phi(h) - b Phi_sin.

    Kind: SPECIAL.
    """

    nargs = 2
    latex_name = r"\Phi_{\sin}"
    ball = staticmethod(_ball)

    @classmethod
    def eval(cls, h, b):
        if b.is_zero or h in (oo, -oo):
            return Integer(0)
        if h.is_zero:
            return -Dawson(b / sqrt(2)) / sqrt(pi)
        if h.could_extract_minus_sign():
            return cls(-h, b)
        return -cls(h, -b) if b.could_extract_minus_sign() else None

    def fdiff(self, argindex=1):
        h, b = self.args
        density = DENSITY.build(h)
        return sin(b * h) * density if argindex == 1 else -cos(b * h) * density - b * self


OPERATION = Operation(
    name="sine_normal_cdf",
    arity=2,
    build=SineNormalCdf,
    head=SineNormalCdf,
    ball=_ball,
    exact=lambda mp, h, b: mp.im(mp.exp(-(b**2) / 2) * mp.erfc(mp.mpc(-h, b) / mp.sqrt(2))) / 2,
    backends={
        "numpy": "_sine_cdf({0}, {1})",
        "torch": "_sine_cdf({0}, {1})",
        "jax": "_sine_cdf({0}, {1})",
        "mpmath": "(mp.im(mp.exp(-({1})**2/2)*mp.erfc(mp.mpc(-({0}), {1})/mp.sqrt(2)))/2)",
    },
    helpers={"numpy": faddeeva_source("np"), "torch": faddeeva_source("torch"), "jax": faddeeva_source("jnp")},
    source="DLMF 7.2(i); helpers: Al Azah and Chandler-Wilde 2021, SIAM J. Numer. Anal. 59, 2346",
)
