"""MathML: what the converter does not know is an error and not garbage on the page."""

from __future__ import annotations

import pytest

pytest.importorskip("latex2mathml", reason="MathML needs the extra eoc[report]")

from derive.records import EocError
from derive.show.conventions import CONVENTIONS, FUNCTIONS
from derive.show.mathml import mathml, mixed


@pytest.mark.parametrize("leaky", [r"\begin{aligned} a &= b \end{aligned}", r"\unknownmacro{x}", r"a & b"])
def test_leaks_are_errors(leaky):
    with pytest.raises(EocError, match="MathML"):
        mathml(leaky)


@pytest.mark.parametrize(
    "formula",
    [
        r"\operatorname{\mathbb{E}}_{u, v}\left[\varphi(u)\,\varphi(v)\right]",
        r"\left(\begin{smallmatrix}q_{1} & K \\ K & q_{2}\end{smallmatrix}\right)",
        r"\begin{cases} x & \text{for}\: x > 0 \\a x & \text{otherwise} \end{cases}",
        r"\mathsf{A}_{1} \arcsin{\left(\frac{K}{\sqrt{q_{1}}} \right)} \Phi_2\left(x, y\right)",
        r"\max\left(0, x\right) \left|{x}\right| \operatorname{atan2}\left(x, c\right)",
    ],
)
def test_what_the_printer_writes_is_known(formula):
    assert mathml(formula).startswith("<math")


def test_the_indicator_is_a_character():
    assert "\N{MATHEMATICAL BOLD DIGIT ONE}" in mathml(r"\mathbf{1}\left[x > 0\right]")


def test_names_of_functions_stay_whole():
    text = mathml(r"a \operatorname{atan2}\left(x, c\right) \mathrm{slope}")
    assert "<mtext>atan2</mtext>" in text and "<mtext>slope</mtext>" in text


def test_the_prime_and_the_law():
    assert "<msup>" not in mathml(r"\varphi'(x)")
    assert "&#x0223C;" in mathml(r"x \sim \mathcal{N}\left(0, q\right)")


@pytest.mark.parametrize("sentence", [*CONVENTIONS, *(sentence for _, sentence in FUNCTIONS)])
def test_every_convention_converts(sentence):
    assert "<math" in mixed(sentence)


def test_text_is_escaped():
    assert mixed("a < b & $x$").startswith("a &lt; b &amp; <math")
