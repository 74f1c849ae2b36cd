"""Closed forms against reference values, transformed twins, and the laws that more variables bring."""

import mpmath
import pytest
from sympy import (
    Abs,
    Heaviside,
    Lambda,
    Max,
    Min,
    Piecewise,
    Rational,
    Symbol,
    cos,
    erf,
    exp,
    eye,
    sign,
    sin,
    sqrt,
    symbols,
    tanh,
)

from derive.gaussian.answer import answer
from derive.gaussian.node import GaussianE, pair, single
from derive.gaussian.special import BivariateNormalCdf, NormalCdf
from derive.program.evaluate import run_mp
from derive.program.gate import freeze
from derive.program.symbols import DELTA, Q1, Q2, C, K, Q, X
from derive.records import DomainError, Kind

A = Symbol("a", real=True)
B = Symbol("b", positive=True)
ALPHA = Symbol("alpha", real=True)
GELU = X * NormalCdf(X)
RELU = Max(X, 0)
ELU = Piecewise((X, X > 0), (ALPHA * (exp(X) - 1), True))
CELU = Piecewise((X, X > 0), (B * (exp(X / B) - 1), True))


@pytest.fixture(autouse=True)
def thirty_digits():
    with mpmath.workdps(30):
        yield


def number(node, **values):
    """The closed form at a point, to 30 digits, from the operations' own definitions."""
    found = answer(node)
    assert found.closed is not None, found.blockers
    with mpmath.workdps(30):
        inputs = {name: mpmath.mpf(value) for name, value in values.items()}
        if "c" in inputs and "q1" in inputs:
            root = mpmath.sqrt(inputs["q1"] * inputs["q2"])
            inputs |= {"K": inputs["c"] * root, "Delta": root**2 * (1 - inputs["c"] ** 2)}
        symbols_ = tuple(sorted(found.closed.free_symbols, key=str))
        return run_mp(freeze({"v": found.closed}, symbols_), {s.name: inputs[s.name] for s in symbols_})["v"]


def close(value, expected, digits=14):
    with mpmath.workdps(30):
        return abs(value - mpmath.mpf(expected)) <= mpmath.mpf(10) ** -digits * max(1, abs(mpmath.mpf(expected)))


PAIRS = [
    ("relu", RELU, {}, "0.24137214191774381081749958330417", 1, "0.3"),
    ("gelu", GELU, {}, "1.2821883988065753187158865343928", 3, "0.9"),
    ("erf", erf(X), {}, "-0.26197976086890923448913888244253", 1, "-0.6"),
    ("hardtanh", Max(-1, Min(1, X)), {}, "0.14089272086431226347712323611517", 1, "0.3"),
    ("relu6", Min(Max(X, 0), 6), {}, "0.72361794939382721920130258890835", 3, "0.3"),
    ("hard swish", X * Max(0, Min(6, X + 3)) / 6, {}, "-0.10299376516551034205480225244123", 1, "-0.6"),
    (
        "hard shrink",
        Piecewise((X, Abs(X) > B), (0, True)),
        {"b": "0.5"},
        "-0.56399901572706627754050987224311",
        1,
        "-0.6",
    ),
    ("elu", ELU, {"alpha": 1}, "0.20293912048988619633058436509398", 1, "0.3"),
    ("celu", CELU, {"b": "0.6"}, "-0.22331636306792182032304047317152", 1, "-0.6"),
    ("snake", X + sin(A * X) ** 2 / A, {"a": 1}, "-0.39222288220982767807396693225912", 1, "-0.6"),
    ("bump", exp(-B * X**2), {"b": 1}, "0.14782809899727065470430522659770", 3, "0.3"),
    (
        "matern",
        Piecewise((X**2 * exp(-B * X), X > 0), (0, True)),
        {"b": "2.2360679774997896964091736687313"},
        "0.0014701838806918026542958159279201",
        1,
        "0.3",
    ),
    (
        "rbf",
        sqrt(2) * sin(A * X + Symbol("pi4", real=True)),
        {"a": "1.3", "pi4": "0.78539816339744830961566084581988"},
        "0.84450890338603432639865751312746",
        1,
        "0.9",
    ),
    ("leaky", Piecewise((X, X > 0), (A * X, True)), {"a": "0.1"}, "0.67653430486011746028652398742914", 3, "0.3"),
]


@pytest.mark.parametrize(("name", "f", "parameters", "expected", "q", "c"), PAIRS)
def test_pairs_meet_reference_values(name, f, parameters, expected, q, c):
    assert close(number(pair(f, f), q1=q, q2=q, c=c, **parameters), expected)


