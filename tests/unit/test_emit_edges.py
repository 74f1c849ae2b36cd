"""Pair formulas in emitted code: the edge c = +-1, its neighbourhood, small and large variances."""

import math

import mpmath
import numpy as np
import pytest
import torch
from sympy import Rational, Symbol, exp, pi, sqrt

from derive.emit import EmittedFunction, emit, load, pair_bindings
from derive.program.operations.bivariate_normal_cdf import BivariateNormalCdf
from derive.program.operations.normal_cdf import NormalCdf
from derive.program.symbols import DELTA, Q1, Q2, K, Q

torch.set_num_threads(1)

RHO = K / (sqrt(Q1) * sqrt(Q2))
EDGES = [1.0, -1.0, 1 - 2.0**-40, -1 + 2.0**-34, 1 - 1e-7, 0.99, 0.4, -0.8]
VARIANCES = [(1.0, 1.0), (0.25, 3.0), (3.0, 0.25), (50.0, 50.0)]


def thresholded(a, b):
    """E u 1(u > a) v 1(v > b): every kind of term that a threshold leaves (tilt, Stein, faces)."""
    face = a * K * exp(-(a**2) / (2 * Q1)) * NormalCdf((a * K - b * Q1) / (sqrt(DELTA) * sqrt(Q1))) / sqrt(2 * pi * Q1)
    other = b * K * exp(-(b**2) / (2 * Q2)) * NormalCdf((b * K - a * Q2) / (sqrt(DELTA) * sqrt(Q2))) / sqrt(2 * pi * Q2)
    corner = sqrt(DELTA) * exp((2 * a * b * K - b**2 * Q1 - a**2 * Q2) / (2 * DELTA)) / (2 * pi)
    return corner + face + other + K * BivariateNormalCdf(-a / sqrt(Q1), -b / sqrt(Q2), RHO)


def thresholded_truth(a, b, q1, q2, c):
    """The same by quadrature over u of the conditional mean of v 1(v > b), or in one variable at c = +-1."""
    mp = mpmath.mp
    s1, s2, c = mp.sqrt(q1), mp.sqrt(q2), mp.mpf(c)
    width = s2 * mp.sqrt((1 - c) * (1 + c))
    if width == 0:
        if c < 0:
            ends = (a / s1, -b / s2)
            return -s1 * s2 * mp.quad(lambda z: z * z * mp.npdf(z), ends) if ends[0] < ends[1] else mp.mpf(0)
        start = max(a / s1, b / s2)
        return s1 * s2 * mp.quad(lambda z: z * z * mp.npdf(z), [start, start + 2, start + 6, start + 14])

    def conditional(z):
        mean = c * s2 * z
        return s1 * z * mp.npdf(z) * (mean * mp.ncdf((mean - b) / width) + width * mp.npdf((mean - b) / width))

    start, centre = a / s1, b / (c * s2)
    marks = [start, start + 1, start + 3, start + 8, start + 14]
    # the kink of the conditional mean is as wide as width/(c s2)
    marks += [centre + k * width / (c * s2) for k in (-12, -6, -3, -1, 0, 1, 3, 6, 12)]
    return mp.quad(conditional, sorted(mark for mark in marks if start <= mark <= start + 14))


@pytest.mark.parametrize(("a", "b"), [(1, 1), (-1, 1), (1, -1), (Rational(1, 2), 2)])
def test_emit_edge_of_thresholds(a, b):
    """No NaN, no warning, no loss: at c = +-1 thresholds that meet and thresholds that do not."""
    source = EmittedFunction("f", thresholded(a, b), ("q1", "q2", "c"), bindings=pair_bindings())
    numbers, tensors = load(emit((source,), "numpy")).f, load(emit((source,), "torch")).f
    for q1, q2 in VARIANCES[:2]:
        for c in (1.0, -1.0, 1 - 2.0**-40, 0.99, -0.8):
            with mpmath.workdps(20):
                truth = float(thresholded_truth(mpmath.mpf(float(a)), mpmath.mpf(float(b)), q1, q2, c))
            scale = math.sqrt(q1 * q2)
            with np.errstate(divide="raise", invalid="raise", over="raise"):
                assert abs(numbers(q1, q2, c) - truth) < 3e-15 * scale, (q1, q2, c)
            assert abs(float(tensors(q1, q2, c)) - truth) < 3e-15 * scale, (q1, q2, c)


