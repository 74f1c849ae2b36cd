"""The softplus log(1 + exp(x))."""

from __future__ import annotations

from sympy import Integer, exp, log, oo

from derive.program.balls import NOWHERE, meets_real_cut, monotone
from derive.program.operation import Operation
from derive.program.operations.sigmoid import Sigmoid
from derive.program.special_head import SpecialFunction


def _parts(z):
    """Softplus as line + log1p(e), with the exponential that stays small."""
    return (z, (-z).exp()) if z.real.mid() > 0 else (0, z.exp())


def _on_small_side(z):
    line, e = _parts(z)
    return line + e.log1p()


_enclose = monotone(_on_small_side)


def _ball(args, analytic):
    if analytic and meets_real_cut(_parts(args[0])[1], -1):
        return NOWHERE
    return _enclose(args[0])


class Softplus(SpecialFunction):
    """softplus(x) = log(1 + exp(x)); its derivative is the logistic function."""

    nargs = 1
    latex_name = r"\operatorname{softplus}"
    ball = staticmethod(_ball)

    @classmethod
    def eval(cls, x):
        if x.is_zero:
            return log(2)
        if x is oo:
            return oo
        if x is -oo:
            return Integer(0)
        return None

    def fdiff(self, argindex=1):
        return Sigmoid(self.args[0])

    def _eval_is_positive(self):
        return True if self.args[0].is_real else None

    def _eval_rewrite_as_log(self, x, **kwargs):
        return log(1 + exp(x))


OPERATION = Operation(
    name="softplus",
    arity=1,
    spellings=("softplus",),
    build=Softplus,
    head=Softplus,
    ball=_ball,
    exact=lambda mp, x: mp.log1p(mp.exp(x)) if x < 0 else x + mp.log1p(mp.exp(-x)),
    backends={
        "numpy": "np.logaddexp({0}, 0)",
        "torch": "torch.nn.functional.softplus({0}, threshold=40)",
        "jax": "jax.nn.softplus({0})",
        "c": "(fmax({0}, 0) + log1p(exp(-fabs({0}))))",
        "mpmath": "(max({0}, 0) + mp.log1p(mp.exp(-abs({0}))))",
    },
)
