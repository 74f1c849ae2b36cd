"""Formula text: what is read, what it means, and what is refused with which message."""

import time
from fractions import Fraction

import mpmath
import pytest
import sympy

from derive.formula import read, show_text, to_sympy
from derive.formula.checks import number
from derive.formula.misspelt import distance
from derive.formula.vocabulary import similar
from derive.program.declared import declared, typed
from derive.program.registry import by_spelling, operations
from derive.program.symbols import X
from derive.records import DomainError, EocError, FormulaError, Interval


def value(tree, x, mp=mpmath.mp, **parameters):
    """A tree evaluated by its definition."""
    if tree.head == "name":
        return mp.mpf(x) if tree.value == "x" else mp.mpf(parameters[tree.value])
    return number(tree, [value(arg, x, mp, **parameters) for arg in tree.args], mp)


SAME = [
    ("x^2", "x**2"),
    ("-x^2", "-(x**2)"),
    ("2^-x", "2**(-x)"),
    ("2**3**x", "2**(3**x)"),
    ("x/2/3", "(x/2)/3"),
    ("x − 2×x·x ÷ 3", "x - 2*x*x/3"),
    ("x² + x³ + x⁻¹", "x**2 + x**3 + x**-1"),
    ("½*x", "0.5*x"),
    ("√(x**2 + 1)", "sqrt(x**2 + 1)"),
    ("√2*x", "sqrt(2)*x"),
    ("|x|", "abs(x)"),
    ("||x| - 1|", "abs(abs(x) - 1)"),
    ("|x|*|x + 1|", "abs(x)*abs(x + 1)"),
    ("σ(x)", "sigmoid(x)"),
    ("x*Φ(x)", "x*Phi(x)"),
    ("φ(x) + 0*x", "phi(x) + 0*x"),
    ("α*x + λ", "alpha*x + lambda"),
    ("π*x", "pi*x"),
    ("x ≤ 1", "x <= 1"),
    ("1e-3*x", "x*0 + 0.001*x - x*0"),
    (".5*x", "(1/2)*x"),
    ("np.exp(x) + torch.tanh(x) + math.sqrt(2)", "exp(x) + tanh(x) + sqrt(2)"),
    ("torch.nn.functional.softplus(x)", "softplus(x)"),
    ("np.maximum(x, 0) + np.where(x > 0, 1, 2)", "max(x, 0) + (1 if x > 0 else 2)"),
    ("clip(x, -1, 1)", "np.clip(x, -1, 1)"),
    ("clamp(x, min=0)", "max(x, 0)"),
    ("Piecewise((x, x > 0), (a*x, True))", "x if x > 0 else a*x"),
    ("Piecewise((x, x > 1), (1, x > 0), (0, True))", "x if x > 1 else 1 if x > 0 else 0"),
    ("Piecewise((x, x > 0), (0, x <= 0))", "x if x > 0 else 0"),
    ("0 < x < 1", "x > 0 and x < 1"),
    ("(x > 0) & (x < 1)", "x > 0 and x < 1"),
    ("(x > 0) | ~(x < -1)", "x > 0 or not x < -1"),
    ("Heaviside(x)", "step(x)"),
    ("heaviside(x, 0)", "step(x)"),
    ("pow(x, 3) + square(x) + reciprocal(1 + x**2)", "x**3 + x**2 + 1/(1 + x**2)"),
    ("log2(x**2 + 1)", "log(x**2 + 1)/log(2)"),
    ("log(x**2 + 1, 10)", "log(x**2 + 1)/log(10)"),
    ("exp2(x)", "2**x"),
    ("sin(x)/x", "sinc(x)"),
    ("np.sinc(x)", "sinc(pi*x)"),
    ("Max(x, 0) + Abs(x) + arctan(x)", "max(x, 0) + abs(x) + atan(x)"),
]


@pytest.mark.parametrize(("text", "plain"), SAME, ids=[text for text, _ in SAME])
def test_two_spellings_are_one_function(text, plain):
    with mpmath.workdps(25):
        for x in ("-1.75", "-0.3", "0.4", "1.5", "2.25"):
            values = [value(read(t).tree, x, alpha="0.7", a="0.3", **{"lambda": "1.3"}) for t in (text, plain)]
            assert mpmath.almosteq(*map(mpmath.mpf, values), 1e-23), (text, x, values)


@pytest.mark.parametrize(("text", "plain"), SAME, ids=[text for text, _ in SAME])
def test_text_round_trips(text, plain):
    for t in (text, plain):
        tree = read(t).tree
        assert read(show_text(tree)).tree == tree


