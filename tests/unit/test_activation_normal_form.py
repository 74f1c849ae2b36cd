"""The normal form equals the function, whatever the breakpoints."""

from __future__ import annotations

import random

import pytest
from sympy import (
    Abs,
    And,
    Eq,
    Float,
    Heaviside,
    Max,
    Min,
    Not,
    Or,
    Piecewise,
    Rational,
    S,
    Symbol,
    cos,
    erf,
    exp,
    floor,
    log,
    sign,
    sin,
    sqrt,
    tanh,
)

from derive.activation.cells import sign_of
from derive.activation.normal_form import (
    Term,
    add,
    breakpoints,
    compose_affine,
    derivative,
    mul,
    normal_form,
    power,
    scale,
    to_piecewise,
)
from derive.program.symbols import X as x
from derive.records import DomainError, Unsupported

a = Symbol("a", positive=True)
b = Symbol("b", real=True)
theta = Symbol("theta", real=True)


def number(expr, values):
    """The value of an expression at floats."""
    return float(expr.xreplace(values))


def at(form, values):
    """The sum of the terms at a point that is no breakpoint, by hand."""
    total = 0.0
    for term in form.terms:
        if term.threshold is not None:
            side = 1 if values[x] > number(term.threshold, values) else -1
            if side != term.side:
                continue
        total += number(term.value, values)
    return total


FUNCTIONS = [
    x**3 - x,
    Max(x, 0),
    Abs(x),
    Max(x, 0) + a * Min(x, 0),
    Piecewise((x, x > 0), (a * (exp(x) - 1), True)),
    Max(-1, Min(1, x)),
    Max(-a, Min(a, x)),
    Max(-b, Min(b, x)),
    x * Max(0, Min(6, x + 3)) / 6,
    tanh(Max(x, 0)),
    Abs(x) ** 3,
    exp(-Abs(x)),
    cos(Max(x, 0)),
    1 / (1 + Abs(x)),
    sqrt(Max(x, 0)),
    Piecewise((x, Abs(x) > S.Half), (0, True)),
    Piecewise((x - a, x > a), (x + a, x < -a), (0, True)),
    Piecewise((x, x > theta), (0, True)),
    Piecewise((x, a * x > b), (1, True)),
    Piecewise((x, -a * x > b), (1, True)),
    Piecewise((1, x**2 > 2), (x, True)),
    Piecewise((1, x**2 + b * x - a > 0), (x, True)),
    Piecewise((x, exp(x) > 3), (0, True)),
    Piecewise((x, exp(1 - 2 * x) > 3), (0, True)),
    Piecewise((1, And(x > theta, Not(x > theta + a))), (0, True)),
    Piecewise((1, Or(x > 1, x < 0)), (exp(x), True)),
    Piecewise((2, x < theta), (3, True)) * Piecewise((5, x < b), (7, True)),
    Max(0, x - theta) * Min(1, exp(x - b)),
    Max(x, x**3),
    Max(x**3 - 2 * x, 1),
    Max(-x, x, 1),
    Max(0, x, b),
    Abs(exp(2 * x) - 3 * exp(x) + 2),
    Abs(x**2 - a),
    Abs(sin(1) * tanh(x - b)),
    Abs(x * exp(-x)),
    erf(Abs(x) - 1),
    sign(x - theta),
    Heaviside(x - 1),
    Min(Max(x, 0), Max(1, 2 - x)),
    Max(0, Abs(x) - Max(1, b)),
    Max(x, a * x),
    Min(x, a * x, 3 * x),
    Max(0, b * x),
    Max(exp(x), exp(x) + b * x),
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=str)
@pytest.mark.parametrize("slope, offset", [(1, 0), (-Rational(7, 3), Rational(1, 5))])
def test_terms_sum_to_the_function(function, slope, offset):
    function = function.subs(x, slope * x + offset)
    form = normal_form(function)
    rebuilt = to_piecewise(form)
    rng = random.Random(7)
    for _ in range(8):
        draws = {a: rng.uniform(0.1, 2), b: rng.uniform(-2, 2), theta: rng.uniform(-2, 2), x: rng.uniform(-3, 3)}
        values = {symbol: Float(value) for symbol, value in draws.items()}
        expected = number(function, values)
        assert at(form, values) == pytest.approx(expected, rel=1e-12, abs=1e-12)
        assert number(rebuilt, values) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("function", FUNCTIONS, ids=str)
def test_one_step_a_term_and_no_kink_in_a_value(function):
    form = normal_form(function)
    keys = [(term.threshold, term.side) for term in form.terms]
    assert len(set(keys)) == len(keys)
    for term in form.terms:
        assert term.value != 0
        assert (term.side == 0) == (term.threshold is None)
        assert not any(part.has(x) for part in term.value.atoms(Piecewise, Max, Min, Abs, sign, Heaviside))
        assert term.threshold is None or not term.threshold.has(x)


