"""The logistic function 1/(1 + exp(-x))."""

from __future__ import annotations

from sympy import Integer, Rational, exp, oo, tanh

from derive.program.balls import monotone
from derive.program.operation import Operation
from derive.program.special_head import SpecialFunction


def _on_small_side(z):
    # the exponential that stays small: relative accuracy far out on both sides
    if z.real.mid() > 0:
        return 1 / (1 + (-z).exp())
    e = z.exp()
    return e / (1 + e)


_enclose = monotone(_on_small_side)


def _ball(args, analytic):
    return _enclose(args[0])


class Sigmoid(SpecialFunction):
    """sigma(x) = 1/(1 + exp(-x)); its derivative is sigma(x)*sigma(-x)."""

    nargs = 1
    latex_name = r"\sigma"
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
        return Sigmoid(self.args[0]) * Sigmoid(-self.args[0])

    def _eval_is_positive(self):
        return True if self.args[0].is_real else None

    def _eval_rewrite_as_exp(self, x, **kwargs):
        return 1 / (1 + exp(-x))

    def _eval_rewrite_as_tanh(self, x, **kwargs):
        return (1 + tanh(x / 2)) / 2


_NUMPY = """
def _sigmoid(x):
    \"\"\"1/(1 + exp(-x)), without overflow.\"\"\"
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, e)/(1 + e)
"""

OPERATION = Operation(
    name="sigmoid",
    arity=1,
    spellings=("sigmoid", "logistic", "expit", "sigma"),
    build=Sigmoid,
    head=Sigmoid,
    ball=_ball,
    exact=lambda mp, x: 1 / (1 + mp.exp(-x)),
    backends={
        "numpy": "_sigmoid({0})",
        "torch": "torch.sigmoid({0})",
        "jax": "jax.nn.sigmoid({0})",
        "c": "1/(1 + exp(-{0}))",
        "mpmath": "1/(1 + mp.exp(-{0}))",
    },
    helpers={"numpy": _NUMPY},
)
