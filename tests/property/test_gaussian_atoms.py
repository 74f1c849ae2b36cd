"""Random members of the atom class with random numbers: the closed form agrees with plain quadrature."""

import math

import numpy as np
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
    """polynomial x (Gaussian, exponential, cdf) x one step or one wave."""
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
    if shape != "wave" and draw(st.booleans()):
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


@settings(max_examples=25, deadline=None, derandomize=True)
@given(atoms(), st.fractions(Rational(1, 4), 3, max_denominator=7))
def test_closed_forms_of_random_atoms(atom, q):
    body, threshold = atom
    found = answer(single(body))
    expected, scale = quadrature(body, threshold, float(q))
    value = float(found.closed.subs(Q, Rational(q.numerator, q.denominator)).rewrite("erf").evalf(25))
    assert abs(value - expected) <= 1e-11 * (scale + 1e-3)
