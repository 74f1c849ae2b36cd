"""Pages about blocks: what is said there is said of the block, not of an activation in it."""

from __future__ import annotations

import math

import pytest
from sympy import Rational

from derive import theory
from derive.commands._code import theory_code
from derive.gaussian.special import SignMoment
from derive.layers.spelling import formulas, is_block
from derive.records import Kind
from derive.show import latex
from derive.show.conventions import functions_named
from derive.show.curves import curves
from derive.show.document import Question, _in_one_variable, document
from derive.show.gains import gain_document
from derive.show.terminal import console, summary
from derive.show.unicode_text import unicode_text

POOLED = "dense >> relu >> maxpool(2)"


def printed(text: str) -> str:
    terminal = console()
    with terminal.capture() as caught:
        terminal.print(summary(document(theory(text), Question(text))))
    return caught.get()


def test_the_gain_of_a_pooled_rectifier_is_its_own():
    # max of two ReLUs: the gradient passes unless both are off, P = 3/4 (ReLU alone: 1/2)
    made = document(theory(POOLED), Question(POOLED))
    rows = {row["title"]: row for row in made["values"]}
    assert rows["gradient gain at σ_w = 1"]["value"] == pytest.approx(0.75, abs=1e-15)
    assert rows["chi-critical gain"]["value"] == pytest.approx(2 / math.sqrt(3), abs=1e-14)
    assert rows["χ = 1 alone (σ_b = 0)"]["value"] == pytest.approx(2 / math.sqrt(3), abs=1e-13)
    # V alone: sigma_w^2 = 1/E max(u+, v+)^2 = 1/(3/4 + 1/(2 pi)), twice the second moment of the larger one above 0
    assert rows["V(q) = q alone (σ_b = 0)"]["value"] == pytest.approx((0.75 + 0.5 / math.pi) ** -0.5, abs=1e-13)
    assert rows["edge of chaos at q* = 1"]["text"] == "none"
    assert "φ'" not in printed(POOLED).replace("φ(x)", "")


@pytest.mark.parametrize("scale", ["3*x", "x"])
def test_an_activation_keeps_the_words_of_an_activation(scale):
    made = document(theory(f"dense >> {scale}*(x > 0)"), Question(scale))
    assert made["block"] is None
    assert "derivative_second_moment" in {result["id"] for result in made["results"]}


def test_gains_of_a_block_are_those_of_its_output():
    made = gain_document(theory(POOLED), {"text": POOLED}, POOLED, 1)
    gains = {row["id"]: row for row in made["gains"]}
    assert gains["critical"]["value"] == pytest.approx(2 / math.sqrt(3), abs=1e-14)
    assert gains["critical"]["symbol"]["unicode"] == "1/√(χ₁)"
    assert made["leaky_slope"] is None


def test_a_residual_block_has_no_gain_of_an_activation():
    text = "residual(relu >> dense)"
    made = gain_document(theory(text), {"text": text}, text, 1)
    assert all(row["text"].startswith("none:") for row in made["gains"])


def test_the_correlation_map_names_the_output_only_where_it_stands():
    stream = printed("residual(tanh >> dense)")
    assert "E[y·y']/√(V(q₁)·V(q₂))" in stream
    assert "(σ_b² + σ_w²·E[y·y'])/√(V(q₁)·V(q₂))" in printed("dense >> tanh >> dropout(0.1)")


def test_a_fourfold_sign_moment_is_explained_where_it_is_printed():
    (sentence,) = functions_named([unicode_text(SignMoment(*[Rational(1, 3)] * 6))])
    assert sentence.startswith("S₄(ρ₁₂")
    assert functions_named(["q·σ_w²"]) == []


@pytest.mark.parametrize(
    ("text", "block", "found"),
    [
        ("gelu", False, ["gelu"]),
        ("max(x, 0)", False, ["max(x, 0)"]),
        ("residual(relu >> dense, scale=1/sqrt(L))", True, ["relu"]),
        ("dense >> x*tanh(x) >> maxpool(2)", True, ["x*tanh(x)"]),
        ("concat(relu >> dense, dense >> tanh)", True, ["relu", "tanh"]),
    ],
)
def test_a_text_is_a_block_by_its_layers(text, block, found):
    assert is_block(text) is block
    assert formulas(text) == found


