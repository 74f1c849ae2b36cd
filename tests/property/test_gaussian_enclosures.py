"""Random atoms with parameters against enclosures; random formulas never give a wrong number or a traceback."""

import time
from fractions import Fraction

import flint
import numpy as np
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from mpmath import isfinite, mpf
from sympy import Abs, Heaviside, Max, Rational, Symbol, cos, erf, exp, sin

from derive import Activation, EocError, expect
from derive.activation.normal_form import breakpoints, normal_form
from derive.gaussian.answer import answer
from derive.gaussian.enclosure import enclose
from derive.gaussian.node import pair, single
from derive.gaussian.numbers import plain_ball
from derive.gaussian.special import NormalCdf
from derive.program.symbols import X
from derive.records import Kind

A, B = Symbol("a", real=True), Symbol("b", positive=True)
SMALL = st.fractions(-2, 2, max_denominator=4)
PARAMETERS = st.fractions(Fraction(1, 5), Fraction(3, 2), max_denominator=5)
VARIANCES = st.fractions(Fraction(1, 8), 3, max_denominator=8)
CORRELATIONS = st.fractions(Fraction(-19, 20), Fraction(19, 20), max_denominator=20)
BUDGET = 20
"""Seconds a question may take on a busy machine; its own limit is 10."""


def rational(value):
    return Rational(value.numerator, value.denominator)


@st.composite
def atoms(draw):
    """polynomial x (exponential, bump, cdf, error function, wave) x (half-line, kink) in parameters a and b > 0."""
    coefficients = [rational(draw(SMALL)) for _ in range(draw(st.integers(1, 3)))]
    body = sum((c * X**k for k, c in enumerate(coefficients)), start=rational(draw(SMALL)) * A)
    shape = draw(st.sampled_from(("none", "cdf", "erf", "exp", "bump", "wave", "gabor")))
    offset = rational(draw(SMALL))
    body *= {
        "none": 1,
        "cdf": NormalCdf(A * X + offset),
        "erf": erf(B * X),
        "exp": exp(A * X),
        "bump": exp(-B * X**2 + offset * X),
        "wave": cos(B * X + offset),
        "gabor": exp(-B * X**2) * sin(X),
    }[shape]
    waves = shape in ("wave", "gabor")
    kink = draw(st.sampled_from(("none", "half", "relu", "abs"))) if not waves else "none"
    return body * {"none": 1, "half": Heaviside(X - offset), "relu": Max(X, 0), "abs": Abs(X)}[kink]


def holds(node, values):
    """The closed form, in balls, meets the enclosure of the integral; open ones say what stopped them."""
    found = answer(node)
    if found.closed is None:
        assert found.kind is Kind.INTEGRAL and found.blockers
        return
    exact = {name: Fraction(value) for name, value in values.items()}
    with flint.ctx.workprec(160):
        law = dict(exact)
        if "c" in exact:
            q = [flint.arb(flint.fmpq(exact[n].numerator, exact[n].denominator)) for n in ("q1", "q2")]
            c = flint.arb(flint.fmpq(exact["c"].numerator, exact["c"].denominator))
            law |= {"K": c * (q[0] * q[1]).sqrt(), "Delta": q[0] * q[1] * (1 - c) * (1 + c)}
        closed = plain_ball(found.closed, law)
    truth = enclose(node, exact, 14)
    assert truth.is_finite() and truth.overlaps(closed), (node, values, truth, closed)
    assert closed.rad() < 1e-9 * (1 + abs(closed))


QUICK = settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@QUICK
@given(atoms(), VARIANCES, PARAMETERS, PARAMETERS)
def test_one_variable(body, q, a, b):
    holds(single(body), {"q": q, "a": a, "b": b})


@settings(QUICK, max_examples=5)
@given(atoms(), atoms(), VARIANCES, VARIANCES, CORRELATIONS, PARAMETERS, PARAMETERS)
def test_pairs(f, g, q1, q2, c, a, b):
    holds(pair(f, g), {"q1": q1, "q2": q2, "c": c, "a": a, "b": b})


