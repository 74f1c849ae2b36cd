"""Emitted kernels keep their digits over eighteen decades of the variance, whatever their closed forms do."""

import numpy as np
import pytest
from sympy import Rational, cosh, log, sqrt, tanh

from derive import theory
from derive.catalogue import names
from derive.gaussian import numbers
from derive.program.symbols import X
from derive.records import EocError
from derive.surface.measured import error_of, integrable
from derive.surface.near_zero import near_zero
from derive.surface.steady import steady

torch = pytest.importorskip("torch")

VARIANCES = (1e-12, 1e-6, 1.0, 1e6)
FEW = ("x + sin(0.7*x)**2/0.7", "x/3 - sin(3*x)**2", "log(cosh(x))", "sqrt(x**2 + 1) - 1 - x", "max(x - x**2, 0)")
MORE = (
    "snake",
    "siren",
    "hard_elish",
    "tanhshrink",
    "bent_identity",
    "max(2*x - 4*x**2, 0)",
    "max(-x-x**2,0)",
    "1-cos(x)",
)
BEYOND = ("exp",)
"""Its moments at the largest variance are no doubles."""


def given_for(t):
    """A number inside each parameter's domain."""
    found = {}
    for name, domain in t.domains:
        low, high = float(domain.lower), float(domain.upper)
        middle = 0.5 if low < 0.5 < high else (low + high) / 2 if np.isfinite(low + high) else low + 1
        found[name] = middle if np.isfinite(middle) else high - 1
    return found


def largest_error(text, backend):
    """Of the covariance map, over its value at c = 1."""
    t = theory(text)
    result, parameters = t.covariance_map, given_for(t)
    function, worst = result.compile(backend), 0.0
    for q in VARIANCES:
        scale = float(result.number(q1=q, q2=q, c=1, **parameters)) or 1e-300  # beyond a threshold nothing is left
        for c in (1.0, 0.5, -1.0):
            point = (q, q, c) if backend == "numpy" else (torch.tensor(v, dtype=torch.float64) for v in (q, q, c))
            with np.errstate(over="ignore"):  # in branches that are not taken
                found = float(function(*point, **parameters))
            worst = max(worst, abs(found - float(result.number(q1=q, q2=q, c=c, **parameters))) / scale)
    return worst


@pytest.mark.parametrize("text", [*FEW, *(pytest.param(text, marks=pytest.mark.slow) for text in MORE)])
def test_kernels_from_the_smallest_to_the_largest_variance(text):
    assert largest_error(text, "numpy") < 3e-14


@pytest.mark.slow
@pytest.mark.parametrize("text", [*FEW, *MORE])
def test_they_do_in_torch(text):
    assert largest_error(text, "torch") < 3e-14


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in names() if name not in BEYOND])
def test_kernels_of_the_catalogue(name):
    try:
        theory(name).covariance_map  # noqa: B018
    except EocError as refusal:
        pytest.skip(str(refusal))
    assert largest_error(name, "numpy") < 3e-14


@pytest.mark.parametrize("text", ["snake", "x + sin(x)**2", "1 - cos(x)", "sin(2*x)**2 - 3*x"])
def test_sums_of_exponentials_in_a_form_that_keeps_digits(text):
    t = theory(text)
    for result in (t.covariance_map, t.variance_map):
        (node,) = numbers.outermost(result.template)[:1]
        closed = numbers.closed_form(node)
        form = steady(node, closed)
        assert error_of(node, closed) > 1e-8 and error_of(node, form) < 1e-15


def test_a_measured_error_is_that_of_the_form():
    t = theory("gelu")
    (node,) = numbers.outermost(t.covariance_map.template)
    closed = numbers.closed_form(node)
    assert error_of(node, closed) < 1e-15
    assert error_of(node, sqrt(closed**2 + 10**14) - 10**7) > 1e-10  # a small difference of large numbers
    assert not integrable(numbers.outermost(theory("sin(x)").covariance_map.template)[0])


@pytest.mark.parametrize(
    "body", [log(cosh(X)), X - tanh(X), sqrt(X**2 + 1) / 2 - Rational(1, 2) + X, 3 * X - tanh(3 * X), log(cosh(-2 * X))]
)
def test_functions_that_cancel_next_to_zero_have_their_polynomial_there(body):
    near = near_zero(body)
    assert near != body
    for x in (Rational(1, 20), Rational(-1, 1000), Rational(1, 10**6)):
        inside = near.args[0][0].subs(X, x)
        assert abs(inside / body.subs(X, x).evalf(60) - 1) < 1e-16


@pytest.mark.parametrize("body", [tanh(X), X * tanh(log(2 + X**2)), 1 - tanh(X) ** 2])
def test_others_stay_what_they_are(body):
    assert near_zero(body) == body
