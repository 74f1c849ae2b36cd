"""Facts are proved: each is seen to hold, and to be refused where it does not."""

from __future__ import annotations

import pickle
from fractions import Fraction

import pytest
from flint import arb
from sympy import (
    Abs,
    Max,
    Min,
    Piecewise,
    Rational,
    S,
    Symbol,
    acosh,
    asin,
    atan,
    atanh,
    cos,
    cosh,
    coth,
    exp,
    log,
    sign,
    sin,
    sqrt,
    tan,
    tanh,
)

from derive.activation.certify import certify, simplest
from derive.activation.facts import facts
from derive.activation.interval import INF, NEG_INF
from derive.program.operations.normal_cdf import NormalCdf
from derive.program.operations.sigmoid import Sigmoid
from derive.program.operations.softplus import Softplus
from derive.program.symbols import X as x
from derive.program.symbols import parameter
from derive.records import DomainError, Interval

a = Symbol("a", positive=True)
b = Symbol("b", real=True)
UNIT = Interval(Fraction(0), Fraction(1))
c = parameter("c", UNIT)


@pytest.mark.parametrize(
    "function, message",
    [
        (log(x), "log(x) is undefined for x <= 0"),
        (sqrt(x), "sqrt(x) is complex for x < 0"),
        (1 / x, "1/x is infinite at x = 0"),
        (tan(x), "tan(x) is infinite at x = pi/2"),
        (tan(2 * x + 1), "tan(2*x + 1) is infinite at x = -1/2 + pi/4"),
        (log(1 + x), "log(x + 1) is undefined for x <= -1"),
        (asin(x), "asin(x) is complex for x < -1 and x > 1"),
        (atanh(x / 2), "atanh(x/2) is undefined for x <= -2 and x >= 2"),
        (x ** Rational(3, 10), "x**(3/10) is complex for x < 0"),
        (x**x, "x**x is undefined for x <= 0"),
        (1 / (x - b), "1/(-b + x) is infinite at x = b"),
        (coth(x), "coth(x) is infinite at x = 0"),
        (3 + x * log(x**2 - 1), "log(x**2 - 1) is undefined for -1 <= x <= 1"),
        (log(x**2), "log(x**2) is infinite at x = 0"),
        (1 / (exp(x) - 2), "1/(exp(x) - 2) is infinite at x = log(2)"),
        (1 / (x**2 - 3 * x + 1), "1/(x**2 - 3*x + 1) is infinite at x = 3/2 - sqrt(5)/2"),
        (1 / (x**3 + 2 * x + 7), "1/(x**3 + 2*x + 7) is infinite at x = -1.56894640305"),
        (1 / (x - exp(-x)), "1/(x - exp(-x)) is infinite near x = 0.5671432904"),
        (tan(2 * atan(x)), "tan(2*atan(x)) is infinite at x = -1"),
        (Piecewise((1 / x, x > 0), (0, True)), "1/x is infinite at x = 0"),
        (Piecewise((1 / (x - 1), x > 0), (0, True)), "1/(x - 1) is infinite at x = 1"),
        (Piecewise((sqrt(x - 1), x > 0), (0, True)), "sqrt(x - 1) is complex for 0 < x < 1"),
        (sqrt(-1 - x**2) * 0.5, "complex for every x"),
    ],
    ids=str,
)
def test_where_a_function_is_not_real(function, message):
    found = facts(function)
    assert message in found.problem.what
    with pytest.raises(DomainError):
        found.raise_if_not_real()


def test_a_sine_under_a_root_is_complex_somewhere():
    assert "complex at x" in facts(sqrt(sin(x))).problem.what


