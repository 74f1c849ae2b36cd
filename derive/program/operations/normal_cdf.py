"""The standard normal distribution function Phi(x) = erfc(-x/sqrt(2))/2."""

from __future__ import annotations

from flint import arb
from sympy import Integer, Rational, erf, exp, oo, pi, sqrt

from derive.program.balls import monotone
from derive.program.operation import Operation
from derive.program.special_head import SpecialFunction

_enclose = monotone(lambda z: (-z / arb(2).sqrt()).erfc() / 2)


def _ball(args, analytic):
    return _enclose(args[0])


class NormalCdf(SpecialFunction):
    """Phi(x); reflect(x) gives Phi(-x) = 1 - Phi(x). Never rewritten into erf by itself."""

    nargs = 1
    latex_name = r"\Phi"
    ball = staticmethod(_ball)

    @classmethod
    def eval(cls, x):
        if x.is_zero:
            return Rational(1, 2)
        if x is oo:
            return Integer(1)
        if x is -oo:
            return Integer(0)
        return None

    def fdiff(self, argindex=1):
        x = self.args[0]
        return exp(-(x**2) / 2) / sqrt(2 * pi)

    def _eval_is_positive(self):
        return True if self.args[0].is_real else None

    def _eval_rewrite_as_erf(self, x, **kwargs):
        return (1 + erf(x / sqrt(2))) / 2


def reflect(cdf: NormalCdf):
    """The same value written with the negative argument: Phi(x) = 1 - Phi(-x)."""
    return 1 - NormalCdf(-cdf.args[0])


OPERATION = Operation(
    name="normal_cdf",
    arity=1,
    spellings=("Phi",),
    build=NormalCdf,
    head=NormalCdf,
    ball=_ball,
    exact=lambda mp, x: mp.erfc(-x / mp.sqrt(2)) / 2,
    backends={
        "numpy": "ndtr({0})",
        "torch": "0.5*torch.erfc(-0.7071067811865476*{0})",
        "jax": "jax.scipy.special.ndtr({0})",
        "c": "0.5*erfc(-0.7071067811865476*{0})",
        "mpmath": "mp.ncdf({0})",
    },
)