def test_elu_keeps_its_left_piece_a_left_step():
    form = normal_form(Piecewise((x, x > 0), (a * (exp(x) - 1), True)))
    assert set(form.terms) == {Term(a * (exp(x) - 1), S.Zero, -1), Term(x, S.Zero, 1)}


def test_what_all_pieces_share_needs_no_step():
    assert Term(exp(x), None, 0) in normal_form(exp(x) + Abs(x)).terms


def test_equal_neighbours_are_one_piece():
    assert normal_form(Piecewise((x, x > 1), (x + 0 * x, x > 0), (x, True))).terms == (Term(x, None, 0),)
    assert normal_form(Abs(x) ** 2).terms == (Term(x**2, None, 0),)
    assert normal_form(Max(x, 0) + Min(x, 0)).terms == (Term(x, None, 0),)


def test_the_larger_of_two_lines_through_zero_needs_no_sign():
    assert set(normal_form(Max(x, a * x)).terms) == {Term(x * Min(1, a), S.Zero, -1), Term(x * Max(1, a), S.Zero, 1)}
    assert derivative(normal_form(Max(x, a * x)))[1] == ()


def test_algebra():
    relu, shifted = normal_form(Max(x, 0)), normal_form(Max(x - b, 0))
    assert mul(relu, shifted).terms == (Term(x * (x - b), Max(0, b), 1),)
    assert power(relu, 2).terms == (Term(x**2, S.Zero, 1),)
    assert scale(relu, a).terms == (Term(a * x, S.Zero, 1),)
    assert add(relu, scale(relu, -1)).terms == ()
    assert compose_affine(relu, -2, 1).terms == (Term(1 - 2 * x, S.Half, -1),)
    with pytest.raises(Unsupported, match="b"):
        compose_affine(relu, b, 0)


def test_derivative_and_jumps():
    form, found = derivative(normal_form(Piecewise((x, x > theta), (0, True))))
    assert form.terms == (Term(S.One, theta, 1),)
    assert [(jump.at, jump.height) for jump in found] == [(theta, theta)]
    assert derivative(normal_form(Max(-a, Min(a, x))))[1] == ()
    assert [j.height for j in derivative(normal_form(sign(x)))[1]] == [2]
    # the steps of a product whose order is open must not leave false jumps
    assert derivative(normal_form(Max(x, 0) * Max(x - b, 0)))[1] == ()
    assert derivative(normal_form(Max(-b, Min(b, x))))[1] == ()
    assert derivative(normal_form(sin(x) / x))[1] == ()


def test_jumps_of_overlapping_symbolic_steps():
    function = Piecewise((2, x < theta), (3, True)) * Piecewise((5, x < b), (7, True))
    found = derivative(normal_form(function))[1]
    for values in ({theta: 0, b: 1}, {theta: 1, b: 0}):
        total = {}
        for jump in found:
            place = jump.at.subs(values)
            total[place] = total.get(place, 0) + jump.height.subs(values)
        first, second = (5, 6) if values[theta] < values[b] else (4, 7)
        assert {k: v for k, v in total.items() if v != 0} == {0: first, 1: second}


def test_breakpoints_are_sorted():
    function = Max(-1, Min(1, x)) + Piecewise((1, x > sqrt(2)), (0, True))
    assert breakpoints(normal_form(function)) == (-1, 1, sqrt(2))


@pytest.mark.parametrize(
    "function, name",
    [
        (Piecewise((x, b > 0), (0, True)), "b"),
        (Piecewise((x, x > a * x), (0, True)), "1 - a"),
        (Abs(sin(x)), "finitely many"),
        (Piecewise((1, x + sin(x) > 1), (0, True)), "sin"),
        (floor(x), "floor"),
        (Piecewise((1, tanh(x) > b), (0, True)), "tanh"),
        (Piecewise((1, exp(x) > b), (0, True)), "exp"),
        (Abs(b * x + 1) * Abs(b), "b"),
    ],
    ids=str,
)
def test_what_cannot_be_decided_is_named(function, name):
    with pytest.raises(Unsupported) as caught:
        normal_form(function)
    assert name in str(caught.value)


@pytest.mark.parametrize("function", [1 / Max(x, 0), log(Max(x, 0)), Piecewise((x, x > 0))], ids=str)
def test_undefined_on_an_interval(function):
    with pytest.raises(DomainError):
        normal_form(function)


def test_single_points_do_not_count():
    assert normal_form(Piecewise((5, Eq(x, 0)), (sin(x) / x, True))).terms == (Term(sin(x) / x, None, 0),)


def test_small_numbers_are_not_taken_for_zero():
    tiny = log(exp(-30) + 1)
    assert sign_of(tiny) == 1 and sign_of(-tanh(tiny)) == -1 and sign_of(sqrt(2) - sqrt(2 + exp(-60))) == -1
    assert sign_of(sqrt(2) * sqrt(3) - sqrt(6)) == 0
    assert breakpoints(normal_form(Max(x, tiny) + Max(x, 0))) == (0, tiny)
