"""Expressions as formula text, for docstrings: Phi(x), not the name of a SymPy class."""

from __future__ import annotations

from sympy import Expr
from sympy.printing.str import StrPrinter

NAMES = {
    "NormalCdf": "Phi",
    "NormalPdf": "phi",
    "BivariateNormalCdf": "Phi2",
    "OwenT": "T",
    "Erfcx": "erfcx",
    "Heaviside": "step",
    "Max": "max",
    "Min": "min",
    "Abs": "abs",
}


class FormulaPrinter(StrPrinter):
    """SymPy's text with the names that formula text has."""

    def _print_Function(self, expr: Expr) -> str:
        head = type(expr).__name__
        args = expr.args[:1] if head == "Heaviside" else expr.args
        return f"{NAMES.get(head, head)}({', '.join(self._print(arg) for arg in args)})"

    _print_Max = _print_Min = _print_Abs = _print_Heaviside = _print_Function

    def _print_Piecewise(self, expr: Expr) -> str:
        parts = []
        for value, condition in expr.args:
            if condition == True:  # noqa: E712
                return " else ".join([*parts, self._print(value)]).join("()")
            parts.append(f"{self._print(value)} if {self._print(condition)}")
        return " else ".join([*parts, "nan"]).join("()")

    def _print_GaussianE(self, expr: Expr) -> str:
        names = ", ".join(map(self._print, expr.variables))
        if expr.cov.rows == 1:
            law = f"N({self._print(expr.mean[0])}, {self._print(expr.cov[0, 0])})"
        else:
            law = f"N({expr.mean.T.tolist()[0]}, {expr.cov.tolist()})"
        return f"E[{self._print(expr.body)}; {names} ~ {law}]"


def formula_text(expr: Expr, longest: int = 2000) -> str:
    """One line of formula text, cut where it is very long."""
    text = str(FormulaPrinter().doprint(expr))
    return text if len(text) <= longest else text[:longest] + " ..."
