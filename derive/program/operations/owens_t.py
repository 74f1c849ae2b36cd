"""Owen's T function, T(h, a) = 1/(2 pi) times the integral of exp(-h**2*(1 + x**2)/2)/(1 + x**2) over [0, a]."""

from __future__ import annotations

from sympy import Abs, Integer, atan, erf, exp, oo, pi, sqrt

from derive.program.normal_balls import owens_t
from derive.program.operation import Operation
from derive.program.operations.normal_cdf import NormalCdf
from derive.program.special_head import SpecialFunction


class OwenT(SpecialFunction):
    """T(h, a): even in h, odd in a (Owen 1956, Ann. Math. Statist. 27, 1075)."""

    nargs = 2
    latex_name = "T"
    ball = staticmethod(owens_t)

    @classmethod
    def eval(cls, h, a):
        if a.is_zero or h in (oo, -oo):
            return Integer(0)
        if h.could_extract_minus_sign():
            return cls(-h, a)
        if a.could_extract_minus_sign():
            return -cls(h, -a)
        if h.is_zero:
            return atan(a) / (2 * pi)
        if a is oo:
            return NormalCdf(-Abs(h)) / 2
        if a == 1:
            return NormalCdf(h) * NormalCdf(-h) / 2
        return None

    def fdiff(self, argindex=1):
        h, a = self.args
        if argindex == 1:
            return -exp(-(h**2) / 2) * erf(a * h / sqrt(2)) * sqrt(2 * pi) / (4 * pi)
        return exp(-(h**2) * (1 + a**2) / 2) / (2 * pi * (1 + a**2))


def _exact(mp, h, a):
    return mp.quad(lambda x: mp.exp(-(h**2) * (1 + x**2) / 2) / (1 + x**2), [0, a]) / (2 * mp.pi)


OPERATION = Operation(
    name="owens_t",
    arity=2,
    build=OwenT,
    head=OwenT,
    ball=owens_t,
    exact=_exact,
    backends={"numpy": "owens_t({0}, {1})"},
    source="Owen 1956, Ann. Math. Statist. 27, 1075",
)
