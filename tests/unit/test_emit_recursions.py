"""Emitted kernels layer by layer, tangent kernels, and the complement of the correlation map."""

import math

import mpmath
import numpy as np
import pytest
import torch

from derive import theory
from derive.commands._code import theory_code
from derive.emit import load

GIVEN = {"sigma_w": 1.5, "sigma_b": 0.25}


def module(text, backend):
    return load(theory_code(theory(text), backend))


def gram(n=4):
    x = np.random.default_rng(0).normal(size=(n, 7))
    return x @ x.T / 7


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_recursion_is_the_map_of_every_entry(backend):
    t, made = theory("gelu"), module("gelu", backend)
    start = gram()
    given = torch.tensor(start) if backend == "torch" else start
    once = np.asarray(made.kernel_recursion(given, 1, **GIVEN))
    for i, j in ((0, 0), (0, 1), (3, 2)):
        q1, q2 = start[i, i], start[j, j]
        if i == j:
            want = t.variance_map.number(q=q1, **GIVEN)
            assert once[i, j] == pytest.approx(float(want), rel=1e-14)
            continue
        c = start[i, j] / math.sqrt(q1 * q2)
        cross = float(t.covariance_map.number(q1=q1, q2=q2, c=c))
        assert once[i, j] == pytest.approx(1.5**2 * cross + 0.25**2, rel=1e-13)
    twice = np.asarray(made.kernel_recursion(given, 2, **GIVEN))
    again = np.asarray(made.kernel_step(made.kernel_step(given, **GIVEN), **GIVEN))
    assert (twice == again).all() and (twice == twice.T).all()


def test_tangent_kernel_of_relu():
    """Jacot et al. 2018 with the arc-cosine kernels of Cho & Saul 2009, sigma_w^2 = 2, sigma_b = 0, by hand."""
    made, start = module("relu", "numpy"), gram()
    kernel, tangent = start, start
    for _ in range(3):
        root = np.sqrt(np.outer(np.diag(kernel), np.diag(kernel)))
        angle = np.arccos(np.clip(kernel / root, -1, 1))
        gain = (np.pi - angle) / np.pi
        kernel = root * (np.sin(angle) + (np.pi - angle) * np.cos(angle)) / np.pi
        tangent = kernel + gain * tangent
    got = made.tangent_recursion(start, 3, sigma_w=math.sqrt(2), sigma_b=0.0)
    np.testing.assert_allclose(got[0], kernel, rtol=1e-13)
    np.testing.assert_allclose(got[1], tangent, atol=3e-7)  # arccos near 1 loses half the digits: on the diagonal
    off = ~np.eye(4, dtype=bool)
    np.testing.assert_allclose(got[1][off], tangent[off], rtol=1e-13)


def test_gradients_of_the_recursion_with_identical_inputs():
    made = module("relu", "torch")
    start = torch.ones(2, 2, dtype=torch.float64, requires_grad=True)
    made.kernel_recursion(start, 5, sigma_w=math.sqrt(2), sigma_b=0.0).sum().backward()
    # the slope of ReLU's map is 1 - sqrt(2 (1 - c))/pi: an ulp in c is 1e-8 in the gradient
    np.testing.assert_allclose(start.grad, np.ones((2, 2)), rtol=1e-7)


@pytest.mark.parametrize("text", ["relu", "gelu"])
def test_complement_keeps_its_digits(text):
    made, t = module(text, "numpy"), theory(text)
    e = np.array([1.9, 0.5, 0.25, 0.1, 1e-2, 1e-5, 1e-8, 1e-12, 1e-16])
    got = made.correlation_complement(2.0, 2.0, e, **GIVEN)
    correlation = t.correlation_map.compile("mpmath")
    with mpmath.workdps(50):
        for value, result in zip(e, got, strict=True):
            want = 1 - correlation(2, 2, 1 - mpmath.mpf(value), **GIVEN)
            assert abs(result / want - 1) < 2e-15


def test_complement_for_two_variances():
    made, t = module("gelu", "numpy"), theory("gelu")
    got = made.correlation_complement(1.0, 3.0, np.array([0.0, 0.1, 1.0]), **GIVEN)
    want = [1 - float(t.correlation_map.number(q1=1, q2=3, c=1 - e, **GIVEN)) for e in (0, 0.1, 1)]
    np.testing.assert_allclose(got, want, atol=1e-15)
