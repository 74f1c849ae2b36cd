"""Random members of the atom class with random numbers: the closed form agrees with plain quadrature."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Heaviside, Rational, cos, exp, sin

from derive.gaussian.answer import answer
from derive.gaussian.node import single
from derive.gaussian.special import NormalCdf
from derive.program.symbols import Q, X

NUMBERS = st.fractions(-2, 2, max_denominator=6).map(lambda f: Rational(f.numerator, f.denominator))
NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)


@st.composite
def atoms(draw):
    """polynomial x (Gaussian, exponential, cdf, waves) x one step."""
    body = sum(draw(NUMBERS) * X**k for k in range(draw(st.integers(1, 4))))
    shape = draw(st.sampled_from(("cdf", "exp", "bump", "wave")))
    slope, offset = draw(NUMBERS), draw(NUMBERS)
    body *= {
        "cdf": NormalCdf(slope * X + offset),
        "exp": exp(slope * X),
        "bump": exp(-abs(slope) * X**2 + offset * X),
        "wave": cos(slope * X + offset) + sin(X),
    }[shape]
    threshold = None
    if draw(st.booleans()):
        threshold = draw(NUMBERS)
        body *= Heaviside(draw(st.sampled_from((1, -1))) * (X - threshold))
    return body, threshold


def quadrature(body, threshold, q):
    """Gauss-Legendre on panels of width 1/2, cut at the step."""
    from derive.gaussian.sample import evaluate

    sd = math.sqrt(q)
    cut = [] if threshold is None else [float(threshold) / sd]
    edges = np.unique(np.concatenate([np.linspace(-14, 14, 57), cut]))
    half = np.diff(edges)[:, None] / 2
    z = (edges[:-1, None] + half * (1 + NODES)).ravel()
    weights = (half * WEIGHTS).ravel() * np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    values = evaluate(body, {X: sd * z}) * np.ones_like(z)
    return float(weights @ values), float(weights @ np.abs(values))


@st.composite
def algebraic(draw):
    """Powers of x times powers of sqrt(b x**2 + a), on the line or half of it, and an atom."""
    a, b = abs(draw(NUMBERS)) + Rational(1, 3), abs(draw(NUMBERS)) + Rational(1, 5)
    k, half = draw(st.integers(-7, 5)), draw(st.booleans())
    degree = 2 * draw(st.integers(0, 2)) + (half and k % 2)
    body = draw(NUMBERS) * X + X**degree * (b * X**2 + a) ** Rational(k, 2)
    return (body * Heaviside(X), Rational(0)) if half else (body, None)


def agrees(body, threshold, q):
    found = answer(single(body))
    expected, scale = quadrature(body, threshold, float(q))
    value = float(found.closed.subs(Q, Rational(q.numerator, q.denominator)).rewrite("erf").evalf(25))
    return abs(value - expected) <= 1e-11 * (scale + 1e-3)


VARIANCES = st.fractions(Rational(1, 4), 3, max_denominator=7)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(atoms(), VARIANCES)
def test_closed_forms_of_random_atoms(atom, q):
    assert agrees(*atom, q)


@settings(max_examples=6, deadline=None, derandomize=True)
@given(algebraic(), VARIANCES)
def test_closed_forms_of_random_algebraic_functions(function, q):
    assert agrees(*function, q)


@pytest.mark.slow
@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.one_of(atoms(), algebraic()), VARIANCES)
def test_closed_forms_of_many_random_functions(function, q):
    assert agrees(*function, q)
