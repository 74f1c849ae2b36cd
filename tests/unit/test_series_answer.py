"""Expectations of the logistic family as finite sums, against rigorous enclosures."""

from fractions import Fraction

import flint
import pytest
from sympy import Max, Piecewise, Rational, Symbol, cosh, exp, log, tanh

from derive.gaussian import numbers
from derive.gaussian.enclosure import enclose
from derive.gaussian.node import pair, single
from derive.gaussian.series import series_answer
from derive.gaussian.series.heads import parts
from derive.gaussian.stops import Blocked
from derive.program.operations.sigmoid import Sigmoid
from derive.program.operations.softplus import Softplus
from derive.program.symbols import X
from derive.records import EocError, Kind, Unsupported

ACCURACY = Fraction(1, 10**9)
SILU = X * Sigmoid(X)
SLOPE = SILU.diff(X)
BETA = Symbol("beta", positive=True)

ONE = {
    "tanh": tanh(X),
    "tanh, shifted": tanh(X - Rational(1, 3)),
    "tanh, scaled and mirrored": Rational(7, 5) * tanh(-Rational(2, 3) * X + 1),
    "tanh squared": tanh(X) ** 2,
    "tanh slope squared": (1 - tanh(X) ** 2) ** 2,
    "tanh fourth power": tanh(X) ** 4,
    "sigmoid squared": Sigmoid(X) ** 2,
    "silu": SILU,
    "silu squared": SILU**2,
    "silu slope squared": SLOPE**2,
    "quick gelu squared": (X * Sigmoid(Rational(1702, 1000) * X)) ** 2,
    "lisht squared": (X * tanh(X)) ** 2,
    "logistic spelled out": 1 / (1 + exp(-X)),
    "its slope": exp(-X) / (1 + exp(-X)) ** 2,
    "softplus": Softplus(X),
    "log cosh squared": log(cosh(X)) ** 2,
    "penalized": Piecewise((X, X > 0), (tanh(X) / 4, True)) ** 2,
    "two places": tanh(X - 1) * tanh(2 * X),
}


def reached(node, values, digits=16, accuracy=ACCURACY):
    """The sum and its error bound as a ball."""
    full = {name: Fraction(value) for name, value in values.items()}
    with flint.ctx.workprec(170):
        found = series_answer(node, accuracy)
        law = numbers.numeric_law(node, full, digits)
        given = {**full, **{k: v for k, v in law.items() if k != "edge"}}
        bounds = [numbers.evaluate(bound, given, digits)[0].upper() for bound in found.bounds]
        return found.ball(given) + flint.arb(0, min(bounds)), min(bounds)


@pytest.mark.parametrize("name", ONE)
def test_one_variable(name):
    node = single(ONE[name])
    for q in ("1e-6", "1/3", "7", "1e4"):
        value, bound = reached(node, {"q": q})
        assert value.overlaps(enclose(node, {"q": Fraction(q)}, 16))
        assert bound < 1e-8 * max(1, float(Fraction(q)))


PAIRS = {
    "tanh": (tanh(X), tanh(X)),
    "tanh, scaled, mirrored, shifted": (2 * tanh(-X / 3), tanh(2 * X + 1)),
    "silu": (SILU, SILU),
    "tanh and relu": (tanh(X), Max(X, 0)),
    "sigmoid and a bump": (Sigmoid(X - 1), exp(-(X**2))),
}


@pytest.mark.parametrize("name", PAIRS)
def test_two_variables(name):
    node = pair(*PAIRS[name])
    for q1, q2, c in (("1e-6", "1e-6", "1/2"), ("1", "2", "-0.999"), ("3", "1/4", "0"), ("1e4", "1", "0.3")):
        value, _ = reached(node, {"q1": q1, "q2": q2, "c": c})
        assert value.overlaps(enclose(node, {"q1": Fraction(q1), "q2": Fraction(q2), "c": Fraction(c)}, 16))
    for c in (1, -1):
        value, bound = reached(node, {"q1": 1, "q2": 2, "c": c})
        assert value.overlaps(enclose(node, {"q1": Fraction(1), "q2": Fraction(2), "c": Fraction(c)}, 16))
        assert bound < 1e-8


def test_half_spaces_beside_logistic_functions():
    body = Max(X, 0) * Sigmoid(X) - 2
    value, _ = reached(pair(body, body), {"q1": 1, "q2": "1/2", "c": "1/3"}, accuracy=Fraction(1, 1000))
    assert value.overlaps(enclose(pair(body, body), {"q1": Fraction(1), "q2": Fraction(1, 2), "c": Fraction(1, 3)}))


def test_a_parameter_stays_a_symbol():
    node = single((X * Sigmoid(BETA * X)) ** 2)
    for beta in ("1/100", "1", "30"):
        value, _ = reached(node, {"q": "2", "beta": beta})
        assert value.overlaps(enclose(node, {"q": Fraction(2), "beta": Fraction(beta)}, 16))


def test_a_power_of_one_argument_is_a_single_sum():
    for body in (tanh(X) ** 2, tanh(X) ** 4, SILU**2, SLOPE**2):
        found = series_answer(single(body), ACCURACY)
        assert found.double == 0
        assert found.kind is Kind.SERIES
        assert found.order == len(found.mixture.scales)


def test_pairs_of_scales_are_counted_once_where_they_are_alike():
    found = series_answer(single(log(cosh(X)) ** 2), ACCURACY)
    assert found.symmetric
    n = found.order
    assert sum(1 for _ in found.terms()) == n * (n + 1) // 2


def test_the_bound_sees_a_wrong_weight():
    node = single(tanh(X) ** 2)
    found = series_answer(node, ACCURACY)
    truth = enclose(node, {"q": Fraction(1)}, 16)
    with flint.ctx.workprec(170):
        right = found.ball({"q": Fraction(1)})
        values = list(found.terms())
        heaviest = max(w for w, _, s in values if s)
        wrong = right + flint.arb("1e-6") * numbers.ball(heaviest)
        error = flint.arb(0, float(found.bound))
        assert (right + error).overlaps(truth)
        assert not (wrong + error).overlaps(truth)


def test_the_small_bound_is_relative():
    _, bound = reached(pair(tanh(X), tanh(X)), {"q1": "1e-6", "q2": "1e-6", "c": "1/2"})
    assert bound < 1e-14


def test_what_is_not_of_the_family_is_named():
    with pytest.raises(Blocked, match="tanh"):
        series_answer(single(tanh(X**3)), ACCURACY)
    with pytest.raises(Blocked, match="Softplus"):
        series_answer(single(X * tanh(Softplus(X))), ACCURACY)
    with pytest.raises(EocError, match="beta"):
        series_answer(single(tanh(BETA * X) ** 2), ACCURACY).ball({"q": Fraction(1)})
    with pytest.raises(Unsupported, match="3 different"):
        series_answer(single(tanh(X) * tanh(2 * X) * tanh(3 * X)), ACCURACY)


def test_spellings_of_one_function_have_the_same_parts():
    spellings = (
        tanh(X),
        (exp(X) - exp(-X)) / (exp(X) + exp(-X)),
        (exp(2 * X) - 1) / (exp(2 * X) + 1),
        2 * Sigmoid(2 * X) - 1,
        1 - 2 / (1 + exp(2 * X)),
    )
    assert len({parts(expr) for expr in spellings}) == 1