ONE = [
    (GELU**2, {"q": 1}, "0.42522148257029867491855441638549"),
    (RELU**2, {"q": 3}, "1.5"),
    (ELU**2, {"q": 3, "alpha": 1}, "1.7341474952568947930144189297037"),
    (CELU**2, {"q": "0.25", "b": "0.6"}, "0.16784562755772380686418535682908"),
    (Max(-1, Min(1, X)) ** 2, {"q": 1}, "0.51605855096171330040433961412888"),
    (Min(Max(X, 0), 6) ** 2, {"q": 3}, "1.4985013583344668399726697129070"),
    ((X + sin(A * X) ** 2 / A) ** 2, {"q": 1, "a": 1}, "1.3073742912101814680328529261545"),
    (exp(-2 * B * X**2), {"q": 3, "b": 1}, "0.27735009811261456100917086672850"),
    (erf(X) ** 2, {"q": 1}, "0.46455905439753998"),
    (GELU.diff(X) ** 2, {"q": 3}, "0.50098632071859404234926666999432"),
]


@pytest.mark.parametrize(("f", "values", "expected"), ONE)
def test_second_moments_meet_reference_values(f, values, expected):
    assert close(number(single(f), **values), expected)


def node(variables, body, cov, mean=None):
    return GaussianE(Lambda(variables, body), cov, mean)


Z, M = Symbol("z", real=True), Symbol("m", real=True)
S = Symbol("s", positive=True)
LAWS = [
    ("E max(b, z)", node((Z,), Max(B, Z), [[1]]), {"b": mpmath.mpf(1) / 3}, "0.5875694476324053"),
    ("E Phi(z - a)", node((Z,), NormalCdf(Z - A), [[1]]), {"a": mpmath.mpf(1) / 3}, "0.4068318578833959"),
    ("E erf Phi", node((Z,), erf(Z) * NormalCdf(Z), [[1]]), {}, "0.195913276015304"),
    ("shifted relu", node((Z,), Max(Z - Rational(1, 2), 0) ** 2, [[1]]), {}, "0.209639260025334"),
    ("truncated mean", node((Z,), Z * Heaviside(Z - A), [[S**2]], [M]), {"m": 1, "s": 2, "a": 3}, "0.642596702969744"),
    ("plane wave", node(symbols("u v", real=True), cos(3 * symbols("u", real=True)), eye(2)), {}, "0.0111089965382423"),
]


@pytest.mark.parametrize(("name", "question", "values", "expected"), LAWS)
def test_other_laws(name, question, values, expected):
    assert close(number(question, **values), expected)


def test_products_of_piecewise_functions_with_symbolic_breakpoints():
    first, second = Piecewise((2, Z < A), (3, True)), Piecewise((5, Z < M), (7, True))
    for a, m in ((0.2, 1.0), (1.0, 0.2)):
        low, high = sorted((a, m))
        middle = 2 * 7 if m < a else 3 * 5
        cdf = mpmath.ncdf
        expected = 10 * cdf(low) + middle * (cdf(high) - cdf(low)) + 21 * (1 - cdf(high))
        assert close(number(node((Z,), first * second, [[1]]), a=a, m=m), expected)


def test_maxima_of_several_variables():
    u, v, w, s, t = symbols("u v w s t", real=True)
    assert close(number(node((u, v, w), Max(u, v, w), eye(3))), "0.846284375321634")
    assert close(number(node((u, v, w, s, t), Max(u, v, w, s, t), eye(5))), "1.16296447364052", 13)
    assert close(number(node((u, v, w), Max(u, v, w) ** 2, eye(3))), "1.2756644477109", 12)
    cov = [[1, 0, C, 0], [0, 1, 0, C], [C, 0, 1, 0], [0, C, 0, 1]]
    assert close(number(node((u, v, w, s), Max(u, v) * Max(w, s), cov), c="0.5"), "0.608997781044229")


def test_maximum_with_a_full_symbolic_covariance():
    u, v, w = symbols("u v w", real=True)
    entries = symbols("s11 s12 s13 s22 s23 s33", real=True)
    a, b, c, d, e, f = entries
    found = answer(node((u, v, w), Max(u, v, w), [[a, b, c], [b, d, e], [c, e, f]]))
    spread = [a - 2 * b + d, a - 2 * c + f, d - 2 * e + f]
    expected = sum(sqrt(s) for s in spread) / (2 * sqrt(2))
    values = dict(zip(entries, (2, Rational(1, 2), 0, 1, Rational(1, 3), 3), strict=True))
    with mpmath.workdps(20):
        assert (
            abs(found.closed.subs(values).evalf(20) * mpmath.sqrt(mpmath.pi) - expected.subs(values).evalf(20)) < 1e-15
        )


