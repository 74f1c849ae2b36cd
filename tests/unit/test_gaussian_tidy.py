"""Form: what a reader sees, counted against the formulas that the literature prints."""

import pytest
from sympy import Abs, Max, Min, Piecewise, Rational, Symbol, asin, atan2, count_ops, cse, erf, exp, pi, sin, sqrt

from derive.gaussian.answer import answer
from derive.gaussian.node import pair, single
from derive.gaussian.special import BivariateNormalCdf, NormalCdf
from derive.program.symbols import DELTA, Q1, Q2, K, Q, X

A = Symbol("a", real=True)
HALF = Rational(1, 2)
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


RHO = K / sqrt(Q1 * Q2)
ALPHA = Symbol("alpha", positive=True)


def half_line(q1, q2):
    """E u 1{u > 0} (e^v - 1) 1{v < 0} as one writes it by hand: tilt by e^v, then Stein."""
    delta = q1 * q2 - K**2
    tail = sqrt(q1 / (2 * pi)) * (exp(delta / (2 * q1)) * NormalCdf(-sqrt(delta / q1)) - 1 / sqrt(4))
    return K * exp(q2 / 2) * BivariateNormalCdf(K / sqrt(q1), -sqrt(q2), -RHO) + tail


# Leaky ReLU from Cho and Saul 2009, equation 6, by linearity; ELU written by hand from the five bivariate normal
# probabilities that Tsuchida et al. 2021 use; hard tanh term by term from its two knots.
WRITTEN = {
    "leaky relu": (
        Piecewise((X, X > 0), (A * X, True)),
        (1 - A) ** 2 * (sqrt(Q1 * Q2 - K**2) + K * ANGLE) / (2 * pi) + A * K,
    ),
    "elu": (
        Piecewise((X, X > 0), (ALPHA * (exp(X) - 1), True)),
        (sqrt(Q1 * Q2 - K**2) + K * ANGLE) / (2 * pi)
        + ALPHA * (half_line(Q1, Q2) + half_line(Q2, Q1))
        + ALPHA**2
        * (
            exp((Q1 + Q2 + 2 * K) / 2) * BivariateNormalCdf(-(Q1 + K) / sqrt(Q1), -(Q2 + K) / sqrt(Q2), RHO)
            - exp(Q1 / 2) * BivariateNormalCdf(-sqrt(Q1), -K / sqrt(Q2), RHO)
            - exp(Q2 / 2) * BivariateNormalCdf(-K / sqrt(Q1), -sqrt(Q2), RHO)
            + ANGLE / (2 * pi)
        ),
    ),
}


def operations(expr):
    """Operations after common-subexpression elimination."""
    shared, (rest,) = cse(expr, order="none")
    return sum(count_ops(part) for _, part in shared) + count_ops(rest)


@pytest.mark.parametrize("name", [*PRINTED, *WRITTEN])
def test_operations_after_sharing(name):
    """At most 1.3 times the operations of the formula as printed or written by hand; the classics at most as many."""
    f, printed = {**PRINTED, **WRITTEN}[name]
    closed = answer(pair(f, f)).closed
    bound = 1.0 if name in ("relu", "erf", "gelu") else 1.3
    assert operations(closed) <= bound * operations(printed), (operations(closed), operations(printed))
    for point in ({Q1: 2, Q2: 3, K: 1, DELTA: 5}, {Q1: 1, Q2: 1, K: -HALF, DELTA: 3 * HALF / 2}):
        assert abs((closed - printed).subs({**point, A: HALF, ALPHA: 3}).evalf(30)) < 1e-25


@pytest.mark.parametrize(
    ("f", "most"), [(Max(-1, Min(1, X)), 100), (X * Max(0, Min(6, X + 3)) / 6, 150), (Max(0, Min(6, X)), 120)]
)
def test_knots_are_merged(f, most):
    """One-sided steps: a product of two knots with two knots is no more than four bivariate functions."""
    closed = answer(pair(f, f)).closed
    assert len(closed.atoms(BivariateNormalCdf)) <= 4
    assert operations(closed) <= most


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
