"""Functions that grow slower than any power, or turn over slowly: large variances, correlations next to -1 and 1."""

import time
from fractions import Fraction

import mpmath
import pytest
import sympy as sp
from flint import arb

from derive import Activation
from derive.gaussian.enclosure import enclose
from derive.gaussian.enclosure import pair as pair_rules
from derive.gaussian.enclosure.budget import OutOfTime, check, limited
from derive.gaussian.node import pair, single
from derive.program.symbols import X

SLOW = {
    "asinh(x)": mpmath.asinh,
    "log(1 + x**2)": lambda x: mpmath.log(1 + x * x),
    "sign(x)*log(1 + abs(x))": lambda x: mpmath.sign(x) * mpmath.log(1 + abs(x)),
    "x/sqrt(1 + abs(x))": lambda x: x / mpmath.sqrt(1 + abs(x)),
    "softplus(x**2)": lambda x: mpmath.log(1 + mpmath.exp(-x * x)) + x * x,
    "sin(asinh(x))": lambda x: mpmath.sin(mpmath.asinh(x)),
}


def asked(text: str):
    return Activation(text).expr


@pytest.mark.parametrize("text", sorted(SLOW))
@pytest.mark.parametrize("q", [10, 10**4, 10**6])
def test_second_moments_by_another_quadrature(text, q):
    """Gauss-Legendre of mpmath on octaves of x, to 16 digits."""
    node = single(asked(text) ** 2)
    start = time.thread_time()
    found = enclose(node, {"q": q})
    assert time.thread_time() - start < 2
    with mpmath.workdps(25):
        marks = [0, *(mpmath.mpf(2) ** k for k in range(-4, 5)), mpmath.sqrt(q) * 3, mpmath.sqrt(q) * 10]
        marks = sorted(marks + [mpmath.sqrt(q) / 4**k for k in range(6)])
        density = mpmath.sqrt(2 / (mpmath.pi * q))
        value = mpmath.quad(lambda x: SLOW[text](x) ** 2 * mpmath.exp(-x * x / (2 * q)) * density, marks)
    assert abs(found.mid() - arb(mpmath.nstr(value, 22))) < abs(found) * arb("1e-15")
    assert found.rad() < abs(found).mid() * arb("1e-15")


@pytest.mark.slow
@pytest.mark.parametrize("text", ["asinh(x)", "x/sqrt(1 + x**2)"])
def test_both_rules_for_two_variables_agree(monkeypatch, text):
    """The grid and the conditional law share no quadrature."""
    for f in (asked(text), sp.diff(asked(text), X)):
        law = {"q1": 10**4, "q2": 10**6, "c": 1 - Fraction(1, 5000)}
        monkeypatch.setattr(pair_rules, "NARROW", 0.0)
        grid = enclose(pair(f, f), law)
        monkeypatch.setattr(pair_rules, "NARROW", 1.0)
        strip = enclose(pair(f, f), law)
        assert grid.overlaps(strip)
        scale = (enclose(single(f**2), {"q": law["q1"]}) * enclose(single(f**2), {"q": law["q2"]})).sqrt()
        assert grid.rad() < scale * arb("1e-14")
        assert strip.rad() < scale * arb("1e-14")
        assert not (strip * (1 + arb("1e-12"))).overlaps(grid)


@pytest.mark.parametrize("text", ["asinh(x)", "sign(x)*log(1 + abs(x))"])
def test_next_to_one_at_large_variance(text):
    """Between the values at c = 1 - 1e-4 and 1 (a power series with non-negative coefficients), and odd in c."""
    f = asked(text)
    values = []
    for c in (1 - Fraction(1, 10**4), 1 - Fraction(1, 10**6), Fraction(1)):
        start = time.thread_time()
        values.append(enclose(pair(f, f), {"q1": 10**6, "q2": 10**6, "c": c}))
        assert time.thread_time() - start < 4
    assert values[0] < values[1] < values[2]
    assert values[1].rad() < values[1] * arb("1e-14")
    mirrored = enclose(pair(f, f), {"q1": 10**6, "q2": 10**6, "c": Fraction(1, 10**6) - 1})
    assert mirrored.overlaps(-values[1])
    assert mirrored.rad() < values[1] * arb("1e-14")


def test_a_question_ends_when_its_time_is_over():
    node = pair(asked("asinh(x)"), asked("asinh(x)"))
    with limited(0.0), pytest.raises(OutOfTime, match="too long"):
        enclose(node, {"q1": 1, "q2": 1, "c": Fraction(1, 2)})
    assert enclose(node, {"q1": 1, "q2": 1, "c": Fraction(1, 2)}).is_finite()


def test_an_inner_limit_does_not_outlast_an_outer_one():
    with limited(0.0), limited(100.0), pytest.raises(OutOfTime):
        check("here")
    check("outside of any limit")
