"""The common part of the toolkit's own SymPy functions: real values, LaTeX with powers, evaluation by balls."""

from __future__ import annotations

from collections.abc import Callable

import flint
from flint import acb, arb
from sympy import Float, Function


class SpecialFunction(Function):
    """A real function of real arguments that SymPy leaves alone; subclasses give `latex_name` and `ball`."""

    latex_name = ""
    ball: Callable[[list[acb], bool], acb]

    def _eval_is_real(self) -> bool | None:
        return True if all(arg.is_real for arg in self.args) else None

    def _eval_conjugate(self):
        return self if all(arg.is_real for arg in self.args) else None

    def _latex(self, printer, exp=None) -> str:
        inside = ", ".join(printer._print(arg) for arg in self.args)
        text = rf"{self.latex_name}\left({inside}\right)"
        return text if exp is None else rf"{text}^{{{exp}}}"

    def _eval_evalf(self, prec: int):
        values = [arg._eval_evalf(prec + 20) if not arg.is_Float else arg for arg in self.args]
        if any(value is None for value in values):
            return None
        # the evaluation of 0 is the integer
        values = [Float(0, precision=prec) if value.is_zero else value for value in values]
        if not all(isinstance(value, Float) for value in values):
            return None
        # relative accuracy in a tail needs more working bits; 16 doublings reach far past any exponent met here
        for attempt in range(16):
            with flint.ctx.workprec((prec + 30) << attempt):
                result = type(self).ball([acb(float_to_arb(value)) for value in values], False).real
                if not result.is_finite():
                    return None
                if result.rel_accuracy_bits() >= prec or result.is_exact():
                    man, exp = result.mid().man_exp()
                    return Float(
                        (0 if man >= 0 else 1, abs(int(man)), int(exp), abs(int(man)).bit_length()), precision=prec
                    )
        return None


def float_to_arb(value: Float) -> arb:
    """The exact value of a SymPy number."""
    sign, man, exp, _ = value._mpf_
    with flint.ctx.workprec(max(flint.ctx.prec, int(man).bit_length() + 8)):
        return arb(-int(man) if sign else int(man)) * arb(2) ** int(exp)
