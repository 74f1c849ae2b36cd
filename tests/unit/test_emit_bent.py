"""Piecewise polynomials with breakpoints away from 0: code that keeps its digits at large and small variances."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from mpmath import mp

from derive import theory

POINTS = ((1e6, 1e6, -0.999), (1.0, 1e6, 0.3), (30.0, 1e2, 1.0))


@pytest.mark.parametrize(
    ("name", "given"), [("hard_tanh", {"a": -1.0, "b": 0.75}), ("hard_swish", {}), ("clip(2*x - 1, -1, 4)", {})]
)
def test_covariance_at_large_variances(name, given):
    t = theory(name)
    kernel, truth, moment = (
        r.compile(b)
        for r, b in ((t.covariance_map, "numpy"), (t.covariance_map, "mpmath"), (t.second_moment, "mpmath"))
    )
    for point in POINTS:
        single = tuple(np.float32(v) for v in point)
        with mp.workdps(40):
            for at, bound in ((point, 2e-15), (single, 1e-6)):
                exact = tuple(float(v) for v in at)
                scale = mp.sqrt(moment(exact[0], **given) * moment(exact[1], **given))
                assert abs(mp.mpf(float(kernel(*at, **given))) - truth(*exact, **given)) < bound * scale


@pytest.mark.parametrize("q", [1e-12, 1e-3, 50.0, 1e6])
def test_second_moment_relative(q):
    t = theory("hard_tanh")
    value = float(t.second_moment.compile("numpy")(q, a=-1.0, b=0.75))
    truth = float(t.second_moment.number(q=q, a=-1, b="3/4"))
    assert value == pytest.approx(truth, rel=2e-15)


def test_torch_equals_numpy_and_has_gradients():
    t = theory("relu6")
    q1, q2, c = np.array([1e6, 2.0, 400.0]), np.array([3e5, 1e5, 2.0]), np.array([0.4, -0.7, 1.0])
    expected = t.covariance_map.compile("numpy")(q1, q2, c)
    given = [torch.tensor(v, requires_grad=True) for v in (q1, q2, c)]
    found = t.covariance_map.compile("torch")(*given)
    found.sum().backward()
    assert np.allclose(found.detach().numpy(), expected, rtol=1e-14, atol=0)
    assert all(torch.isfinite(v.grad).all() for v in given)
