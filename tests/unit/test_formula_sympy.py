"""Trees to SymPy and back, composition, and random text."""

import time
from fractions import Fraction

import mpmath
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from derive.formula import compose, from_sympy, nodes, read, show_text, to_sympy
from derive.formula.checks import number
from derive.program.registry import by_spelling
from derive.program.symbols import X
from derive.records import EocError, FormulaError, Interval, Node

x, a = sympy.symbols("x a")


def evaluate(tree, at, mp=mpmath.mp):
    """A tree in x alone by its definition."""
    if tree.head == "name":
        return mp.mpf(at)
    return number(tree, [evaluate(arg, at, mp) for arg in tree.args], mp)


@pytest.mark.parametrize(
    "text",
    ["x*Phi(x)", "x*tanh(log(1 + exp(x)))", "(x > 0)*x", "x if x < -1 else exp(x) if x < 2 else 1/(1 + x**2)",
     "clip(x, -1, 1)", "0 < x < 1", "x**0.5*(x > 0) + 1", "sqrt(pi)*e**-x",
     "step(x)*phi(x)", "sinc(x)", "x*sigmoid(1.702*x)"],
)  # fmt: skip
def test_to_sympy_is_the_same_function(text):
    formula = read(text)
    expr = to_sympy(formula)
    with mpmath.workdps(20):
        for at in ("-1.5", "0.25", "0.75", "3.5"):
            ours = evaluate(formula.tree, at)
            theirs = expr.subs(X, sympy.Rational(at)).evalf(20)
            assert abs(mpmath.mpf(str(theirs)) - ours) < 1e-15 * (1 + abs(ours))


@pytest.mark.parametrize(
    "expr",
    [x**2 - 3 * x + sympy.Rational(1, 3), sympy.Max(x, 0), sympy.exp(-(x**2) / 2) / sympy.sqrt(2 * sympy.pi),
     sympy.Piecewise((x, x > 0), (a * x, True)), x * sympy.erf(x / sympy.sqrt(2)), sympy.Heaviside(x) * x,
     sympy.sign(x) * sympy.Abs(x) ** sympy.Rational(3, 2), 1 / (1 + sympy.exp(-x)), x / sympy.cosh(x),
     sympy.Piecewise((1, sympy.And(x > 0, x < 1)), (0, True)), sympy.Min(1, sympy.Max(-1, x)), sympy.sin(x) - 0.1 * x,
     x, sympy.Piecewise((x, sympy.ITE(x > 1, x < 2, x > 0)), (a, True))],
    ids=str,
)  # fmt: skip
def test_sympy_expressions_come_back(expr):
    back = to_sympy(from_sympy(expr))
    symbols = {symbol.name: symbol for symbol in back.free_symbols}
    for at in (-1.5, 0.3, 0.9, 2.5):
        ours = back.subs({symbols["x"]: at, symbols.get("a", a): 0.25}).evalf()
        theirs = expr.subs({x: at, a: 0.25}).evalf()
        assert abs(ours - theirs) < 1e-13


def test_assumptions_of_symbols_become_domains():
    p = sympy.Symbol("p", positive=True)
    assert from_sympy(p * x).domain("p") == Interval(lower=Fraction(0))
    assert from_sympy(p * x, domains={"p": (1, 2)}).domain("p") == Interval(Fraction(1), Fraction(2))


@pytest.mark.parametrize(
    "expr",
    [sympy.DiracDelta(x), sympy.gamma(x), sympy.Integral(sympy.exp(x), (x, 0, 1)), sympy.I * x, sympy.zeta(x),
     sympy.Piecewise((x, x > 0)), sympy.Symbol("q") * x, sympy.oo * sympy.Symbol("y"), sympy.Function("f")(x)],
    ids=str,
)  # fmt: skip
def test_foreign_sympy_is_refused(expr):
    with pytest.raises(FormulaError):
        from_sympy(expr)


def test_a_derived_expression_may_have_lost_its_variable():
    assert from_sympy(a * x / x, domains={"a": (0, 1), "b": (0, 1)}, derived=True).parameters == ("a",)
    assert show_text(from_sympy(sympy.Integer(0), derived=True).tree) == "0"
    with pytest.raises(FormulaError, match="no x"):
        from_sympy(sympy.Integer(1))


