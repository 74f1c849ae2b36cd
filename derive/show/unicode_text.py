"""One line of readable text for an expression: σ_w²·q·erf(√q), for terminals."""

from __future__ import annotations

from collections.abc import Mapping

from sympy import Expr, Rational
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
SYMBOLS = {"sigma_w": "σ_w", "sigma_b": "σ_b", "q1": "q₁", "q2": "q₂", "Delta": "Δ"}
FUNCTIONS = {
    "NormalCdf": "Φ", "NormalPdf": "ϕ", "BivariateNormalCdf": "Φ₂", "OwenT": "T", "SignMoment": "S₄", "Max": "max",
    "Min": "min", "asin": "arcsin", "acos": "arccos", "atan": "arctan",
}  # fmt: skip


class UnicodePrinter(StrPrinter):
    """SymPy's text with the field's letters, roots and superscripts."""

    def __init__(self, known: Mapping[Expr, str] | None = None) -> None:
        super().__init__()
        self.known = dict(known or {})

    def _print_Symbol(self, expr) -> str:
        return self.known.get(expr) or SYMBOLS.get(expr.name, expr.name)

    _print_Dummy = _print_Symbol

    def _print_Pi(self, expr) -> str:
        return "π"

    def _print_Exp1(self, expr) -> str:
        return "e"

    def _print_Infinity(self, expr) -> str:
        return "∞"

    def _print_NegativeInfinity(self, expr) -> str:
        return "-∞"

    def _print_Mul(self, expr) -> str:
        return str(super()._print_Mul(expr)).replace("*", "·")

    def _print_Pow(self, expr, rational=False) -> str:
        base, exponent = expr.base, expr.exp
        if exponent == Rational(1, 2):
            inner = self._print(base)
            return (
                f"√{inner}"
                if (base.is_Symbol and "(" not in inner) or base.is_Integer or base.is_NumberSymbol
                else f"√({inner})"
            )
        if exponent == Rational(-1, 2):
            return f"1/{self._print_Pow(base ** Rational(1, 2))}"
        if exponent.is_Integer and exponent > 0:
            return self.parenthesize(base, PRECEDENCE["Pow"]) + str(exponent).translate(SUPERSCRIPTS)
        if exponent.is_Integer and exponent < 0:
            return "1/" + self.parenthesize(base**-exponent, PRECEDENCE["Pow"] - 1)
        return f"{self.parenthesize(base, PRECEDENCE['Pow'])}^{self.parenthesize(exponent, PRECEDENCE['Pow'])}"

    def _print_Derivative(self, expr) -> str:
        names = "".join(f"d/d{self._print(symbol)} " * int(count) for symbol, count in expr.variable_count)
        return f"{names}{self._print(expr.expr)}"

    def _print_Abs(self, expr) -> str:
        return f"|{self._print(expr.args[0])}|"

    def _print_Heaviside(self, expr) -> str:
        inside = expr.args[0]
        if inside.could_extract_minus_sign():
            return f"1[{self._print(-inside)} < 0]"
        return f"1[{self._print(inside)} > 0]"

    def _print_Function(self, expr) -> str:
        head = type(expr).__name__
        name = FUNCTIONS.get(head, head[:1].lower() + head[1:])
        return f"{name}({', '.join(self._print(arg) for arg in expr.args)})"

    _print_Max = _print_Min = _print_Function

    def _print_Piecewise(self, expr) -> str:
        cases = [
            self._print(value) if condition == True else f"{self._print(value)} if {self._print(condition)}"  # noqa: E712
            for value, condition in expr.args
        ]
        return "{" + "; ".join([*cases[:-1], f"{cases[-1]} else" if "if" not in cases[-1] else cases[-1]]) + "}"

    def _print_GaussianE(self, expr) -> str:
        body = self.known.get(expr.body) or self._print(expr.body)
        if not expr.variables:
            return str(body)
        names = ", ".join(self._print(z) for z in expr.variables)
        if len(expr.variables) == 1:
            return f"E[{body}; {names} ~ N({self._print(expr.mean[0])}, {self._print(expr.cov[0, 0])})]"
        alike = repeated(expr)
        if alike is not None:
            count = len(expr.variables) // 2
            one = "; ".join(", ".join(self._print(entry) for entry in row) for row in alike)
            pair = ", ".join(name.rstrip("1") + "ᵢ" for name in (names.split(", ")[0], names.split(", ")[count]))
            return f"E[{body}; {count} independent ({pair}) ~ N(0, [{one}])]"
        rows = "; ".join(", ".join(self._print(entry) for entry in expr.cov.row(i)) for i in range(expr.cov.rows))
        mean = "0" if expr.mean.is_zero_matrix else "(" + ", ".join(self._print(m) for m in expr.mean) + ")"
        return f"E[{body}; ({names}) ~ N({mean}, [{rows}])]"


def repeated(expr) -> list[list[Expr]] | None:
    """The law [[q1, k], [k, q2]] of one pair, where the variables u1..un, v1..vn are n > 1 independent copies of it."""
    count, odd = divmod(len(expr.variables), 2)
    if odd or count < 2 or not expr.mean.is_zero_matrix:
        return None
    law = [[expr.cov[0, 0], expr.cov[0, count]], [expr.cov[count, 0], expr.cov[count, count]]]
    named = [z.name for z in expr.variables] == [f"{side}{i + 1}" for side in "uv" for i in range(count)]
    same = all(
        expr.cov[a * count + i, b * count + j] == (law[a][b] if i == j else 0)
        for a in (0, 1) for b in (0, 1) for i in range(count) for j in range(count)
    )  # fmt: skip
    return law if named and same else None


def unicode_text(expr: Expr, known: Mapping[Expr, str] | None = None) -> str:
    """One line of Unicode text of an expression."""
    return str(UnicodePrinter(known).doprint(expr))