def test_numbers_are_the_exact_decimals_typed():
    assert read("0.1*x").tree.args[0].value == Fraction(1, 10)
    assert read("1.702*x").tree.args[0].value == Fraction(851, 500)
    assert read("1/3*x").tree.args[0].value == Fraction(1, 3)
    assert to_sympy(read("x + 1e-3")) == X + sympy.Rational(1, 1000)


def test_parameters_are_listed_with_their_domains():
    formula = read("b*max(x, 0) + a*min(x, 0)", domains={"a": (0, 1), "b": "[1/2, inf)"})
    assert formula.parameters == ("a", "b")
    assert formula.domain("a") == Interval(Fraction(0), Fraction(1))
    assert formula.domain("b") == Interval(Fraction(1, 2), float("inf"), lower_open=False)
    a, b = sorted(to_sympy(formula).free_symbols - {X}, key=lambda s: s.name)
    assert a.is_positive and b.is_positive
    assert read("a*x").domain("a") == Interval()


@pytest.mark.parametrize(
    ("text", "lower", "upper", "left", "right"),
    [
        ("0:1", 0, 1, True, True),
        ("[0,1]", 0, 1, False, False),
        ("(0, inf)", 0, float("inf"), True, True),
        ("(-1/2, 0.1]", Fraction(-1, 2), Fraction(1, 10), True, False),
        ("positive", 0, float("inf"), True, True),
        (":2", float("-inf"), 2, True, True),
    ],
)
def test_domain_text(text, lower, upper, left, right):
    assert read("a*x", domains={"a": text}).domain("a") == Interval(lower, upper, left, right)


@pytest.mark.parametrize("bad", [(1, 0), "[0,", "0..1", 3, "1e999999999:2", (0, "x")])
def test_a_bad_domain_is_named(bad):
    with pytest.raises(DomainError, match="a"):
        read("a*x", domains={"a": bad})


def test_a_domain_for_no_parameter_is_refused():
    with pytest.raises(DomainError, match="no parameter 'b'"):
        read("a*x", domains={"b": (0, 1)})


REFUSED = [
    ("2x", "multiplication sign", 0, "2*x"),
    ("2(x + 1)", "multiplication sign", 0, "2*("),
    ("x x", "multiplication sign", 0, "x*x"),
    ("x(x + 1)", "multiplication sign", 0, "x*("),
    ("tan(h)", "has no x", 0, "tanh(x)"),
    ("y**2", "has no x", 0, "x for y"),
    ("3", "has no x", 0, "in x"),
    ("x*X", "'X'", 2, "did you mean x"),
    ("x + pie", "'pie'", 4, "did you mean pi"),
    ("x*tanhh(x)", "not a known function", 2, "did you mean tanh"),
    ("x*sigmod(x)", "not a known function", 2, "did you mean sigmoid"),
    ("x*tahn(x)", "not a known function", 2, "did you mean tanh?"),
    ("gleu(x)", "not a known function", 0, "did you mean gelu?"),
    ("softmax(x)", "acts on several inputs", 0, "sigmoid(x)"),
    ("x + layer_norm(x)", "acts on several inputs", 4, "one unit"),
    ("x*tanhx", "'tanhx'", 2, "tanh(x)"),
    ("x + xx", "'xx'", 4, "did you mean x"),
    ("x*cos", "needs its argument", 2, "cos(x)"),
    ("q*x", "'q' cannot be a parameter", 0, "q0"),
    ("x + sigma_w", "'sigma_w' cannot be a parameter", 4, "rename"),
    ("x + c", "'c' cannot be a parameter", 4, "rename"),
    ("lambda x: x + 1", "lambda is not read", 0, "write x + 1"),
    ("f(x) = x**2", "no equation", 5, "right-hand side"),
    ("max(" + "x, " * 20 + "0)", "21 operands", 0, ""),
    ("y = x", "no equation", 2, "right-hand side"),
    ("x +", "ends too early", 3, ""),
    ("(x", "never closed", 0, "')'"),
    ("x)", "closes nothing", 1, ""),
    ("x if x > 0", "no 'else'", 2, "else"),
    ("where(x, 1, 2)", "condition is expected", 6, "x > 0"),
    ("not x", "condition is expected", 4, "x > 0"),
    ("Piecewise((x, x > 0), (0, x < 0))", "no default", 0, "True"),
    ("max(x)", "two arguments or more", 0, "max(x, 0)"),
    ("tanh(x, 2)", "takes one argument", 0, "tanh(x)"),
    ("log(-1)*x", "no real number", 0, ""),
    ("x/(1 - 1)", "division by zero", 0, ""),
    ("x[0]", "square brackets", 1, ""),
    ("x + 3j", "complex numbers", 4, ""),
    ("x.abs()", "methods are not read", 1, "abs("),
    ("", "empty", None, "x"),
    ("DiracDelta(x)", "DiracDelta", 0, ""),
    ("x*\n  y§", "'§'", 3, ""),
]


