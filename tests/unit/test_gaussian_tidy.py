"""Form: what a reader sees, counted against the formulas that the literature prints."""

import pytest
from sympy import Abs, Max, Symbol, asin, atan2, count_ops, erf, exp, pi, sin, sqrt

from derive.gaussian.answer import answer
from derive.gaussian.node import pair, single
from derive.gaussian.special import NormalCdf
from derive.program.symbols import DELTA, Q1, Q2, K, Q, X

A = Symbol("a", real=True)
GELU, RELU = X * NormalCdf(X), Max(X, 0)
ANGLE = pi / 2 + asin(K / sqrt(Q1 * Q2))
DET = (1 + Q1) * (1 + Q2) - K**2

# Each as its paper prints it, in K and q1 q2: Cho and Saul 2009, equations 6 to 8 (halved); Williams 1997,
# equation 11 (with bias dropped); Tsuchida et al. 2021, Proposition 2 (GELU); Rahimi and Recht 2007 (sine).
PRINTED = {
    "relu": (RELU, (sqrt(Q1 * Q2 - K**2) + K * ANGLE) / (2 * pi)),
    "squared relu": (RELU**2, (3 * K * sqrt(Q1 * Q2 - K**2) + (Q1 * Q2 + 2 * K**2) * ANGLE) / (2 * pi)),
    "erf": (erf(X), 2 / pi * asin(2 * K / sqrt((1 + 2 * Q1) * (1 + 2 * Q2)))),
    "gelu": (
        GELU,
        K / 4
        + K * asin(K / sqrt((1 + Q1) * (1 + Q2))) / (2 * pi)
        + (Q1 * Q2 * DET + K**2) / (2 * pi * (1 + Q1) * (1 + Q2) * sqrt(DET)),
    ),
    "sine": (sin(X), exp(-(Q1 + Q2) / 2) * (exp(K) - exp(-K)) / 2),
    "absolute value": (Abs(X), 2 * (sqrt(Q1 * Q2 - K**2) + K * asin(K / sqrt(Q1 * Q2))) / pi),
}


@pytest.mark.parametrize("name", PRINTED)
def test_no_longer_than_the_literature(name):
    f, printed = PRINTED[name]
    closed = answer(pair(f, f)).closed
    bound = {"sine": 1.5}.get(name, 1.0)
    assert count_ops(closed) <= bound * count_ops(printed)
    point = {Q1: 2, Q2: 3, K: 1, DELTA: 5}
    assert abs((closed - printed).subs(point).evalf(30)) < 1e-25


def test_goldens():
    assert answer(pair(RELU, RELU)).closed == (sqrt(DELTA) + K * atan2(sqrt(DELTA), -K)) / (2 * pi)
    assert answer(single(RELU**2)).closed == Q / 2
    assert answer(pair(erf(X), erf(X))).closed == 2 * asin(2 * K / (sqrt(2 * Q1 + 1) * sqrt(2 * Q2 + 1))) / pi
    assert count_ops(answer(pair(GELU, GELU)).closed) <= 36


def test_no_removable_infinity_on_the_boundary():
    """At c = 1 the correlation of max of two units is finite although its raw form is 0/0."""
    for f in (RELU, Abs(X), RELU**2):
        closed = answer(pair(f, f)).closed
        for sign in (1, -1):
            value = closed.subs({Q1: 2, Q2: 2, K: 2 * sign, DELTA: 0})
            direct = answer(single(f * f.subs(X, sign * X))).closed.subs(Q, 2)
            assert abs((value - direct).evalf(20)) < 1e-18


def test_symbolic_slopes_share_one_angle():
    closed = answer(pair(Max(X, 0) - A * Max(-X, 0), Max(X, 0) - A * Max(-X, 0))).closed
    assert len(closed.atoms(atan2)) == 1 and not closed.has(asin)
    assert count_ops(closed) <= 24
