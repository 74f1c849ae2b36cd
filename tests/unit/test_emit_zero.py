"""Variances of exactly 0 are the limit from above; slopes of the variance map keep their digits as q -> 0."""

import numpy as np
import pytest

from derive import theory

torch = pytest.importorskip("torch")

QUICK = ("clip(x,-1,2)", "sin(x)")
SLOW = ("max(x,0)", "hardswish", "softsign", "cos(x)", "x*(x>1)", "x*sigmoid(1.7*x)", "log(1+exp(x))", "elu", "sqnl")
TEXTS = [*QUICK, *(pytest.param(text, marks=pytest.mark.slow) for text in SLOW)]


def numbers(function, backend, dtype):
    def call(*values):
        if backend == "numpy":
            return float(function(*(np.asarray(v, dtype) for v in values)))
        return float(function(*(torch.tensor(float(v), dtype=getattr(torch, dtype)) for v in values)))

    return call


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_a_row_of_zeros_in_a_gram_matrix_has_its_limit(text, backend):
    result = theory(text).covariance_map
    parameters = dict.fromkeys(result.parameters, 1)
    compiled = result.compile(backend)
    for dtype, near, error in (("float64", "1e-30", 1e-14), ("float32", "1e-14", 2e-6)):
        ask = numbers(lambda *a: compiled(*a, **{k: float(v) for k, v in parameters.items()}), backend, dtype)
        for q1, q2, c in ((0, 0, 1), (0, 0, -1), (0, 1, 0), (1, 0, 0)):
            above = {"q1": q1 or near, "q2": q2 or near, "c": c, **parameters}
            assert abs(ask(q1, q2, c) - float(result.number(above))) < error + float(near) ** 0.5


def test_gradients_of_a_row_of_zeros_are_those_of_the_limit():
    # E relu(u) relu(v) = q/2 at c = 1: both slopes are 1/4
    q1, q2 = (torch.zeros((), dtype=torch.float64, requires_grad=True) for _ in range(2))
    theory("relu").covariance_map.compile("torch")(q1, q2, torch.ones((), dtype=torch.float64)).backward()
    assert float(q1.grad) == pytest.approx(0.25, abs=1e-12) and float(q2.grad) == pytest.approx(0.25, abs=1e-12)


@pytest.mark.parametrize("text", ["atan(x) + 1", "log(1+exp(x))", "max(x,0)*tanh(x) + 1"])
def test_the_slope_of_the_variance_map_keeps_its_digits(text):
    # (x^2 - q) f/(2 q^2) would lose 1e-16/q of f(0)^2: five digits are left at q = 1e-12
    slope = theory(text).chi_parallel
    compiled = slope.compile("numpy")
    for q in (1e-12, 1e-6, 1.0, 1e4):
        assert float(compiled(np.asarray(q), sigma_w=1.0)) == pytest.approx(
            float(slope.number(q=q, sigma_w=1)), abs=2e-14
        )
