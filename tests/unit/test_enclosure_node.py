"""Enclosures of nodes: laws, parameters, products, refusals; random formulas at two precisions."""

from __future__ import annotations

from fractions import Fraction

import flint
import pytest
import sympy as sp
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from derive.gaussian.enclosure import enclose
from derive.gaussian.enclosure.stable import stable
from derive.gaussian.node import GaussianE, pair, single
from derive.program.operations.sigmoid import Sigmoid
from derive.program.operations.softplus import Softplus
from derive.program.symbols import DELTA, Q1, Q2, C, K, Q, U, V, X
from derive.records import DomainError, EocError, Unsupported

A = sp.Symbol("a", real=True)
HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def rational(number: Fraction) -> arb:
    with flint.ctx.workprec(200):
        return arb(flint.fmpq(number.numerator, number.denominator))


def test_one_variable_with_a_parameter_and_a_law_of_its_own():
    leaky = sp.Max(X, 0) + A * sp.Min(X, 0)
    value = enclose(single(leaky**2, Q / 2), {"q": 6, "a": THIRD})
    assert value.contains(rational(3 * (1 + THIRD**2) / 2).mid())
    assert value.rad() < 1e-15
    shifted = enclose(GaussianE(sp.Lambda((X,), X**2), [[Q]], [[A]]), {"q": 6, "a": THIRD})
    assert shifted.contains(rational(6 + THIRD**2).mid())


def test_parameter_in_a_threshold_may_be_a_ball():
    step = sp.Piecewise((1, X > A), (0, True))
    exact = enclose(single(step), {"q": 1, "a": HALF})
    around = enclose(single(step), {"q": 1, "a": arb(0.5, 1e-9)})
    assert around.contains(exact)
    assert 1e-10 < around.rad() < 1e-8


@pytest.mark.parametrize("c", [Fraction(0), Fraction(1), Fraction(-1), Fraction(2, 5), 1 - Fraction(1, 10**9)], ids=str)
def test_pair_of_polynomials(c):
    """Isserlis: E u^2 v^2 = q1 q2 + 2 K^2, E (u v + 1) = K + 1."""
    law = {"q1": Fraction(4), "q2": Fraction(9), "c": c}
    k = 6 * c
    squares = enclose(pair(X**2, X**2), law)
    assert squares.contains(rational(36 + 2 * k * k).mid())
    assert squares.rad() < 1e-12
    mixed = GaussianE(sp.Lambda((U, V), U * V + 1), [[Q1, K], [K, Q2]])
    assert enclose(mixed, law).contains(rational(k + 1).mid())


def test_products_are_found_by_expansion():
    body = (sp.Max(U, 0) + V) ** 2
    law = {"q1": Fraction(1), "q2": Fraction(2), "c": HALF}
    with flint.ctx.workprec(120):
        # E relu(u)^2 + E v^2 + 2 E relu(u) v, the last K/2 by Stein
        expected = rational(HALF) + 2 + arb(2).sqrt() / 2
    assert enclose(GaussianE(sp.Lambda((U, V), body), [[Q1, K], [K, Q2]]), law).overlaps(expected)
    exponential = GaussianE(sp.Lambda((U, V), sp.exp(U + V)), [[Q1, K], [K, Q2]])
    with flint.ctx.workprec(120):
        expected = ((3 + arb(2).sqrt()) / 2).exp()
    assert enclose(exponential, law).overlaps(expected)


def test_laws_in_other_words():
    f = sp.tanh(X)
    plain = enclose(pair(f, f), {"q1": 4, "q2": 9, "c": THIRD})
    numbers = GaussianE(sp.Lambda((U, V), sp.tanh(U) * sp.tanh(V)), [[4, 2], [2, 9]])
    assert enclose(numbers, {}).overlaps(plain)
    symbolic = pair(f, f, Q1, Q2, C * sp.sqrt(Q1 * Q2))
    assert enclose(symbolic, {"q1": 4, "q2": 9, "c": THIRD}).overlaps(plain)
    whole = GaussianE(sp.Lambda((U, V), sp.sign(U) * sp.sign(V)), [[4, -6], [-6, 9]])
    assert enclose(whole, {}).contains(-1)