def test_composition():
    snake_of_relu = compose(read("x + sin(x)**2"), read("max(x, 0)"))
    assert show_text(snake_of_relu.tree) == "max(x, 0) + sin(max(x, 0))**2"
    both = compose(read("a*x", {"a": (0, 1)}), read("b*tanh(x)"))
    assert both.parameters == ("a", "b")
    assert both.domain("a") == Interval(Fraction(0), Fraction(1))
    with pytest.raises(FormulaError, match="parameter 'a'"):
        compose(read("a*x", {"a": (0, 1)}), read("a*tanh(x)"))


ONE = sorted({op.name for op in by_spelling().values() if op.arity == 1})
MANY = ["max", "min"]


def numbers():
    whole = st.integers(-20, 20).map(nodes.num)
    decimals = st.integers(-(10**6), 10**6).map(lambda n: nodes.num(Fraction(n, 10**4)))
    ratios = st.builds(lambda p, q: nodes.num(Fraction(p, q)), st.integers(-9, 9), st.integers(1, 11))
    return st.one_of(whole, decimals, ratios)


def binary(head, left, right):
    """A folded node, or the left side where folding refuses."""
    try:
        return nodes.binary(head, left, right)
    except FormulaError:
        return left


def flat(head, parts):
    return Node(head, tuple(part for side in parts for part in (side.args if side.head == head else (side,))))


LEAVES = st.one_of(
    st.just(nodes.X),
    st.sampled_from(["a", "beta", "lambda", "w2"]).map(nodes.name),
    st.sampled_from(["pi", "e"]).map(lambda name: Node("const", value=name)),
    numbers(),
)


@st.composite
def conditions(draw, depth):
    """A random condition."""
    kind = draw(st.sampled_from(["compare"] * 3 + ["and", "or", "not"])) if depth else "compare"
    if kind == "compare":
        return Node(draw(st.sampled_from(sorted(nodes.OPPOSITE))), (draw(trees(depth - 1)), draw(trees(depth - 1))))
    if kind == "not":
        return Node("not", (draw(conditions(depth - 1)),))
    return flat(kind, (draw(conditions(depth - 1)), draw(conditions(depth - 1))))


@st.composite
def trees(draw, depth=4):
    """A random tree of what can be typed."""
    kind = (
        draw(st.sampled_from(["leaf", "binary", "binary", "neg", "one", "many", "cond", "test"]))
        if depth > 0
        else "leaf"
    )
    if kind == "leaf":
        return draw(LEAVES)
    if kind == "binary":
        head = draw(st.sampled_from(["add", "sub", "mul", "div", "pow"]))
        return binary(head, draw(trees(depth - 1)), draw(trees(depth - 1)))
    if kind == "neg":
        return nodes.neg(draw(trees(depth - 1)))
    if kind == "one":
        return Node(draw(st.sampled_from(ONE)), (draw(trees(depth - 1)),))
    if kind == "many":
        count = draw(st.integers(2, 3))
        return Node(draw(st.sampled_from(MANY)), tuple(draw(trees(depth - 1)) for _ in range(count)))
    if kind == "cond":
        return Node("cond", (draw(conditions(depth - 1)), draw(trees(depth - 1)), draw(trees(depth - 1))))
    return draw(conditions(depth - 1))


@settings(derandomize=True, max_examples=100, deadline=None)
@given(trees())
def test_random_trees_round_trip(tree):
    from derive.formula.parser import Parser

    parser = Parser(show_text(tree))
    assert parser.expression() == tree
    assert parser.token.kind == "end"


PIECES = ["x", "1", "a", "+", "-", "*", "/", "**", "^", "(", ")", ",", "|", "<", ">=", " if ", " else ", " and ",
          " not ", "max(", "exp(", "Piecewise(", "where(", "True", "√", "²", "σ", "λ", "=", ".", "np.", "9", "\n",
          ":", '"', "é", "\0"]  # fmt: skip


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.one_of(st.lists(st.sampled_from(PIECES), max_size=25).map("".join), st.text(max_size=40)))
def test_random_text_is_read_or_refused(text):
    start = time.process_time()
    try:
        formula = read(text)
    except EocError as error:
        assert error.what
    else:
        assert read(show_text(formula.tree)).tree == formula.tree
    assert time.process_time() - start < 5
