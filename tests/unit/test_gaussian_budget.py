"""Monstrous questions: an enclosure and the blockers after a bounded time, never a hang."""

import time

import pytest
from sympy import sin

from derive import Activation, Kind, expect
from derive.gaussian.answer import answer
from derive.gaussian.node import pair, single
from derive.gaussian.polynomials import MAX_DEGREE, as_polynomial, written_out
from derive.gaussian.special import NormalCdf
from derive.program.symbols import X

MONSTERS = [
    "(x + sin(x) + sin(2*x) + sin(3*x) + sin(5*x))**8",
    "(tanh(x) + sin(x) + max(x, 0) + erf(x) + x*exp(-x**2))**5",
    "x**60*Phi(x)**5",
    "(relu(x) + abs(x - 1) + min(x, 2)*sin(3*x) + erf(x - 1)*exp(x))**3*Phi(x)**2",
]


def test_the_budget_stops_a_derivation():
    """The clock is one of the blockers; the same question with time has an answer."""
    node = single(X**2 * NormalCdf(X) ** 2)
    hurried = answer(node, 0.0)
    assert (hurried.kind, hurried.closed, hurried.blockers) == (Kind.INTEGRAL, None, ("the time budget",))
    assert answer(node).closed is not None


def test_nothing_is_multiplied_out_to_be_looked_at():
    start = time.process_time()
    monster = sum((sin(k * X) for k in range(1, 9)), X) ** 30
    assert as_polynomial(monster, (X,)) is None
    assert as_polynomial((1 + X) ** (MAX_DEGREE + 1), (X,)) is None
    assert written_out(monster) == 48903492
    assert time.process_time() - start < 2
    assert as_polynomial((1 + X) ** 3, (X,)) == {(3,): 1, (2,): 3, (1,): 3, (0,): 1}


@pytest.mark.slow
def test_a_power_that_would_fill_the_memory():
    start = time.process_time()
    monster = sum((sin(k * X) for k in range(1, 9)), X) ** 30
    assert answer(pair(monster, monster)).blockers == ("more than 5000 products of terms",)
    assert time.process_time() - start < 60


@pytest.mark.slow
@pytest.mark.parametrize("text", MONSTERS)
def test_monsters_get_enclosures(text):
    """One variable and pairs: under half a minute of processor time each, with a finite certified number."""
    f = Activation(text)
    for result, values in ((expect(f), {"q": 1}), (expect(f, f), {"q1": 1, "q2": "1/2", "c": "1/2"})):
        start = time.process_time()
        value = result.number(**values)
        assert result.kind in (Kind.EXACT, Kind.SPECIAL, Kind.INTEGRAL)
        assert result.kind is not Kind.INTEGRAL or result.blockers
        assert value.rad < 1e-12 * abs(value.mid)
        assert time.process_time() - start < 30
