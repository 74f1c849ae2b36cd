"""Results as finite sums: kind, numbers, derivatives, parameters."""

from fractions import Fraction

import pytest
from sympy import Rational

from derive import EocError, Kind, theory
from derive.gaussian.node import GaussianE
from derive.program.symbols import Q
from derive.records import Unsupported


def agree(result, **values):
    series = result.as_series("1e-13")
    assert series.kind is Kind.SERIES
    value, truth = series.number(**values), result.number(**values)
    assert value.overlaps(truth)
    assert value.rad < 1e-11
    return series


def test_theory_of_tanh():
    t = theory("tanh(x)")
    series = agree(t.variance_map, q=1, sigma_w=1.5, sigma_b=0.1)
    assert not series.closed.has(GaussianE)
    scale = series.sums[series.nodes[0]].mixture.scales[3]
    assert series.closed.has(Q + Rational(scale.numerator, scale.denominator) ** 2)
    agree(t.chi, q="1e-6", sigma_w=1.5)
    agree(t.chi_parallel, q=1, sigma_w=1.5)
    for c in (0.5, 1, -1):
        agree(t.correlation_map, q1=1, q2=2, c=c, sigma_w=1.5, sigma_b=0.1)


def test_parameters_and_derivatives():
    t = theory("swish").variance_map
    agree(t, q=1, beta=2, sigma_w=1.5, sigma_b=0.1)
    agree(t.diff("beta"), q=1, beta=2, sigma_w=1.5)
    series = t.as_series()
    assert series.diff("q").number(q=1, beta=2, sigma_w=1).overlaps(t.diff("q").number(q=1, beta=2, sigma_w=1))
    assert series.subs(beta=2).number(q=1, sigma_w=1, sigma_b=0).overlaps(t.number(q=1, beta=2, sigma_w=1, sigma_b=0))


def test_the_bound_is_stated_and_in_the_radius():
    series = theory("tanh(x)").variance_map.as_series("1e-6")
    (bound,) = series.bounds
    assert 0 < float(bound) <= 1e-6
    at = {"q": 1, "sigma_w": 2, "sigma_b": 0}
    assert float(series.number(**at).rad) >= 4 * float(bound) * 0.99
    assert repr(series).startswith("<SERIES")


def test_closed_results_stay_as_they_are_and_others_are_refused():
    relu = theory("relu").variance_map
    assert relu.as_series() is relu
    with pytest.raises(Unsupported, match="tanh"):
        theory("mish").variance_map.as_series()
    with pytest.raises(EocError, match="accuracy"):
        theory("tanh(x)").chi.as_series("soon")
    assert Fraction(theory("tanh(x)").chi.as_series(1e-12).accuracy) == Fraction(1, 10**12)