@pytest.mark.parametrize(
    "function",
    [
        log(1 + exp(x)),
        sqrt(1 + x**2),
        log(cosh(x)),
        x / (1 + Abs(x)),
        1 / (1 + exp(-x)),
        1 / (1 + a * x**2),
        asin(tanh(x)),
        asin(x / sqrt(1 + x**2)),
        log(2 + sin(x)),
        sqrt(1 - cos(x)),
        1 / (x**2 - x + 1),
        1 / (x**4 - 3 * x**2 + 3),
        log(x + sqrt(x**2 + 1)),
        1 / (exp(x) - x),
        1 / (1 + x * exp(x)),
        1 / (sin(x) + 2 * cos(x) + 3),
        tan(tanh(x)),
        acosh(1 + x**2),
        atanh(tanh(x) / 2),
        sqrt(x**2 - 2 * x + 1),
        sqrt(log(x**2 + 2)),
        log(1 + x + x**2 * Rational(3, 10)),
        (1 + exp(x)) ** x,
        sqrt(1 - c * tanh(x) ** 2),
        Max(x, 0) ** Rational(3, 10),
        Piecewise((log(x), x > 2), (0, True)),
        Piecewise((1 / x, Abs(x) > a), (0, True)),
        Piecewise((x / (x + b), x > a), (0, True)).subs(b, a),
        x * tanh(Softplus(x)),
    ],
    ids=str,
)
def test_real_functions_pass_without_a_note(function):
    found = facts(function, {"c": UNIT})
    assert found.problem is None and found.notes == ()


@pytest.mark.parametrize(
    "function, limit",
    [
        (sin(x) / x, "1 at x = 0"),
        ((x - sin(x)) / x**3, "1/6 at x = 0"),
        (x / (exp(x) - 1), "1 at x = 0"),
        (x * coth(x), "1 at x = 0"),
        (x * log(x**2), "0 at x = 0"),
        (Piecewise((x * log(x), x > 0), (0, True)), "0 at x = 0"),
        (tanh(x - 2) / (x - 2), "1 at x = 2"),
    ],
    ids=str,
)
def test_removable_singularities_are_filled_and_said(function, limit):
    found = facts(function)
    assert found.problem is None and any(limit in note for note in found.notes)


def test_what_depends_on_a_parameter_is_noted():
    assert any("b > 0" in note for note in facts(x * log(b)).notes)
    assert any("b*x**2 + 1 != 0" in note for note in facts(1 / (1 + b * x**2)).notes)
    assert facts(log(-a) * x).problem.what == "log(-a) is undefined for every x"


@pytest.mark.parametrize(
    "function, expected",
    [
        (Max(x, 0), "increasing"),
        (-Max(x, 0) + 3, "decreasing"),
        (Abs(x), None),
        (Piecewise((x, x > 0), (a * x, True)), "increasing"),
        (Piecewise((x, x > 0), (b * x, True)), None),
        (Piecewise((x, x > 0), (-a * x, True)), None),
        (Piecewise((x, x > 0), (a * (exp(x) - 1), True)), "increasing"),
        (tanh(x), "increasing"),
        (tanh(1 - 2 * x), "decreasing"),
        (NormalCdf(x) + Sigmoid(x), "increasing"),
        (Softplus(x), "increasing"),
        (x / (1 + Abs(x)), "increasing"),
        (x / sqrt(1 + x**2), "increasing"),
        (x + sin(x) ** 2, "increasing"),
        (x + sin(2 * x), None),
        (x * Sigmoid(x), None),
        (x * NormalCdf(x), None),
        (x - tanh(x), "increasing"),
        (x**3 - x, None),
        (x**3 + x, "increasing"),
        (Max(-1, Min(1, x)), "increasing"),
        (sign(x), "increasing"),
        (Piecewise((x, x > 1), (x + 1, True)), None),
        (Piecewise((1, x > 1), (exp(x), True)), None),
        (S(4), "increasing"),
        (exp(-x) + exp(-3 * x), "decreasing"),
        (atan(x**3), "increasing"),
        (c * x + sin(x), None),
        ((2 - c) * x + sin(x), "increasing"),
    ],
    ids=str,
)
def test_monotone(function, expected):
    assert facts(function, {"c": UNIT}).monotone == expected


