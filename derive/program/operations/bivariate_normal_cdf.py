"""The bivariate normal distribution function Phi_2(h, k; rho) = P(X <= h, Y <= k), correlation rho."""

from __future__ import annotations

from sympy import Integer, Min, Rational, asin, default_sort_key, exp, oo, pi, sqrt

from derive.program.normal_balls import bivariate_normal_cdf
from derive.program.operation import Operation
from derive.program.operations.normal_cdf import NormalCdf
from derive.program.special_head import SpecialFunction


class BivariateNormalCdf(SpecialFunction):
    """Phi_2(h, k; rho), symmetric in h and k (the arguments are kept in a canonical order)."""

    nargs = 3
    latex_name = r"\Phi_2"
    ball = staticmethod(bivariate_normal_cdf)

    @classmethod
    def eval(cls, h, k, rho):
        if -oo in (h, k):
            return Integer(0)
        if h is oo:
            return NormalCdf(k)
        if k is oo:
            return NormalCdf(h)
        if rho.is_zero:
            return NormalCdf(h) * NormalCdf(k)
        if h.is_zero and k.is_zero:
            return Rational(1, 4) + asin(rho) / (2 * pi)
        if rho == 1:
            return NormalCdf(Min(h, k))
        if default_sort_key(h) > default_sort_key(k):
            return cls(k, h, rho)
        return None

    def fdiff(self, argindex=1):
        h, k, rho = self.args
        if argindex == 3:
            return exp(-(h**2 - 2 * rho * h * k + k**2) / (2 * (1 - rho**2))) / (2 * pi * sqrt(1 - rho**2))
        if argindex == 2:
            h, k = k, h
        return exp(-(h**2) / 2) / sqrt(2 * pi) * NormalCdf((k - rho * h) / sqrt(1 - rho**2))

    def _eval_is_nonnegative(self):
        return True if all(arg.is_extended_real for arg in self.args) else None


def reflect_first(value: BivariateNormalCdf):
    """The same value with -h: Phi_2(h, k; rho) = Phi(k) - Phi_2(-h, k; -rho)."""
    h, k, rho = value.args
    return NormalCdf(k) - BivariateNormalCdf(-h, k, -rho)


def _exact(mp, h, k, rho):
    """Plackett's integral over the correlation, rho = sin t (Plackett 1954, Biometrika 41, 351)."""
    if abs(rho) == 1:
        return mp.ncdf(min(h, k)) if rho > 0 else max(mp.ncdf(h) - mp.ncdf(-k), mp.mpf(0))

    def slope(t):
        return mp.exp(-(h * h + k * k - 2 * h * k * mp.sin(t)) / (2 * mp.cos(t) ** 2))

    return mp.ncdf(h) * mp.ncdf(k) + mp.quad(slope, [0, mp.asin(rho)]) / (2 * mp.pi)


OPERATION = Operation(
    name="bivariate_normal_cdf",
    arity=3,
    domain="-1 <= rho <= 1",
    build=BivariateNormalCdf,
    head=BivariateNormalCdf,
    ball=bivariate_normal_cdf,
    exact=_exact,
    # printers give the width sqrt(1 - rho**2) too: see exp_bivariate_normal_cdf
    backends={},
    source="Owen 1956, Ann. Math. Statist. 27, 1075",
)