@pytest.mark.parametrize(("text", "what", "caret", "instead"), REFUSED, ids=[case[0] for case in REFUSED])
def test_refusals_point_and_suggest(text, what, caret, instead):
    with pytest.raises(FormulaError) as caught:
        read(text)
    error = caught.value
    assert what in error.what
    assert instead in error.instead
    if caret is not None:
        shown, carets = error.where.split("\n")
        assert carets.index("^") - 2 == caret
        assert shown.strip() in text


@pytest.mark.parametrize(
    "text",
    [
        '__import__("os").getpid()',
        "__import__(x)",
        "x.__class__",
        "(lambda: 1)()",
        "print(1)",
        'exec("1")',
        "9**9**9",
        "x**(10**8)",
        "9**9**9**9*x",
        "x*" * 5_000_000 + "x",
        "(" * 100_000 + "x" + ")" * 100_000,
        "(" * 9_000 + "x" + ")" * 9_000,
        "-" * 10_000 + "x",
        "sin(" * 2_000 + "x" + ")" * 2_000,
        "x+" * 9_999 + "x",
        "((x**100)**100)**100",
        "x**1000",
        "x**81",
        "exp(exp(exp(exp(exp(5)))))*x",
        "x*" + "9" * 15_000,
        "x*1e999999999",
        "x*10**-100000",
        "*".join(["(9**900)"] * 500) + "*x",
        "x" + "**2" * 5_000,
    ],
    ids=lambda text: text[:24],
)
def test_attacks_are_refused_quickly(text):
    start = time.process_time()
    with pytest.raises(FormulaError) as caught:
        read(text)
    assert time.process_time() - start < 1
    assert len(str(caught.value)) < 800


@pytest.mark.parametrize(
    ("a", "b", "edits"), [("tahn", "tanh", 1), ("ca", "abc", 3), ("", "ab", 2), ("kitten", "sitting", 3), ("x", "x", 0)]
)
def test_swapped_neighbours_are_one_edit(a, b, edits):
    assert distance(a, b) == distance(b, a) == edits


def test_far_words_suggest_nothing():
    assert similar("bessel") == similar("foo") == ""


def test_what_the_reader_knows_of_operations_is_what_they_are():
    known = {name: (op.name, op.arity, op.spellings) for name, op in operations().items()}
    assert {name: (op.name, op.arity, op.spellings) for name, op in declared().items()} == known
    assert set(typed()) == set(by_spelling())


def test_a_long_line_is_windowed_around_the_caret():
    with pytest.raises(FormulaError) as caught:
        read("x + " * 100 + "§ + x")
    shown, carets = caught.value.where.split("\n")
    assert len(shown) < 90
    assert shown[carets.index("^")] == "§"


def test_names_one_letter_away_need_not_be_greek():
    assert read("tau*x").parameters == ("tau",)
    assert read("x0 + x").parameters == ("x0",)


def test_the_density_is_not_the_cdf():
    assert any("Phi" in note for note in read("x*phi(x)").notes)
    assert read("x*Phi(x)").notes == ()


@pytest.mark.parametrize(
    "text", ["1/x", "abs(x)/x", "cos(x)/x", "x/abs(x)", "1/x**2", "x/x**2", "1/x + 1/x**2", "coth(x) + 1/x"]
)
def test_poles_and_jumps_are_not_filled(text):
    assert read(text).notes == ()


@pytest.mark.parametrize(
    ("text", "at", "limit"),
    [
        ("tanh(x)/x", 0, 1),
        ("(x**2 - 1)/(x - 1)", 1, 2),
        ("x/(exp(x) - 1)", 0, 1),
        ("(1 - cos(x))*x**-2", 0, Fraction(1, 2)),
        ("(1 - exp(-abs(x)))/abs(x)", 0, 1),
        ("3*sin(2*x)/(5*x) + x", 0, Fraction(6, 5)),
        ("coth(x) - 1/x", 0, 0),
        ("(1 - tanh(x)**2)/x - tanh(x)/x**2", 0, 0),
    ],
)
def test_removable_singularities_are_filled_and_said(text, at, limit):
    formula = read(text)
    assert len(formula.notes) == 1 and "limit" in formula.notes[0]
    assert to_sympy(formula).subs(X, at) == sympy.Rational(limit) + (at if text.endswith("+ x") else 0)
    assert read(show_text(formula.tree)).tree == formula.tree


def test_more_variables():
    formula = read("max(u, v, w)", variables=("u", "v", "w"))
    assert formula.parameters == ()
    with pytest.raises(FormulaError, match="has no u or v"):
        read("tanh(w)", variables=("u", "v"))


def test_errors_are_of_one_family():
    with pytest.raises(EocError):
        read(3)
