"""Four-dimensional orthants at the origin, their mean sign S_4, and odd orthants."""

import itertools

import numpy as np
import pytest
from flint import acb, arb
from scipy import integrate, special, stats
from sympy import Lambda, Matrix, Max, Rational, Symbol, asin, erf, pi, symbols

from derive.gaussian.answer import answer
from derive.gaussian.node import GaussianE, pair, single
from derive.gaussian.special import NormalCdf, SignMoment
from derive.program.operations import sign_moment
from derive.program.symbols import DELTA, Q1, Q2, K, Q, X
from derive.records import Kind

GELU = X * NormalCdf(X)
HALF = Rational(1, 2)
R = symbols("r1:7", real=True)
PLACES = list(itertools.combinations(range(4), 2))


def turned(order, flips=(1, 1, 1, 1)):
    """The arguments after a permutation and reflections of the variables."""
    at = {frozenset(place): r for place, r in zip(PLACES, R, strict=True)}
    return [flips[i] * flips[j] * at[frozenset((order[i], order[j]))] for i, j in PLACES]


def test_symmetries_leave_one_spelling():
    for order in itertools.permutations(range(4)):
        assert SignMoment(*turned(order)) == SignMoment(*R)
        assert SignMoment(*turned(order, (1, -1, 1, 1))) == -SignMoment(*R)
        assert SignMoment(*turned(order, (1, -1, 1, -1))) == SignMoment(*R)


def test_special_values():
    a, b = R[:2]
    assert SignMoment(*[HALF] * 6) == Rational(1, 5)
    assert SignMoment(a, 0, 0, 0, 0, b) == 4 * asin(a) * asin(b) / pi**2
    assert SignMoment(a, b, 0, R[2], 0, 0) == 0, "an odd number of independent variables"
    assert SignMoment(1, a, b, a, b, R[2]) == 2 * asin(R[2]) / pi
    assert SignMoment(-1, a, b, -a, -b, R[2]) == -2 * asin(R[2]) / pi


def equicorrelated(rho):
    """E sign(...)^4 with z_i = sqrt(rho) f + sqrt(1 - rho) e_i, the e_i independent given f."""
    inner = lambda f: special.erf(np.sqrt(rho / (2 * (1 - rho))) * f) ** 4 * stats.norm.pdf(f)  # noqa: E731
    return integrate.quad(inner, -12, 12, epsabs=1e-14, limit=400, points=[-0.1, 0, 0.1])[0]


@pytest.mark.parametrize("rho", [0.05, 0.5, 0.9, 0.999])
def test_balls_against_a_common_factor(rho):
    value = sign_moment.OPERATION.ball([acb(rho)] * 6, False).real
    assert value.rad() < 1e-12 and abs(float(value.mid()) - equicorrelated(rho)) < 1e-12


def test_balls_hold_wide_arguments_and_refuse_no_correlations():
    ball = sign_moment.OPERATION.ball
    wide = ball([acb(arb(0.3, 0.01))] * 6, False)
    assert wide.real.rad() < 0.1
    for rho in (0.29, 0.3, 0.31):
        assert wide.overlaps(ball([acb(rho)] * 6, False))
    assert not ball([acb(-0.9)] * 6, False).is_finite()
    edge = ball([acb(0.5), acb(1), acb(0.5), acb(0.5), acb(1), acb(0.5)], False).real
    assert edge.contains(1) and edge.rad() < 1e-12


@pytest.mark.parametrize("shape", [(0.5, 1, 0.5, 0.5, 1, 0.5), (1, 1, 1, 1, 1, 1)])
@pytest.mark.parametrize("c", [0.3, 0.99, 1 - 1e-6, 1 - 1e-9, 1.0, -0.2])
def test_source_text_near_the_edge(c, shape):
    space = {"np": np}
    exec(sign_moment._NUMPY, space)  # the text that emitted modules carry
    args = [r * c for r in shape]
    args[0], args[5] = (0.5, 0.5) if shape[0] == 0.5 else (args[0], args[5])
    expected = sign_moment.OPERATION.ball([acb(r) for r in args], False).real
    # a rounding of each correlation moves the truth by its derivative, at most 2/(pi sqrt(1 - r**2))
    conditioning = sum(1 / np.sqrt(1 - r * r) for r in args if abs(r) < 1)
    assert abs(space["_sign_moment"](*args) - float(expected.mid())) < 1e-14 + 2.2e-16 * conditioning