def test_pair_with_means():
    shifted = GaussianE(sp.Lambda((U, V), U**2 * V), [[1, HALF], [HALF, 1]], [[1], [2]])
    # E (1 + x)^2 (2 + y) = 2 (1 + 1) + 2 E x y
    assert enclose(shifted, {}).contains(5)
    relu = sp.Max(U, 0)
    far = GaussianE(sp.Lambda((U, V), relu * V), [[1, HALF], [HALF, 1]], [[30], [2]])
    assert enclose(far, {}).overlaps(rational(Fraction(121, 2)))


def test_a_body_that_holds_the_covariance():
    """Derivatives of a node weight the integrand by K and Delta; both follow from q1, q2, c."""
    node = GaussianE(sp.Lambda((U, V), K * U * V + DELTA), [[Q1, K], [K, Q2]])
    assert enclose(node, {"q1": 2, "q2": 8, "c": HALF}).overlaps(arb(4 + 12))


@pytest.mark.parametrize("q", ["1e4", "1e6", "1e12"])
@pytest.mark.parametrize(
    "f", [X * sp.tanh(sp.log(1 + sp.exp(X))), sp.log(1 + sp.exp(X)), X / (1 + sp.exp(-X))], ids=str
)
def test_far_out_panels_stay_wide(f, q):
    """For large q these are relu up to a bounded error: |E f^2 - q/2| is at most a multiple of sqrt(q)."""
    value = enclose(single(f**2), {"q": Fraction(q)})
    assert abs(value - rational(Fraction(q) / 2)) < 2 * float(q) ** 0.5
    assert value.rad() < float(q) * 1e-15


def test_stable_is_the_same_function():
    assert stable(sp.log(1 + sp.exp(2 * X))) == Softplus(2 * X)
    assert stable(1 / (1 + sp.exp(-X)) ** 2) == Sigmoid(X) ** 2
    assert stable(X * sp.exp(X) / (1 + sp.exp(X))) == X * Sigmoid(X)
    assert stable(sp.exp(2 * X) / (1 + sp.exp(X))) == sp.exp(X) * Sigmoid(X)
    assert stable(sp.exp(2 * X) / (1 + sp.exp(X)) ** 2) == Sigmoid(X) ** 2
    assert stable(sp.log(2 + sp.exp(X))) == sp.log(2 + sp.exp(X))
    assert stable(1 + sp.exp(X)) == 1 + sp.exp(X)


def test_refusals_name_the_blocker():
    with pytest.raises(EocError, match="no value for a"):
        enclose(single(A * X**2), {"q": 1})
    with pytest.raises(EocError, match="no value for q"):
        enclose(single(X**2), {})
    with pytest.raises(DomainError, match="not negative"):
        enclose(single(X**2, -Q), {"q": 1})
    with pytest.raises(DomainError, match="no such Gaussian law"):
        enclose(GaussianE(sp.Lambda((U, V), U * V), [[1, 2], [2, 1]]), {})
    with pytest.raises(Unsupported, match="sum of products"):
        enclose(GaussianE(sp.Lambda((U, V), sp.sin(U * V)), [[1, HALF], [HALF, 1]]), {})
    w = sp.Symbol("w", real=True)
    with pytest.raises(Unsupported, match="3 dependent variables"):
        enclose(GaussianE(sp.Lambda((U, V, w), U * V * w), sp.eye(3)), {})


BASES = [sp.tanh(X), sp.Max(X, 0), sp.exp(-(X**2)), sp.erf(X), X / (1 + X**2), sp.Piecewise((X, X > 1), (-1, True))]
coefficients = st.fractions(min_value=-2, max_value=2, max_denominator=7)


@given(
    st.lists(st.tuples(coefficients, st.sampled_from(range(len(BASES)))), min_size=1, max_size=3),
    st.sampled_from([Fraction(1, 1000), Fraction(1), Fraction(50)]),
)
@settings(max_examples=15, deadline=None, derandomize=True)
def test_random_formulas_agree_at_two_precisions(terms, q):
    f = sum((sp.Rational(a.numerator, a.denominator) * BASES[k] for a, k in terms), sp.Integer(0))
    rough, fine = (enclose(single(f), {"q": q}, digits) for digits in (16, 25))
    assert rough.overlaps(fine)
    assert fine.rad() <= max(rough.rad(), 1e-24)
    rough, fine = (enclose(pair(f, sp.tanh(X)), {"q1": q, "q2": 1, "c": THIRD}, digits) for digits in (6, 16))
    assert rough.overlaps(fine)
    assert fine.rad() < 1e-13
