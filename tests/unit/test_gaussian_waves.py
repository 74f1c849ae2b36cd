"""Waves on half-spaces: the normal distribution function at a complex argument, always by real functions."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from mpmath import mp, mpf, workdps
from sympy import Heaviside, I, Max, Rational, Symbol, cos, exp, pi, sin, sqrt

from derive import expect
from derive.gaussian.answer import answer
from derive.gaussian.node import pair, single
from derive.gaussian.special import CosineNormalCdf, Dawson, NormalCdf, SineNormalCdf
from derive.program.symbols import Q, X
from derive.records import Kind

T = Symbol("t", real=True)
W = Symbol("w", real=True)


def test_cosine_of_relu_needs_no_special_function():
    assert answer(single(cos(Max(X, 0)))).closed == Rational(1, 2) + exp(-Q / 2) / 2
    assert answer(single(cos(Max(X, 0)) ** 2)).closed == Rational(3, 4) + exp(-2 * Q) / 4
    assert answer(pair(X, sin(Max(X, 0)))).kind is Kind.EXACT


def test_sine_of_relu_is_dawsons_integral():
    found = answer(single(sin(W * Max(X, 0))))
    assert found.kind is Kind.SPECIAL
    assert (found.closed - Dawson(W * sqrt(Q / 2)) / sqrt(pi)).expand() == 0


CLOSED = [
    single((X + sin(W * X) ** 2) * Heaviside(X - T)),
    single((1 + X**3) * cos(2 * X + 1) * Heaviside(T - X)),
    single(exp(X) * sin(X) * Heaviside(-X)),
    single(X * sin(X + 1) * NormalCdf(X - 1)),
    pair(X**2 * Heaviside(X - 1), cos(X)),
    pair(X * sin(X) * Heaviside(X), X**2 * cos(X + 1)),
]


@pytest.mark.parametrize("node", CLOSED, ids=str)
def test_one_half_space_closes(node):
    """`answer` compares each with an enclosure at seven points."""
    found = answer(node)
    assert found.closed is not None and not found.closed.has(I)


def test_two_half_spaces_under_one_wave_are_named():
    found = answer(pair(sin(X) * Heaviside(X), Heaviside(X)))
    assert found.kind is Kind.INTEGRAL and "wave" in found.blockers[0]


@pytest.mark.parametrize("h", ["-3", "0", "0.7", "9"])
@pytest.mark.parametrize("b", ["-2", "0.01", "12"])
def test_the_functions_are_integrals(h, b):
    exact = (Rational(h), Rational(b))
    with workdps(25):
        h, b = mpf(h), mpf(b)
        inner = [n for n in range(-15, 10) if n < h]
        wave = mp.quad(lambda z: mp.expj(b * z) * mp.npdf(z), [*inner, h])
        for function, want in ((CosineNormalCdf, wave.real), (SineNormalCdf, wave.imag)):
            value = function(*exact).evalf(25)
            assert abs(mpf(str(value)) - want) < mpf("1e-20")


@pytest.mark.parametrize("function", [CosineNormalCdf(T, W), SineNormalCdf(T, W)])
@pytest.mark.parametrize("symbol", [T, W])
def test_derivatives(function, symbol):
    point = {T: Rational(7, 10), W: Rational(-13, 10)}
    step = Rational(1, 10**12)
    moved = [function.subs({**point, symbol: point[symbol] + side * step}).evalf(50) for side in (1, -1)]
    assert abs((moved[0] - moved[1]) / (2 * step) - function.diff(symbol).subs(point).evalf(30)) < 1e-20


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_code_is_accurate_from_small_to_large_variances(backend):
    array = np.float64 if backend == "numpy" else lambda q: torch.tensor(q, dtype=torch.float64)
    result = expect("(x + cos(w*x))*sin(w*x)*(x > t)")
    code = result.compile(backend)
    for q in (1e-6, 0.01, 1.0, 20.0, 300.0):
        want = result.number(q=q, w=Fraction(13, 10), t=Fraction(-2, 5))
        scale = max(1.0, q**0.5)
        assert abs(float(code(array(q), w=1.3, t=-0.4)) - float(want.mid)) < 4e-15 * scale


def test_special_functions_have_numbers_at_a_zero_argument():
    value = answer(single(Heaviside(X - 1) * NormalCdf(X))).closed.subs(Q, Rational(1, 4))
    assert value.evalf(25).is_Float