def test_emit_edge_takes_symbolic_thresholds():
    a, b = Symbol("a", real=True), Symbol("b", real=True)
    source = EmittedFunction("f", thresholded(a, b), ("q1", "q2", "c"), ("a", "b"), bindings=pair_bindings())
    numbers = load(emit((source,), "numpy")).f
    fixed = load(
        emit((EmittedFunction("g", thresholded(-1, 1), ("q1", "q2", "c"), bindings=pair_bindings()),), "numpy")
    ).g
    for c in EDGES:
        for q1, q2 in VARIANCES:
            assert abs(numbers(q1, q2, c, a=-1.0, b=1.0) - fixed(q1, q2, c)) < 2e-15 * math.sqrt(q1 * q2)


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_emit_tilted_terms_at_any_variance(backend):
    """exp(2q) Phi(-2 sqrt q) and its pair: of order 1/sqrt(q) where the factors overflow and vanish."""
    single = EmittedFunction("single", exp(2 * Q) * NormalCdf(-2 * sqrt(Q)), ("q",))
    tilted = exp(K + Q1 / 2 + Q2 / 2) * BivariateNormalCdf(-(Q1 + K) / sqrt(Q1), -(Q2 + K) / sqrt(Q2), RHO)
    pair = EmittedFunction("pair", tilted, ("q1", "q2", "c"), bindings=pair_bindings())
    functions = load(emit((single, pair), backend))
    for q in (1e-6, 0.3, 1.0, 7.0, 50.0, 1e3, 1e6):
        with mpmath.workdps(30):
            root = mpmath.sqrt(2 * mpmath.mpf(q))
            truth = mpmath.quad(lambda t, r=root: mpmath.exp(-(t**2) - 2 * r * t), [0, 1 / (1 + root), 4, 9])
            truth = float(truth / mpmath.sqrt(mpmath.pi))  # erfcx(root)/2
        # the exponent 2 q is rounded: a relative error of q units is in the input itself
        assert abs(float(functions.single(q)) / truth - 1) < 1e-14 * (1 + 0.05 * q)
        # at c = 1 both thresholds coincide: E exp(u + v) 1(u < 0) in one variable
        assert abs(float(functions.pair(q, q, 1.0)) / truth - 1) < 1e-14 * (1 + 0.05 * q)
    for q1, q2, c in ((50.0, 50.0, 0.5), (400.0, 500.0, 0.5), (1.0, 2.0, -0.7), (30.0, 0.1, 0.9)):
        with mpmath.workdps(20):
            value = quadrant(q1, q2, c)
        assert abs(float(functions.pair(q1, q2, c)) / float(value) - 1) < 1e-12, (q1, q2, c)


def quadrant(q1, q2, c):
    """E exp(u + v) 1(u < 0, v < 0), integrated over u with the inner integral as a scaled erfc."""
    mp = mpmath.mp
    s1, s2 = mp.sqrt(q1), mp.sqrt(q2)
    width = s2 * mp.sqrt((1 - mp.mpf(c)) * (1 + mp.mpf(c)))

    def integrand(u):
        mean = c * s2 * u / s1
        inner = mp.exp(mean + width**2 / 2) * mp.ncdf(-(mean + width**2) / width)
        return mp.exp(u) * mp.npdf(u, 0, s1) * inner

    return mp.quad(integrand, [-60, -20, -8, -3, -1, -mp.mpf(1) / 4, 0])


def test_emit_difference_of_exponentials_at_small_variance():
    """The sine kernel exp(-(q1 + q2)/2) sinh(K) as the engine prints it, at q = 1e-12."""
    value = exp(K - Q1 / 2 - Q2 / 2) / 2 - exp(-K - Q1 / 2 - Q2 / 2) / 2
    source = EmittedFunction("f", value, ("q1", "q2", "c"), bindings=pair_bindings())
    numbers, tensors = load(emit((source,), "numpy")).f, load(emit((source,), "torch")).f
    for q in (1e-12, 1e-4, 1.0, 30.0, 2000.0):
        for c in (1.0, 0.3, 0.0, -0.99):
            with mpmath.workdps(40):
                truth = float(mpmath.exp(-mpmath.mpf(q)) * mpmath.sinh(mpmath.mpf(c) * q))
            assert abs(numbers(q, q, c) - truth) <= 1e-15 * (1 + q) * abs(truth)
            assert abs(float(tensors(q, q, c)) - truth) <= 1e-15 * (1 + q) * abs(truth)
    point = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (0.8, 0.5, 0.0)]
    assert torch.autograd.gradcheck(tensors, point)


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_emit_edge_of_the_bivariate_density(backend):
    """d/dc Phi_2(-a/s1, -b/s2; c) is the density at a corner: infinite at c = 1 where thresholds meet, else 0."""
    rho = K / sqrt(Q1 * Q2)
    for a, b in ((1, 1), (1, -1), (1, 2)):
        value = BivariateNormalCdf(-a / sqrt(Q1), -b / sqrt(Q2), rho)
        slope = EmittedFunction("f", value.diff(K) * sqrt(Q1 * Q2), ("q1", "q2", "c"), bindings=pair_bindings())
        function = load(emit((slope,), backend)).f
        with np.errstate(divide="raise", invalid="raise"):
            assert float(function(1.0, 1.0, 1.0)) == (math.inf if a == b else 0)
            assert float(function(1.0, 1.0, -1.0)) == (math.inf if a == -b else 0)
            assert float(function(1.0, 4.0, 1.0)) == (math.inf if 2 * a == b else 0)
        for c in (0.3, -0.9, 1 - 1e-6):
            with mpmath.workdps(40):
                cc = mpmath.mpf(c)
                form = (a * a - 2 * cc * a * b + b * b) / (2 * (1 - cc) * (1 + cc))
                truth = float(mpmath.exp(-form) / (2 * mpmath.pi * mpmath.sqrt((1 - cc) * (1 + cc))))
            assert abs(float(function(1.0, 1.0, c)) - truth) <= 4e-15 * truth