def test_an_expectation_under_a_fixed_law_is_closed_before_a_sign_is_asked():
    # behind a norm the law is N(0, 1): E 9 relu^2 = 9/2 and E 9 relu'^2 = 9/2, so that sigma_w^2 = 2 q/9
    near, far = theory("dense >> layernorm >> 3*max(x, 0)").edge_of_chaos(q="q").limits
    assert (near.sigma_w2.coefficient, near.sigma_w2.power) == (far.sigma_w2.coefficient, 1) == (Rational(2, 9), 1)
    assert near.stable
    assert far.stable


def test_an_end_that_is_not_decided_is_absent():
    made = document(theory("dense >> layernorm >> tanh"), Question(""))
    assert made["edge"]["limits"] == []
    assert made["edge"]["formulas"]


@pytest.mark.parametrize("inner", ["max(x, 0)", "-3*max(-x, 0)", "tanh"])
def test_a_pool_over_a_nested_law_is_that_of_its_plain_law(inner):
    # E max(u1, u2) max(v1, v2) = (sqrt(A B - k^2) + k atan2(sqrt(A B - k^2), -k))/pi, the law (A, B, k) from inside
    given = {"q1": Rational(1, 2), "q2": 2, "c": Rational(3, 10)}
    scales = {"sigma_w": Rational(3, 2), "sigma_b": Rational(1, 5)}
    pooled = theory(f"dense >> {inner} >> dense >> maxpool(2)").covariance_map
    assert str(pooled.kind) == ("INTEGRAL" if inner == "tanh" else "EXACT")
    below = theory(inner)
    k = 2.25 * float(below.covariance_map.number(given)) + 0.04
    a, b = (2.25 * float(below.second_moment.number(q=given[name])) + 0.04 for name in ("q1", "q2"))
    root = math.sqrt(a * b - k * k)
    expected = (root + k * math.atan2(root, -k)) / math.pi
    assert float(pooled.number(given | scales)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        "dense >> relu >> dense >> maxpool(2)",
        "dense >> gelu >> dense >> tanh",
        "dense >> relu >> orthogonal >> identity",
    ],
)
def test_nested_laws_at_correlation_one_and_minus_one(text):
    block, scales = theory(text), {"sigma_w": Rational(5, 4), "sigma_b": Rational(1, 2)}
    law = {"q1": 1, "q2": 1, **scales}
    same = block.covariance_map.number(law, c=1)
    assert float(same.mid) == pytest.approx(float(block.second_moment.number(scales, q=1).mid), rel=1e-15)
    for sign, value in ((1, same), (-1, block.covariance_map.number(law, c=-1))):
        near = block.covariance_map.number(law, c=sign * (1 - Rational(1, 10**9)))
        assert float(near.mid) == pytest.approx(float(value.mid), rel=1e-8)


def test_a_report_of_nested_layers_without_a_curve_of_the_edge():
    drawn = curves(theory("dense >> relu >> dense >> maxpool(2)"))
    assert "edge" not in drawn
    assert drawn["correlation_map"]["C"][-1] == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("text", ["dense >> glu(silu)", "dense >> maxpool(2)", "dense >> avgpool(3)"])
def test_a_block_without_an_activation_has_a_page(text):
    made = document(theory(text), Question(text))
    assert made["activation"]["formula"] is None and made["block"]["functions"] == []
    assert made["activation"]["title"] == text and "φ(x)" not in printed(text).splitlines()[0]
    assert r"\paragraph{Activation}" not in latex.page({**made, "proofs": []})
    source = theory_code(theory(text), "numpy")
    assert "def variance_map(" in source and "def phi(" not in source


def test_an_expectation_that_drops_out_leaves_no_kind_and_no_blocker():
    # E u silu(v) = E u E silu(v) = 0 for independent halves; the mean square stays open
    found = theory("dense >> glu(silu)")
    assert found.mean.kind is Kind.EXACT and found.mean.closed == 0 and found.mean.blockers == ()
    assert found.second_moment.kind is Kind.INTEGRAL and found.second_moment.blockers
    assert "d/dq E[x²; x" not in printed("dense >> glu(silu)")  # E u^2 = q is closed, its slope too


def test_a_part_of_two_units_keeps_both_names():
    t = theory("dense >> silu >> maxpool(2)")
    shown = [_in_one_variable(blocker) for blocker in t.second_moment.blockers]
    assert "Heaviside(u*Sigmoid(u) - v*Sigmoid(v))" in shown
    assert _in_one_variable("tanh(u)") == _in_one_variable("tanh(v)") == "tanh(x)"
    assert _in_one_variable("tanh(v1)*tanh(v2)") == "tanh(u1)*tanh(u2)"


def test_lines_of_a_piped_table_do_not_end_in_blanks():
    assert all(line == line.rstrip() for line in printed("dense >> relu").splitlines())
