"""sin(x)/x and its kin: closed by their Fourier transforms, one variable and pairs."""

import numpy as np
import pytest
from sympy import Symbol, cos, erf, pi, sin, sinc, sqrt

from derive import Activation, expect
from derive.gaussian.answer import answer, derivation
from derive.gaussian.node import GaussianE, pair, single
from derive.program.symbols import Q, X
from derive.records import Kind

W = Symbol("w", positive=True)
P = Symbol("p", real=True)


def test_the_mean_of_sinc_is_an_error_function():
    assert (
        answer(single(sinc(W * X))).closed.rewrite(erf) - sqrt(pi / (2 * Q)) * erf(W * sqrt(Q / 2)) / W
    ).expand() == 0


CLOSED = [
    single(sinc(X) ** 2),
    single(X * sinc(W * X) + sinc(X) ** 2),
    single((1 - cos(W * X)) / X**2),
    pair(sinc(X), sinc(W * X)),
    pair((X * cos(X) - sin(X)) / X**2, (X * cos(X) - sin(X)) / X**2),
]


@pytest.mark.parametrize("node", CLOSED, ids=str)
def test_closed(node):
    """`answer` compares each with an enclosure at seven points."""
    found = answer(node)
    assert found.closed is not None and found.cancels


@pytest.mark.slow
@pytest.mark.parametrize("text", ["sinc(x)", "sinc(2*x)", "sinc(x/3)"])
def test_both_members_of_a_pair(text):
    phi = Activation(text)
    slope = phi.derivative()
    for question in ((phi,), (phi**2,), (slope**2,), (phi, phi), (slope, slope)):
        assert expect(*question).kind in (Kind.EXACT, Kind.SPECIAL)


@pytest.mark.parametrize("body", [cos(X) / X, sin(X) / X**2, sinc(P * X), sin(X) / (X + 1)], ids=str)
def test_poles_and_unknown_signs_stay_open(body):
    assert answer(single(body + X**2)).closed is None


def test_the_derivation_goes_through_the_transform():
    step = derivation(pair(sinc(X), sinc(X)))
    assert step.rule == "parseval" and step.after.has(GaussianE) and step.children


def test_numbers_and_code_agree_to_strong_correlation():
    result = expect("sinc(x)", "sinc(x)")
    code = result.compile("numpy")
    for c in (-1.0, -0.999, 0.3, 1.0):
        assert abs(code(0.7, 1.3, c) - float(result.number(q1=0.7, q2=1.3, c=c).mid)) < 1e-13
    assert abs(float(expect(Activation("sinc") ** 2).number(q=1).mid) - float(np.float64(code(1, 1, 1)))) < 1e-14
