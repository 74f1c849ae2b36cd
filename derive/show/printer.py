"""LaTeX of a SymPy expression in this field's notation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sympy import Expr, Pow, Symbol
from sympy.printing.latex import LatexPrinter

from derive.show.names import symbol_name
from derive.show.unicode_text import repeated

if TYPE_CHECKING:
    from derive.gaussian.node import GaussianE


class FieldPrinter(LatexPrinter):
    r"""SymPy's printer with \arccos, f(x)^2, indicator functions, escaped names, and names for known functions.

    `known` maps an expression in the bound variables of an expectation to LaTeX (x*Phi(x) -> \varphi(x)).
    """

    def __init__(self, known: Mapping[Expr, str] | None = None) -> None:
        super().__init__({"inv_trig_style": "full", "ln_notation": True, "fold_short_frac": False})
        self.known = dict(known or {})

    def _print_Symbol(self, expr: Symbol, style: str = "plain") -> str:
        return self.known.get(expr) or symbol_name(expr.name)

    _print_Dummy = _print_Symbol

    def _print_Heaviside(self, expr: Expr, exp: str | None = None) -> str:
        inside = expr.args[0]
        flipped = inside.could_extract_minus_sign()
        test = f"{self._print(-inside)} < 0" if flipped else f"{self._print(inside)} > 0"
        text = rf"\mathbf{{1}}\left[{test}\right]"
        return text if exp is None else rf"{{{text}}}^{{{exp}}}"

    def _print_sign(self, expr: Expr, exp: str | None = None) -> str:
        return self._call(r"\operatorname{sign}", expr, exp)

    def _print_atan2(self, expr: Expr, exp: str | None = None) -> str:
        return self._call(r"\operatorname{atan2}", expr, exp)

    def _print_erf(self, expr: Expr, exp: str | None = None) -> str:
        return self._call(r"\operatorname{erf}", expr, exp)

    def _print_erfc(self, expr: Expr, exp: str | None = None) -> str:
        return self._call(r"\operatorname{erfc}", expr, exp)

    def _call(self, name: str, expr: Expr, exp: str | None) -> str:
        text = rf"{name}\left({', '.join(self._print(arg) for arg in expr.args)}\right)"
        return text if exp is None else rf"{text}^{{{exp}}}"

    def _print_GaussianE(self, expr: GaussianE) -> str:
        body = self.known.get(expr.body) or self._print(expr.body)
        if not expr.variables:
            return body
        return rf"\operatorname{{\mathbb{{E}}}}_{{{self._law(expr)}}}\left[{body}\right]"

    def _law(self, expr: GaussianE) -> str:
        """The law under the E; of the usual pair (variances q1, q2, covariance K) the names alone."""
        names = [self._print(z) for z in expr.variables]
        if len(names) == 1:
            return (
                rf"{names[0]} \sim \mathcal{{N}}\left({self._print(expr.mean[0])}, {self._print(expr.cov[0, 0])}\right)"
            )
        usual = expr.mean.is_zero_matrix and str(expr.cov.tolist()) == "[[q1, K], [K, q2]]"
        if usual and [z.name for z in expr.variables] == ["u", "v"]:
            return "u, v"
        alike = repeated(expr)
        if alike is not None:
            law = _matrix([[self._print(entry) for entry in row] for row in alike])
            return rf"\left(u_i, v_i\right) \sim \mathcal{{N}}\left(0, {law}\right), i \leq {len(names) // 2}"
        mean = "0" if expr.mean.is_zero_matrix else _matrix([[self._print(m)] for m in expr.mean])
        cov = _matrix([[self._print(entry) for entry in expr.cov.row(i)] for i in range(expr.cov.rows)])
        return rf"\left({', '.join(names)}\right) \sim \mathcal{{N}}\left({mean}, {cov}\right)"

    def _print(self, expr: object, **kwargs: object) -> str:
        if type(expr).__name__ == "GaussianE" and not kwargs:
            return self._print_GaussianE(expr)  # type: ignore[arg-type]
        return super()._print(expr, **kwargs)

    def _print_Pow(self, expr: Pow) -> str:
        if type(expr.base).__name__ == "GaussianE" and expr.exp.is_Rational and expr.exp.is_positive:
            return rf"\left({self._print(expr.base)}\right)^{{{self._print(expr.exp)}}}"
        return super()._print_Pow(expr)


def _matrix(rows: list[list[str]]) -> str:
    inside = r" \\ ".join(" & ".join(row) for row in rows)
    return rf"\left(\begin{{smallmatrix}}{inside}\end{{smallmatrix}}\right)"


def latex(expr: Expr, known: Mapping[Expr, str] | None = None) -> str:
    """LaTeX (math mode, one line) of an expression."""
    return str(FieldPrinter(known).doprint(expr))
