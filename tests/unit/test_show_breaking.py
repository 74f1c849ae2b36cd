"""Lines no wider than the page, and names that stand for what they replace."""

from __future__ import annotations

import pytest
from sympy import Piecewise, Symbol, asin, exp, expand, pi, sqrt, tanh

from derive.gaussian.node import single
from derive.program.operations.bivariate_normal_cdf import BivariateNormalCdf
from derive.program.symbols import DELTA, Q1, Q2, SIGMA_B, SIGMA_W, K, X
from derive.show.breaking import PAGE_WIDTH, _Page, broken, narrowed, width
from derive.show.printer import latex

ALPHA = Symbol("alpha", positive=True)
PHI2 = BivariateNormalCdf(-sqrt(Q1), -K / sqrt(Q2), K / sqrt(Q1 * Q2))
LONG = (
    ALPHA**2 * exp((Q1 + Q2 + 2 * K) / 2) * PHI2
    - ALPHA**2 * exp(Q1 / 2) * BivariateNormalCdf(-(Q1 + K) / sqrt(Q1), -(Q2 + K) / sqrt(Q2), K / sqrt(Q1 * Q2))
    + (K + DELTA / (2 * pi)) * asin(K / sqrt((1 + Q1) * (1 + Q2)))
    + sqrt(DELTA) / (2 * pi)
)
NESTED = SIGMA_W**2 * LONG / sqrt((SIGMA_W**2 * LONG + SIGMA_B**2) * (Q2 + LONG**2))


def test_a_short_formula_is_one_line():
    lines = broken(K + DELTA)
    assert lines.lines == (latex(K + DELTA),)
    assert lines.where == ()


@pytest.mark.parametrize(
    "expr", [LONG, NESTED, expand(LONG * sqrt(Q1 + SIGMA_B)), Piecewise((NESTED, Q1 > 1), (LONG, True)), LONG * K]
)
@pytest.mark.parametrize("limit", [45.0, PAGE_WIDTH])
def test_no_line_is_wider_than_the_page(expr, limit):
    lines = broken(expr, limit=limit)
    rows = [*lines.lines, *(row for _, rows in lines.where for row in rows)]
    assert len(rows) > 1
    assert max(width(row) for row in rows) <= limit


def test_a_sum_breaks_at_its_additions_without_names():
    lines = broken(LONG, limit=60)
    assert lines.where == ()
    assert all(row.startswith(("+", "-")) for row in lines.lines[1:])


@pytest.mark.parametrize("term", [NESTED, NESTED**2 * exp(LONG)])
def test_names_stand_for_what_they_replace(term):
    page = _Page(None)
    short = narrowed(term, page, 40.0)
    assert page.names
    for _ in page.names:
        short = short.xreplace(page.names)
    assert short == term


def test_every_name_is_explained_once():
    lines = broken(NESTED, limit=45)
    explained = [name for name, _ in lines.where]
    assert len(set(explained)) == len(explained)
    text = " ".join([*lines.lines, *(row for _, rows in lines.where for row in rows)])
    used = {f"\\mathsf{{A}}_{{{i}}}" for i in range(1, 50) if f"\\mathsf{{A}}_{{{i}}}" in text}
    assert used == set(explained)


def test_a_name_for_an_integrand_shows_its_variable():
    body = tanh(X) * exp(-(X**2)) * asin(tanh(X)) ** 2 + sqrt(1 + X**2) * asin(X / sqrt(X**2 + 1))
    lines = broken(single(body) + K, limit=30)
    assert any(r"\left[\mathsf{A}_{1}(x)\right]" in line for line in lines.lines)
    assert dict(lines.where)[r"\mathsf{A}_{1}(x)"]
    assert all("(x)" in name for name, rows in lines.where if "x" in " ".join(rows).replace("exp", ""))


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [("a", "a + b"), (r"\frac{a}{b}", "a + b"), ("q^{2}", "q q q"), (r"\sigma_{w}", r"\sigma_{w} + x")],
)
def test_width_orders_formulas(narrow, wide):
    assert width(narrow) < width(wide)
