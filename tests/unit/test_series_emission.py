"""Emitted series: the code agrees with the certified numbers, in value and in gradient."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from derive import EocError, theory

POINTS = [(1, 1, 1), ("1/1000", 2, -1), (4, "1/2", "1/2"), (1, 100, 0)]


@pytest.fixture(scope="module")
def swish():
    return theory("swish").covariance_map.as_series("1e-10")


@pytest.fixture(scope="module")
def tanh():
    return theory("tanh(x)").variance_map.as_series("1e-14")


def number(value):
    return float(Fraction(value))


def truth(result, point):
    q1, q2, c = point
    return float(result.number(q1=q1, q2=q2, c=c, beta="3/2"))


def test_numpy_pairs(swish):
    function = swish.compile("numpy")
    arrays = np.array([[number(v) for v in point] for point in POINTS]).T
    values = function(*arrays, beta=1.5)
    for value, point in zip(values, POINTS, strict=True):
        assert abs(value - truth(swish, point)) < 2e-10 * max(1, abs(value))
    assert isinstance(function(1.0, 2.0, 0.5, beta=1.5), float)
    assert function(np.float32([1, 2]), np.float32(1), np.float32(0.5), beta=1.5).dtype == np.float32


def test_torch_pairs_and_gradients(swish):
    function = swish.compile("torch")
    columns = [torch.tensor([number(p[i]) for p in POINTS], dtype=torch.float64) for i in range(3)]
    c = columns[2].clone().requires_grad_()
    values = function(columns[0], columns[1], c, beta=1.5)
    values.sum().backward()
    slope = theory("swish").covariance_map.diff("c")
    for value, gradient, point in zip(values.tolist(), c.grad.tolist(), POINTS, strict=True):
        assert abs(value - truth(swish, point)) < 2e-10 * max(1, abs(value))
        assert abs(gradient - truth(slope, point)) < 1e-8 * max(1, abs(gradient))


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_one_variable(tanh, backend):
    function = tanh.compile(backend)
    for q in (1e-6, 1.0, 1e4):
        argument = torch.tensor(q, dtype=torch.float64) if backend == "torch" else q
        value = float(function(argument, sigma_w=1.5, sigma_b=0.1))
        assert abs(value - float(tanh.number(q=q, sigma_w=1.5, sigma_b=0.1))) < 1e-14


def test_the_text_holds_each_template_once_and_states_the_bound(tanh):
    text = tanh.code("numpy")
    assert text.count("def _variance_map_0_single") == 1
    assert "kind SERIES" in text
    assert "with an error of at most" in text
    with pytest.raises(EocError):
        tanh.code("fortran")
