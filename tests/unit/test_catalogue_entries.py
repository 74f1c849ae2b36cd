"""Looking up entries, and using them inside formulas."""

import pytest

from derive import catalogue
from derive.formula import read, show_text
from derive.records import FormulaError, Interval


@pytest.mark.parametrize("spelling", ["leaky_relu", "Leaky-ReLU", "leaky relu", "lrelu", "LeakyReLU"])
def test_spellings_of_one_entry(spelling):
    assert catalogue.entry(spelling).name == "leaky_relu"
    assert read(spelling).parameters == ("a",)


def test_no_entry():
    assert catalogue.entry("nonesuch") is None


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("relu(x)**2", "max(x, 0)**2"),
        ("leaky_relu(x, a=0.2)", "max(x, 0) + 0.2*min(x, 0)"),
        ("leaky_relu(x, 0.2)", "max(x, 0) + 0.2*min(x, 0)"),
        ("F.leaky_relu(x, negative_slope=0.2)", "max(x, 0) + 0.2*min(x, 0)"),
        ("leaky_relu(x, a=b)", "max(x, 0) + b*min(x, 0)"),
        ("softplus(x, beta=2)", "softplus(2*x)/2"),
        ("softplus(x)", "softplus(x)"),
        ("elu(relu6(x), alpha=2)", "min(max(x, 0), 6) if min(max(x, 0), 6) > 0 else 2*(exp(min(max(x, 0), 6)) - 1)"),
        ("ReLU(x)*SiLU(x)", "max(x, 0)*(x*sigmoid(x))"),
    ],
)
def test_entries_are_functions(text, plain):
    assert read(text).tree == read(plain).tree


def test_a_usual_value_is_said():
    assert read("leaky_relu(x)").notes == ("leaky_relu(x) is read with a = 0.01, its usual value",)
    assert show_text(read("leaky_relu(x)").tree) == "max(x, 0) + 0.01*min(x, 0)"


def test_a_caller_may_narrow_the_domain():
    assert read("leaky_relu", domains={"a": "(0, 0.5)"}).domain("a") == Interval(0, read("0.5*x").tree.args[0].value)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("leaky_relu(x, b=1)", "no parameter 'b'"),
        ("leaky_relu(x, 1, 2)", "takes one argument"),
        ("leaky_relu(x, 1, a=2)", "given twice"),
        ("celu(x, alpha=0)", "division by zero"),
        ("tanh(x, beta=2)", "no parameter 'beta'"),
        ("gelu(" * 12 + "x" + ")" * 12, "too large"),
        ("relu*x", "needs its argument"),
    ],
)
def test_misuse_is_refused(text, what):
    with pytest.raises(FormulaError) as caught:
        read(text)
    assert what in caught.value.what
    assert "^" in caught.value.where
