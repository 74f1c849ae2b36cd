"""Owen's T function, T(h, a) = 1/(2 pi) times the integral of exp(-h**2*(1 + x**2)/2)/(1 + x**2) over [0, a]."""

from __future__ import annotations

from sympy import Abs, Integer, atan, erf, exp, oo, pi, sqrt

from derive.program.normal_balls import owens_t
from derive.program.operation import Operation
from derive.program.operations.normal_cdf import NormalCdf
from derive.program.owen_source import owens_t_source
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


TORCH = (
    owens_t_source("torch", "0.5*torch.erfc(0.7071067811865476*{0})")
    + """

def _owens_t_d_h(h, a):
    inside = torch.where(h == 0, 0, h)*torch.where(h == 0, 0, a)
    return -0.19947114020071635*torch.exp(-0.5*h*h)*torch.erf(0.7071067811865476*inside)


def _owens_t_d_a(h, a):
    return 0.15915494309189535*torch.exp(-0.5*h*h*(1 + a*a))/(1 + a*a)


_owens_t_stated = _differentiable(_owens_t_value, {0: _owens_t_d_h, 1: _owens_t_d_a}, ("h", "a"))


def _owens_t(h, a):
    return _owens_t_stated(*torch.broadcast_tensors(h, a))
"""
)

MPMATH = '''
def _owens_t(h, a):
    """Owen's T function."""
    return mp.quad(lambda x: mp.exp(-(h**2)*(1 + x**2)/2)/(1 + x**2), [0, a])/(2*mp.pi)
'''

_TAIL = "0.5*jax.scipy.special.erfc(0.7071067811865476*{0})"
_SLOPES = TORCH[TORCH.index("\n\ndef _owens_t_d_h") :].replace("torch.broadcast_tensors", "jnp.broadcast_arrays")
JAX = owens_t_source("jnp", _TAIL) + _SLOPES
JAX = JAX.replace("torch.erf", "jax.scipy.special.erf").replace("torch.", "jnp.")

OPERATION = Operation(
    name="owens_t",
    arity=2,
    build=OwenT,
    head=OwenT,
    ball=owens_t,
    exact=_exact,
    backends={
        "numpy": "owens_t({0}, {1})",
        "torch": "_owens_t({0}, {1})",
        "jax": "_owens_t({0}, {1})",
        "mpmath": "_owens_t({0}, {1})",
    },
    helpers={"torch": TORCH, "jax": JAX, "mpmath": MPMATH},
    source="Owen 1956, Ann. Math. Statist. 27, 1075",
)
