"""Pieces with numeric parameters, and growth bounds proved from the formula."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import acb, arb, ctx
from sympy import Abs, Max, Min, Piecewise, S, Symbol, atan, cosh, coth, erf, exp, log, sech, sin, sqrt, tan, tanh

from derive.activation.interval import INF, NEG_INF
from derive.activation.pieces import piece_function
from derive.activation.ranges import Ranges
from derive.program.operations.normal_cdf import NormalCdf
from derive.program.operations.sigmoid import Sigmoid
from derive.program.operations.softplus import Softplus
from derive.program.symbols import X as x
from derive.records import EocError, Unsupported

a = Symbol("a", positive=True)
b = Symbol("b", real=True)


def test_breaks_are_exact_where_rational():
    f = piece_function(Max(-a, Min(a, x)) + Piecewise((1, x**2 > 2), (0, True)), {"a": Fraction(1, 3)})
    assert f.exact_breaks == (None, Fraction(-1, 3), Fraction(1, 3), None)
    with ctx.workprec(300):
        assert (f.breaks[3] - arb(2).sqrt()).contains(0) and f.breaks[3].rad() < arb(2) ** -250


def test_breaks_at_roots_of_a_cubic():
    f = piece_function(Piecewise((x, x**3 - 3 * x > 1), (0, True)))
    assert f.exact_breaks == (None, None, None)
    for edge, approximate in zip(f.breaks, (-1.532088886, -0.347296355, 1.879385242), strict=True):
        assert (edge**3 - 3 * edge - 1).contains(0) and float(edge.mid()) == pytest.approx(approximate, abs=1e-8)
    assert [float(f.at(p).mid()) for p in (-2, -1, 1, 2)] == [0, -1, 0, 2]


def test_parameters_given_as_balls():
    third = arb(1) / 3
    f = piece_function(Max(-a, Min(a, x)), {"a": third})
    assert f.exact_breaks == (None, None) and f.breaks[0].overlaps(-third)
    assert f.at(1).overlaps(third) and f.at(Fraction(1, 4)) == arb(0.25)
    # steps whose order symbols leave open are put in order by the numbers
    steps = Piecewise((2, x < a), (3, True)) * Piecewise((5, x < b), (7, True))
    g = piece_function(steps, {"a": third, "b": arb(-1) / 7})
    assert [float(g.at(p).mid()) for p in (-1, 0, 1)] == [10, 14, 21]
    with pytest.raises(Unsupported, match="order of breakpoints"):
        piece_function(steps, {"a": arb(1, 0.5), "b": arb(1, 0.25)})


def test_value_at_a_jump_is_the_mean():
    f = piece_function(Piecewise((x, x > 1), (4, True)))
    assert f.at(1) == arb(2.5) and f.at(arb(1)) == arb(2.5)
    wide = f.at(arb(1, 0.1))
    assert wide.contains(4) and wide.contains(arb("1.05"))


def test_pieces_on_complex_balls():
    f = piece_function(x / (1 + Abs(x)))
    z = acb(0.5, 0.25)
    assert f.value(1, z).overlaps(z / (1 + z)) and f.value(0, z).overlaps(z / (1 - z))
    assert not f.value(1, acb(arb(-1, 0.1)), True).is_finite()
    g = piece_function(sqrt(1 + x**2))
    assert g.value(0, acb(0.5), True).is_finite()
    assert not g.value(0, acb(0, arb(1, 0.1)), True).is_finite()


def test_missing_parameter_is_named():
    with pytest.raises(EocError, match="parameter a"):
        piece_function(a * x)


BOUNDED = [
    # expression, side, b, s, n of the bound
    (exp(b * x**2), 1, 0, "b", 0),
    (x * exp(-(x**2) / 2), 1, 0, -0.5, 1),
    (x * NormalCdf(x), -1, 0, -0.5, 1),
    (x * NormalCdf(x), 1, 0, 0, 1),
    (x * Sigmoid(x), -1, -1, 0, 1),
    (x * tanh(Softplus(x)), -1, -1, 0, 1),
    (x * tanh(log(1 + exp(x))), -1, -1, 0, 1),
    (x / (1 + exp(-x)), -1, -1, 0, 1),
    (Softplus(x), 1, 0, 0, 1),
    (log(cosh(3 * x)), -1, 0, 0, 1),
    (sech(x), 1, -1, 0, 0),
    (exp(x) * cosh(2 * x), 1, 3, 0, 0),
    (exp(2 * x) / (1 + exp(2 * x)) ** 2, 1, -2, 0, 0),
    (x**3 / (x**2 - x + 1), 1, 0, 0, 1),
    (x**2 * atan(x) + sin(x**3), -1, 0, 0, 2),
    (exp(-(x**4) + x), 1, 0, "negative", 0),
    (exp(exp(x)), -1, 0, 0, 0),
    (erf(x) / sqrt(1 + x**2), 1, 0, 0, 0),
    (S(2) ** x, 1, float(log(2)), 0, 0),
    (S(7), 1, 0, 0, 0),
]


@pytest.mark.parametrize("expr, side, linear, quadratic, power", BOUNDED, ids=lambda v: str(v))
def test_growth_bounds_are_sharp_and_hold(expr, side, linear, quadratic, power):
    parameter = Fraction(2, 7)
    f = piece_function(expr, {"b": parameter})
    bound = f.tail(side, 4)
    assert float(bound.b) == pytest.approx(linear, abs=1e-12)
    if quadratic == "negative":
        assert bound.s < 0
    else:
        assert float(bound.s) == pytest.approx(float(parameter) if quadratic == "b" else quadratic, abs=1e-12)
    assert bound.n == power
    with ctx.workprec(300):
        for point in (4, 5, 9, 20, 60):
            assert not abs(f.at(side * point)) > bound.at(arb(point))


@pytest.mark.parametrize(
    "expr, part",
    [(1 + x * exp(exp(x)), "exp(exp(x))"), (tanh(x) + exp(x**3), "exp(x**3)"), (x * tan(2 * x), "tan(2*x)")],
    ids=str,
)
def test_what_grows_too_fast_is_named(expr, part):
    with pytest.raises(Unsupported) as caught:
        piece_function(expr).tail(1, 3)
    assert caught.value.where == part


def test_a_tail_may_start_at_zero_and_before_breakpoints():
    f = piece_function(Piecewise((exp(-x), x < 2), (x - 2, True)))
    for start in (0, 1, 2, 5):
        bound = f.tail(1, start)
        for point in (0, 1, Fraction(3, 2), 2, 3, 50):
            if point >= start:
                assert not abs(f.at(point)) > bound.at(arb(int(2 * point)) / 2)
    assert piece_function(Max(x - 2, 0)).tail(-1, 1).at(arb(3)) == 0
    with pytest.raises(EocError, match="distance"):
        f.tail(1, -1)


def test_a_tail_is_bounded_by_parts_where_the_structure_decides_only_far_out():
    f = piece_function(x / (x**2 - x + 1))
    for start in (0, 1):
        bound = f.tail(1, start)
        assert bound.n == 0 and bound.b == 0 and bound.s == 0 and bound.a < 2
    with pytest.raises(Unsupported):
        piece_function(x / (x**2 - 3 * x + 1)).tail(1, 0)


@pytest.mark.parametrize(
    "expr, expected",
    [
        (1 / (1 + exp(-x)) - S.Half, "odd"),
        (Sigmoid(x) - S.Half, "odd"),
        (NormalCdf(x) * NormalCdf(-x), "even"),
        (NormalCdf(2 * x) - S.Half, "odd"),
        ((exp(x) - exp(-x)) / (exp(x) + exp(-x)), "odd"),
        (x * Sigmoid(x) - x / 2, "even"),
        (Max(x, 0) - Max(-x, 0), "odd"),
        (Max(x - 1, 0) + Max(-x - 1, 0), "even"),
        (Max(x - 1, 0) - x / 2, None),
        (x * Sigmoid(x), None),
        (x**3 + S(1) / 10**12, None),
        (S.Zero, "even"),
    ],
    ids=str,
)
def test_parity_is_proved(expr, expected):
    assert piece_function(expr).parity == expected


def test_ranges_contain_sampled_values():
    cases = [x**3 - 7 * x, x**2 - x, exp(-(x**2)) * x, 1 / (x**2 - x + 1), sin(x) * atan(x), Softplus(x) ** 2, sech(x)]
    for expr in cases:
        f = piece_function(expr)
        for low, high in ((arb(-2), arb(3)), (arb(1), INF), (NEG_INF, arb(-1)), (arb("0.3"), arb("0.4"))):
            found = Ranges(low, high, {})(expr)
            for k in range(9):
                t = arb(k) / 8
                point = (
                    low + t * (high - low)
                    if low.is_finite() and high.is_finite()
                    else (low + 50 * t if low.is_finite() else high - 50 * t)
                )
                value = f.at(point)
                assert not value < found.low and not value > found.high


@pytest.mark.parametrize(
    "expr, point, limit",
    [
        (tanh(x) / x, 0, 1),
        ((x - sin(x)) / x**3, 0, Fraction(1, 6)),
        (x / (exp(x) - 1), 0, 1),
        (x * coth(x), 0, 1),
        ((x**2 - 1) / (x - 1), 1, 2),
        ((cosh(2 * x) - 1) / (3 * x**2) + x, 0, Fraction(2, 3)),
        (Piecewise(((exp(x) - 1) / x, x > 0), (1, True)), 0, 1),
    ],
    ids=str,
)
def test_values_at_a_removable_singularity(expr, point, limit):
    f = piece_function(expr)
    exact = arb(limit) if isinstance(limit, int) else arb(limit.numerator) / limit.denominator
    assert f.at(point).overlaps(exact) and f.at(point).rad() < 1e-12
    piece = len(f.breaks)
    z = acb(arb(point, 0.01), arb(0, 0.01))
    inside = f.value(piece, z, True)
    assert inside.is_finite() and inside.real.rad() < 0.2
    for near in (acb(point + 0.004, 0.003), acb(point, -0.01)):
        assert inside.overlaps(f.value(piece, near, True))
    assert not abs(f.at(point)) > f.tail(1, 0).at(arb(point))
    assert f.tail(1, 0).a.is_finite()


def test_a_pole_is_not_filled():
    f = piece_function(tanh(x) / x**2)
    assert not f.value(0, acb(0, arb(0, 0.01)), True).is_finite()
    assert piece_function(exp(-1 / x**2)).singularities == ((),)
    with pytest.raises(Unsupported):
        f.tail(1, 0)