def value(expr, **at):
    return float(expr.subs({s: Rational(at[s.name]) for s in expr.free_symbols}).evalf(20))


def test_fourth_powers_close():
    closed = {f: answer(single(f**4)) for f in (GELU, erf(X), NormalCdf(X))}
    assert {found.kind for found in closed.values()} == {Kind.SPECIAL}
    assert abs(value(closed[GELU].closed, q="1.7") - 4.0797385871563192) < 1e-14
    assert closed[erf(X)].closed == SignMoment(*[2 * Q / (2 * Q + 1)] * 6)


def test_squares_of_a_pair_close():
    closed = answer(pair(erf(X) ** 2, erf(X) ** 2)).closed
    r1, r2, c = 2 * Q1 / (2 * Q1 + 1), 2 * Q2 / (2 * Q2 + 1), 2 * K / ((2 * Q1 + 1) * (2 * Q2 + 1)) ** HALF
    point = {Q1: 2, Q2: 3, K: 1, DELTA: 5}
    assert abs((closed - SignMoment(r1, c, c, c, c, r2)).subs(point).evalf(20)) < 1e-18


def test_covariance_of_the_maxima_of_three():
    """Against Hoeffding's formula, the integral of P(M <= s, N <= t) - P(M <= s) P(N <= t)."""
    c = Symbol("c", real=True)
    names = symbols("u1:4 v1:4", real=True)
    cov = Matrix(6, 6, lambda i, j: 1 if i == j else c if abs(i - j) == 3 else 0)
    found = answer(GaussianE(Lambda(names, Max(*names[:3]) * Max(*names[3:])), cov))
    assert found.kind is Kind.SPECIAL
    grid, weights = np.polynomial.legendre.leggauss(60)
    grid, weights = 7 * grid, 7 * weights
    s, t = np.meshgrid(grid, grid)
    joint = stats.multivariate_normal([0, 0], [[1, 0.3], [0.3, 1]]).cdf(np.stack([s, t], -1))
    integrand = joint**3 - stats.norm.cdf(s) ** 3 * stats.norm.cdf(t) ** 3
    mean = 3 / (2 * np.sqrt(np.pi))
    assert abs(value(found.closed, c="3/10") - weights @ integrand @ weights - mean**2) < 1e-6


def test_odd_orthants_are_sums_of_even_ones():
    closed = answer(single(NormalCdf(X) ** 5)).closed
    assert closed.subs(Q, 1) == Rational(1, 6), "five exchangeable variables of correlation 1/2"
    assert answer(single(NormalCdf(X) ** 7)).blockers == ("the probability of an orthant of dimension 6 at the origin",)


def test_torch_derivatives_are_those_of_the_function():
    torch = pytest.importorskip("torch")
    from derive.emit import EmittedFunction, emit

    names = tuple(r.name for r in R)
    source = emit((EmittedFunction("mean", SignMoment(*R), names, (), "S_4"),), "torch", "S_4")
    space: dict = {}
    exec(source, space)
    at = [torch.tensor(r, dtype=torch.float64, requires_grad=True) for r in (0.3, 0.1, -0.2, 0.4, 0.25, 0.05)]
    assert torch.autograd.gradcheck(space["mean"], at) and torch.autograd.gradgradcheck(space["mean"], at)


@pytest.mark.parametrize("backend", ["jax", "mpmath"])
def test_other_backends(backend):
    pytest.importorskip(backend)
    from derive.emit import EmittedFunction, emit

    names = tuple(r.name for r in R)
    space: dict = {}
    exec(emit((EmittedFunction("mean", SignMoment(*R), names, (), "S_4"),), backend, "S_4"), space)
    at = (0.3, 0.1, -0.2, 0.4, 0.25, 0.05)
    expected = float(sign_moment.OPERATION.ball([acb(r) for r in at], False).real.mid())
    if backend == "mpmath":
        assert abs(space["mean"](*at) - expected) < 1e-14
        return
    import jax

    with jax.enable_x64(True):
        assert abs(space["mean"](*map(jax.numpy.float64, at)) - expected) < 1e-15
        slope = jax.grad(space["mean"])(*map(jax.numpy.float64, at))
        exact = SignMoment(*R).diff(R[0]).subs(dict(zip(R, map(Rational, map(str, at)), strict=True))).evalf(20)
        assert abs(slope - float(exact)) < 1e-14
