"""LaTeX and one-line text of expressions, and LaTeX of names and running text."""

from __future__ import annotations

import pytest
from sympy import Abs, Heaviside, Max, Piecewise, Rational, Symbol, acos, asin, erf, exp, pi, sign, sqrt, tanh

from derive.gaussian.node import GaussianE, pair, single
from derive.program.symbols import SIGMA_B, SIGMA_W, C, K, Q, U, V, X
from derive.show.names import symbol_name
from derive.show.printer import latex
from derive.show.text import escape, is_citation, mixed, slug
from derive.show.unicode_text import unicode_text

A = Symbol("a", real=True)


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (erf(X) ** 2, r"\operatorname{erf}\left(x\right)^{2}"),
        (acos(C), r"\arccos{\left(c \right)}"),
        (Heaviside(X - 1), r"\mathbf{1}\left[x - 1 > 0\right]"),
        (Heaviside(-X), r"\mathbf{1}\left[x < 0\right]"),
        (sign(X) ** 2, r"\operatorname{sign}\left(x\right)^{2}"),
        (Symbol("slope") * X, r"\mathrm{slope} x"),
    ],
)
def test_latex(expr, text):
    assert latex(expr) == text


def test_latex_puts_brackets_about_cases():
    text = latex(C * Piecewise((X, X > 0), (A * X, True)))
    assert text.startswith(r"c \left(\begin{cases}") and text.endswith(r"\end{cases}\right)")


def test_latex_of_a_power_of_an_expectation_has_brackets():
    assert latex(single(tanh(X)) ** 2).endswith(r"\right)^{2}")


def test_latex_names_a_known_function():
    text = latex(single(tanh(X) ** 2), {tanh(X) ** 2: r"\varphi(x)^{2}"})
    assert text.endswith(r"\left[\varphi(x)^{2}\right]")
    assert r"x \sim \mathcal{N}\left(0, q\right)" in text


def test_the_usual_pair_law_is_short_and_others_are_not():
    usual = pair(tanh(X), tanh(X))
    assert "_{u, v}" in latex(usual)
    shifted = GaussianE(usual.integrand, [[1, K], [K, 2]])
    assert "smallmatrix" in latex(shifted)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a", "a"),
        ("alpha", r"\alpha"),
        ("lambda", r"\lambda"),
        ("α", r"\alpha"),
        ("slope", r"\mathrm{slope}"),
        ("a1", "a_{1}"),
        ("slope_max", r"\mathrm{slope}_{\mathrm{max}}"),
        ("hbar", r"\mathrm{hbar}"),
        ("sigma_w", r"\sigma_{w}"),
        ("日", r"\mathrm{u65e5}"),
    ],
)
def test_symbol_names(name, text):
    assert symbol_name(name) == text
    assert symbol_name(name).isascii()


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (SIGMA_W**2 * Q / 2 + SIGMA_B**2, "q·σ_w²/2 + σ_b²"),
        (1 / sqrt(2 * Q + 1), "1/√(2·q + 1)"),
        (sqrt(2) * sqrt(Q) / sqrt(pi), "√2·√q/√π"),
        ((Q + 1) ** -2, "1/(q + 1)²"),
        ((Q + 1) ** Rational(-3, 2), "(q + 1)^(-3/2)"),
        (exp(-Q / 2) * A**-2, "exp(-q/2)/a²"),
        (asin(Q) + Abs(X) * Max(0, X) ** 2, "|x|·max(0, x)² + arcsin(q)"),
        (Piecewise((X, X > 0), (A * X, True)), "{x if x > 0; a·x else}"),
        (single(tanh(X) ** 2), "E[tanh(x)²; x ~ N(0, q)]"),
        (single(tanh(X)).diff(Q, evaluate=False), "d/dq E[tanh(x); x ~ N(0, q)]"),
        (pair(X, X), "E[u·v; (u, v) ~ N(0, [q₁, K; K, q₂])]"),
        (Heaviside(X) * Heaviside(-U) * V, "v·1[u < 0]·1[x > 0]"),
    ],
)
def test_unicode(expr, text):
    assert unicode_text(expr) == text


def test_running_text_is_safe_for_pdflatex():
    text = escape("50% of φ_1 & {σ²} #$ ~ ^ \\ ∥ é 漢")
    assert r"50\% of $\varphi$\_1 \& \{$\sigma$$^{2}$\}" in text
    assert r"\texttt{U+6F22}" in text
    assert "é" in text
    assert mixed(r"a_b $\sigma_w^2$") == r"a\_b $\sigma_w^2$"


def test_sources():
    assert slug("Stein 1981, Ann. Statist. 9, 1135") == "eoc:stein1981"
    assert slug("Poole et al. 2016 (arXiv 1606.05340)") == "eoc:poole2016"
    assert is_citation("Stein 1981, Ann. Statist. 9")
    assert not is_citation("completing the square")