def test_gated_units_factor_by_components():
    a, b, c, d = symbols("y1:5", real=True)
    cov = [[Q1, 0, K, 0], [0, Q1, 0, K], [K, 0, Q2, 0], [0, K, 0, Q2]]
    gated = node((a, b, c, d), a * b * NormalCdf(b) * c * d * NormalCdf(d), cov)
    point = {"q1": "0.7", "q2": "1.3", "c": "0.4"}
    with mpmath.workdps(30):
        k = mpmath.mpf("0.4") * mpmath.sqrt(mpmath.mpf("0.7") * mpmath.mpf("1.3"))
        assert close(number(gated, **point), k * number(pair(GELU, GELU), **point), 25)


@pytest.mark.parametrize("cov", [[[1, Rational(1, 2)], [0, 1]], [[1, Rational(6, 5)], [Rational(6, 5), 1]]])
def test_what_is_no_covariance_is_refused(cov):
    u, v = symbols("u v", real=True)
    with pytest.raises(DomainError):
        answer(node((u, v), exp(u), cov))


def test_kinds_and_blockers():
    assert answer(pair(GELU, GELU)).kind is Kind.EXACT
    special = answer(pair(ELU, ELU))
    assert special.kind is Kind.SPECIAL and special.closed.has(BivariateNormalCdf)
    open_ = answer(single(tanh(X) ** 2))
    assert (open_.kind, open_.closed, open_.blockers) == (Kind.INTEGRAL, None, ("tanh(x)",))
    sixth = answer(single(GELU**6))
    assert sixth.closed is None and "orthant of dimension 6" in sixth.blockers[0]


def test_divergence_states_its_condition():
    beta = Symbol("beta", real=True)
    assert answer(single(exp(beta * X**2))).condition == "-2*beta*q + 1 > 0"
    assert answer(node((Z,), exp(Z**2), [[1]])).kind is Kind.DIVERGENT
    assert answer(single(X * exp(X**3 + X))).kind is answer(single(exp(B * X**4))).kind is Kind.DIVERGENT
    assert answer(single(exp(-B * X**4))).kind is Kind.INTEGRAL


def test_singular_laws():
    u, v = symbols("u v", real=True)
    body = Max(u, 0) * Max(v, 0)
    assert answer(node((u, v), body, [[1, 1], [1, 1]])).closed == Rational(1, 2)
    assert answer(node((u, v), body, [[1, -1], [-1, 1]])).closed == 0


@pytest.mark.parametrize("f", [GELU, RELU, erf(X), ELU.subs(ALPHA, 2), Max(-1, Min(1, X)), X + sin(X) ** 2])
def test_transformed_twins(f):
    """K of A f(a x) is A**2 K(a**2 q1, a**2 q2, a**2 K), mirrored and renamed alike."""
    mirrored, scaled = f.subs(X, -X), 3 * f.subs(X, X / 2)
    point = {"q1": "0.8", "q2": "1.7", "c": "-0.35"}
    quarter = {"q1": "0.2", "q2": "0.425", "c": "-0.35"}
    plain = number(pair(f, f), **point)
    assert close(number(pair(mirrored, mirrored), **point), plain, 25)
    assert close(number(pair(scaled, scaled), **point), 9 * number(pair(f, f), **quarter), 25)
    assert close(number(pair(f, mirrored), **point), number(pair(f, f), q1="0.8", q2="1.7", c="0.35"), 25)


def test_functions_of_one_pair_may_differ():
    point = {"q1": "0.8", "q2": "1.7", "c": "0.4"}
    with mpmath.workdps(30):
        k = mpmath.mpf("0.4") * mpmath.sqrt(mpmath.mpf("1.36"))
        stein = k * number(single(erf(X).diff(X)), q="1.7")
    assert close(number(pair(X, erf(X)), **point), stein, 25)
    assert close(
        number(pair(RELU, sign(X)), **point) + number(pair(-RELU.subs(X, -X), sign(X)), **point),
        number(pair(X, sign(X)), **point),
        25,
    )


def test_results_are_in_the_symbols_of_the_law():
    assert answer(pair(RELU, RELU)).closed.free_symbols <= {Q1, Q2, K, DELTA}
    assert answer(single(GELU**2)).closed.free_symbols == {Q}


def test_slopes_of_unknown_sign():
    """max(a x + m, 0) has its kink on either side; the half-space does not care."""
    question = single(Max(A * X + M, 0))
    assert answer(question).kind is Kind.EXACT
    for a in ("0.7", "-0.7"):
        expected = number(single(Max(A.subs(A, Rational(7, 10)) * X + M, 0)), q=2, m="0.3")
        assert close(number(question, q=2, a=a, m="0.3"), expected, 25)
