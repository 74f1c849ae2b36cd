"""Algebraic integrands: one-variable closed forms by normal distribution and Bessel functions."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from mpmath import mp, mpf, workdps
from sympy import Heaviside, Piecewise, Rational, Symbol, exp, pi, sqrt, tanh

from derive import Activation, expect
from derive.gaussian.answer import answer, derivation
from derive.gaussian.node import GaussianE, single
from derive.gaussian.special import NormalCdf, ScaledBesselK0, ScaledBesselK1
from derive.program.symbols import Q, X
from derive.records import Kind

A = Symbol("a", positive=True)
B = Symbol("b", positive=True)


def test_the_three_integrals_it_starts_from():
    mills = sqrt(2 * pi / (A * Q)) * exp(A / (2 * Q)) * NormalCdf(-sqrt(A / Q))
    assert (answer(single(1 / (X**2 + A))).closed - mills).expand() == 0
    t = A / (4 * Q)
    assert (answer(single(1 / sqrt(X**2 + A))).closed - ScaledBesselK0(t) / sqrt(2 * pi * Q)).expand() == 0
    root = A * (ScaledBesselK0(t) + ScaledBesselK1(t)) / (2 * sqrt(2 * pi * Q))
    assert (answer(single(sqrt(X**2 + A))).closed - root).expand() == 0


def test_even_powers_need_neither():
    assert answer(single((X + sqrt(X**2 + A)) ** 2 / 4)).closed == A / 4 + Q / 2


CLOSED = [
    X**4 / sqrt(3 + 2 * X**2) ** 3,
    (X**2 + A) ** Rational(-7, 2),
    X**6 * (A + B * X**2) ** -3,
    (X**3 + X**2) * (A + X**2) ** Rational(-5, 2) * Heaviside(-X),
    Piecewise((X**2, X > 0), (X**2 / (1 + A * X**2), True)),
    Piecewise((X * sqrt(1 + X**2) ** 3, X > 0), (2, True)),
    1 + 1 / (1 + 2 * X**2 + X**4),
]


@pytest.mark.parametrize("body", CLOSED, ids=str)
def test_closed(body):
    """`answer` compares each with an enclosure at seven points."""
    found = answer(single(body))
    assert found.closed is not None and found.cancels


OPEN = [X / (1 + X**2) * Heaviside(X), 1 / ((1 + X**2) * (2 + X**2)), sqrt(X**2 + X + 1), Heaviside(X - 1) / (1 + X**2)]


@pytest.mark.parametrize("body", [*OPEN, 1 / (1 + Symbol("p", real=True) * X**2)], ids=str)
def test_open(body):
    assert answer(single(body)).kind is Kind.INTEGRAL


@pytest.mark.parametrize("name", ["isru", "isrlu", "squareplus", "bent_identity"])
def test_the_moments_of_the_families_are_closed(name):
    phi = Activation(name)
    slope = phi.derivative()
    assert {expect(f).kind for f in (phi, phi**2, slope, slope**2)} <= {Kind.EXACT, Kind.SPECIAL}


def test_the_proof_has_the_rewriting_on_top():
    step = derivation(single(X**2 + 1 / (1 + X**2)))
    assert step.rule == "linearity" and {child.rule for child in step.children} == {"moments", "algebraic"}
    assert {child.before for child in step.children} == step.after.atoms(GaussianE)


def test_code_integrates_where_the_closed_form_cancels():
    result = expect(Activation("isru") ** 2)
    code = result.compile("numpy")
    for q in (1e-8, 1e-3, 1.0, 1e3):
        assert abs(code(q, alpha=2.0) / float(result.number(q=q, alpha=2).mid) - 1) < 1e-13


def test_the_closed_part_of_a_mixed_function_is_printed():
    closed = expect("x**2 if x > 0 else tanh(x)**2").closed
    (rest,) = closed.atoms(GaussianE)
    assert closed - rest == Q / 2 and not rest.body.has(X**2)
    assert expect(1 - tanh(X) ** 2).closed.has(tanh)


@pytest.mark.parametrize("x", ["1/1000", "1", "77/2", "5000"])
def test_bessel_functions(x):
    with workdps(30):
        exact = mpf(Fraction(x).numerator) / Fraction(x).denominator
        for order, head in ((0, ScaledBesselK0), (1, ScaledBesselK1)):
            value = mpf(str(head(Rational(x)).evalf(30)))
            assert abs(value / (mp.exp(exact) * mp.besselk(order, exact)) - 1) < mpf("1e-25")


def test_derivatives_of_bessel_functions():
    for head in (ScaledBesselK0, ScaledBesselK1):
        moved = [head(A).subs(A, 1 + side * Rational(1, 10**12)).evalf(50) for side in (1, -1)]
        slope = head(A).diff(A).subs(A, 1).evalf(30)
        assert abs((moved[0] - moved[1]) / (2 * Rational(1, 10**12)) - slope) < 1e-20


def test_code_of_bessel_functions():
    from derive.emit import EmittedFunction, emit, load

    function = EmittedFunction("f", ScaledBesselK0(X) + ScaledBesselK1(X), ("x",), (), "", {})
    for backend, array in (("numpy", np.float64), ("torch", lambda v: torch.tensor(v, dtype=torch.float64))):
        f = load(emit((function,), backend, "f")).f
        for x in (1e-3, 1.0, 300.0):
            want = sum(mp.exp(x) * mp.besselk(n, x) for n in (0, 1))
            assert abs(float(f(array(x))) / want - 1) < 1e-14
