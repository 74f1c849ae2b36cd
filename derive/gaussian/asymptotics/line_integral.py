"""An inert convergent integral over an interval: a constant that is a number only when it is asked for."""

from __future__ import annotations

from sympy import Expr, Lambda, sympify

from derive.program.symbols import X


class LineIntegral(Expr):
    """int_a^b f(x) dx, unevaluated: args = (Lambda(x, f), a, b).

    SymPy's own Integral is evaluated by quadrature whenever a sum that holds it is printed.
    """

    is_commutative = True
    is_extended_real = True
    is_finite = True

    def __new__(cls, integrand: Lambda, lower: Expr, upper: Expr) -> LineIntegral:
        return Expr.__new__(cls, integrand, sympify(lower, strict=True), sympify(upper, strict=True))

    integrand = property(lambda self: self.args[0].expr)
    lower = property(lambda self: self.args[1])
    upper = property(lambda self: self.args[2])

    def _sympystr(self, printer) -> str:
        return f"int_{printer._print(self.lower)}^{printer._print(self.upper)} ({printer._print(self.integrand)}) dx"

    def _latex(self, printer) -> str:
        low, high, body = (printer._print(part) for part in (self.lower, self.upper, self.integrand))
        return rf"\int_{{{low}}}^{{{high}}} \left({body}\right) dx"


def line_integral(integrand: Expr, lower: Expr, upper: Expr) -> LineIntegral:
    """int_a^b f(x) dx for an expression in the symbol x."""
    return LineIntegral(Lambda((X,), integrand), lower, upper)


__all__ = ["LineIntegral", "line_integral"]