@pytest.mark.parametrize(
    "function, expected",
    [
        (Max(x, 0), [(0, 0)]),
        (Max(x, 0) ** 3, [(0, 2)]),
        (sign(x - 1), [(1, -1)]),
        (Piecewise((x, x > 0), (exp(x) - 1, True)), [(0, 1)]),
        (Piecewise((x, x > 0), (a * (exp(x / a) - 1), True)), [(0, 1)]),
        (Piecewise((x, x > 0), (a * (exp(x) - 1), True)), [(0, 0)]),
        (Piecewise((x, x > 0), (x / sqrt(1 + x**2), True)), [(0, 2)]),
        (Max(-a, Min(a, x)), [(-a, 0), (a, 0)]),
        (tanh(x), []),
    ],
    ids=str,
)
def test_smoothness(function, expected):
    found = facts(function)
    assert list(found.smoothness) == expected
    assert found.continuous == all(k >= 0 for _, k in expected)


@pytest.mark.parametrize(
    "function, invariant, degree",
    [
        (x, True, 1),
        (3 * Max(x, 0) - b * Min(x, 0), True, None),
        (Abs(x), True, None),
        (Max(x, 0) + 1, False, None),
        (Max(x - 1, 0), False, None),
        (x**2 - b * x, False, 2),
        (S(5), False, 0),
        (S.Zero, True, 0),
        (tanh(x), False, None),
    ],
    ids=str,
)
def test_scale_invariance_and_degree(function, invariant, degree):
    found = facts(function)
    assert (found.scale_invariant, found.degree) == (invariant, degree)


def test_growth_in_words():
    assert facts(Max(x, 0) + a * Min(x, 0)).growth_text == ("linear", "linear")
    assert facts(tanh(x)).growth_text == ("bounded", "bounded")
    assert facts(exp(x)).growth_text == ("decays exponentially", "at most exp(1 |x|)")
    assert facts(x**3 - x).growth_text == ("like |x|^3", "like |x|^3")
    assert facts(exp(exp(x))).growth_text == ("bounded", "no Gaussian bound known")
    assert facts(exp(a * x)).growth_text == ("open while a is a symbol", "open while a is a symbol")
    left, right = facts(x * Sigmoid(x)).growth
    assert left.b == -1 and right.n == 1


def test_facts_pickle():
    found = facts(x / (1 + Abs(x)))
    before = (found.monotone, found.growth_text, found.parity)
    again = pickle.loads(pickle.dumps(found))
    assert again == found and (again.monotone, again.growth_text, again.parity) == before


def test_certify_accepts_and_rejects():
    assert certify(x**2 - x + 1, "positive", NEG_INF, INF, {}).holds is True
    assert certify(x**2 - x + Rational(1, 5), "positive", NEG_INF, INF, {}).holds is False
    assert certify(exp(x) - 3 * x, "nonzero", NEG_INF, INF, {}).holds is False
    assert certify(exp(x) - 2 * x, "nonzero", NEG_INF, INF, {}).holds is True
    assert certify(sin(x) + 2 * cos(x / 3) + Rational(29, 10), "positive", NEG_INF, INF, {}).holds is True
    assert certify(x, "nonzero", arb(-3), arb(2), {}).at == 0
    # a function that only touches zero at an irrational point stays undecided rather than being guessed
    assert certify((exp(x) - 3) ** 2 + 0 * x, "positive", arb(0), arb(2), {}).holds is None


def test_simplest_rational():
    assert simplest(Fraction(314, 100), Fraction(315, 100)) == Fraction(22, 7)
    assert simplest(Fraction(-7, 10), Fraction(-6, 10)) == Fraction(-2, 3)
    assert simplest(Fraction(-1), Fraction(1)) == 0


def test_growth_says_what_is_true_in_words():
    assert facts(1 / (1 + x**2)).growth_text == ("decays at least like |x|^-2",) * 2
    assert facts(x / (1 + x**2)).growth_text == ("decays at least like |x|^-1",) * 2
    assert facts(sqrt(Abs(x))).growth_text == ("at most like |x|^0.5",) * 2
    assert facts(x * tanh(x)).growth_text == ("at most linear",) * 2
    assert facts(Max(x, -2 * a**2)).growth_text == ("constant -2 a^2", "linear")
