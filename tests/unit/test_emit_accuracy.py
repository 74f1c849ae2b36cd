"""Emitted kernels against certified numbers from q = 1e-12 to 1e6 and to c = +-1, in both precisions."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import torch

from derive import theory

VARIANCES = ("1e-12", "1e-3", "1", "1e6")
CORRELATIONS = ("-1", "-0.999999", "0.25", "1")
LIMIT = {"float64": 1e-14, "float32": 2e-6}


@pytest.mark.parametrize("name", ["relu", "abs", "squared_relu", "erf", "gelu", "cubic"])
def test_accuracy_of_kernels(name):
    t = theory(name)
    numpy, torched = t.covariance_map.compile("numpy"), t.covariance_map.compile("torch")
    for precision, limit in LIMIT.items():
        grid = VARIANCES if precision == "float64" else ("1e-3", "1", "100")
        for q1, q2, c in itertools.product(grid, grid, CORRELATIONS):
            if float(q1) > float(q2):
                continue
            point = [getattr(np, precision)(v) for v in (q1, q2, c)]
            at = dict(zip(("q1", "q2", "c"), (Fraction(float(v)) for v in point), strict=True))
            truth = float(t.covariance_map.number(**at))
            scale = math.sqrt(math.prod(float(t.second_moment.number(q=at[k])) for k in ("q1", "q2")))
            assert abs(float(numpy(*point)) - truth) <= limit * scale, (precision, q1, q2, c)
            assert abs(float(torched(*map(torch.tensor, point))) - truth) <= limit * scale, (precision, q1, q2, c)


@pytest.mark.parametrize("name", ["relu", "gelu", "erf", pytest.param("elu", marks=pytest.mark.slow)])
def test_gradients_are_finite_at_the_edges(name):
    result = theory(name).covariance_map
    kernel, given = result.compile("torch"), dict.fromkeys(result.parameters, 0.75)
    q = torch.tensor([1e-12, 1e-6, 1.0, 100.0], dtype=torch.float64, requires_grad=True)
    for end in (1.0, -1.0):
        c = torch.full_like(q, end, requires_grad=True)
        gradients = torch.autograd.grad(kernel(q, q, c, **given).sum(), (q, c))
        assert all(bool(torch.isfinite(g).all()) for g in gradients), end