LEAVES = st.sampled_from(("x", "x", "x", "2", "x/2", "(x - 1)", "3*x"))
UNARY = ("tanh", "erf", "Phi", "exp", "sin", "abs", "relu", "atan", "sigmoid", "softplus", "sqrt", "log", "sign")


def grown(inner):
    """One operation more."""
    called = st.tuples(st.sampled_from(UNARY), inner).map(lambda t: f"{t[0]}({t[1]})")
    joined = st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})")
    powers = st.tuples(inner, st.integers(2, 3)).map(lambda t: f"({t[0]})**{t[1]}")
    cases = st.tuples(inner, inner).map(lambda t: f"where(x > 0, {t[0]}, {t[1]})")
    return called | joined | powers | cases


FORMULAS = st.recursive(LEAVES, grown, max_leaves=4)


NODES, WEIGHTS = np.polynomial.legendre.leggauss(20)


def quadrature(text, q):
    """(value, its error) by Gauss-Legendre on panels and on halved panels, of the emitted function."""
    activation = Activation(text)
    function, values = activation.compile("numpy"), []
    kinks = [float(at) / np.sqrt(float(q)) for at in breakpoints(normal_form(activation.expr))]
    for panels in (480, 960):
        edges = np.unique([*np.linspace(-12, 12, panels + 1), *kinks])
        half = np.diff(edges)[:, None] / 2
        z = (edges[:-1, None] + half * (1 + NODES)).ravel()
        weights = (half * WEIGHTS).ravel() * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
        with np.errstate(all="ignore"):
            values.append(float(weights @ function(np.sqrt(float(q)) * z)))
    return values[1], abs(values[1] - values[0])


@settings(QUICK, max_examples=30)
@example("relu(x**3)", Fraction(1))
@given(FORMULAS, VARIANCES)
def test_random_formulas(text, q):
    """A number agrees with one of a higher accuracy and with quadrature; what cannot be done is an EocError in time."""
    start = time.monotonic()
    try:
        result = expect(text)
        first = result.number(q=q, digits=8)
        second = result.number(q=q, digits=12)
    except EocError:
        assert time.monotonic() - start < BUDGET, text
        return
    assert time.monotonic() - start < BUDGET, text
    if not (isfinite(first.mid) and isfinite(second.mid)):
        assert first.mid == second.mid or first.rad > 0 or second.rad > 0, text
        return
    assert abs(first.mid - second.mid) <= first.rad + second.rad, text
    assert second.rad <= mpf(10) ** -9 * (1 + abs(second.mid)), text
    value, error = quadrature(text, q)
    if error < 1e-6 * (1 + abs(value)):
        assert abs(value - float(second.mid)) <= 10 * error + 1e-7 * (1 + abs(value)), text


@settings(QUICK, max_examples=15)
@given(FORMULAS, FORMULAS, VARIANCES, VARIANCES)
def test_pairs_of_random_formulas(f, g, q1, q2):
    """Uncorrelated, E f(u) g(v) = E f(u) E g(v); at correlation 1 and -1 and in between, Cauchy and Schwarz."""
    start = time.monotonic()
    try:
        together = expect(f, g)
        at = [together.number(q1=q1, q2=q2, c=c, digits=10) for c in (0, 1, -1, Fraction(-7, 10))]
        alone = [expect(h).number(q=q, digits=10) for h, q in ((f, q1), (g, q2))]
        sizes = [expect(f"({h})**2").number(q=q, digits=10).mid for h, q in ((f, q1), (g, q2))]
    except EocError:
        assert time.monotonic() - start < 4 * BUDGET, (f, g)
        return
    assert time.monotonic() - start < 4 * BUDGET, (f, g)
    if all(isfinite(e.mid) for e in (*at, *alone)) and all(map(isfinite, sizes)):
        scale = (sizes[0] * sizes[1]) ** 0.5
        assert abs(at[0].mid - alone[0].mid * alone[1].mid) <= mpf(10) ** -8 * (scale + 1), (f, g)
        assert all(abs(e.mid) <= scale * (1 + mpf(10) ** -8) + mpf(10) ** -8 for e in at), (f, g)
