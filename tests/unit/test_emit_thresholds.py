"""Emitted pair maps of functions whose thresholds are parameters: at every order of the thresholds."""

import pytest

from derive import Activation, expect

CASES = [
    ("relu(x)-min(x,b)", {"b": -1.1}),
    ("relu(x)-min(x,b)", {"b": 0}),
    ("relu(x)-min(x,b)", {"b": 0.4}),
    pytest.param("relu(x)**2-a*min(x,b)", {"a": 0.3, "b": 1.1}, marks=pytest.mark.slow),
    ("max(x,b)-max(x,a)", {"a": -0.4, "b": 1.1}),
]


@pytest.mark.parametrize(("text", "values"), CASES)
def test_thresholds_that_meet_in_max_and_min(text, values):
    phi = Activation(text)
    result = expect(phi, phi)
    function = result.compile("numpy")
    for c in (0.4, -0.99, 1, -1):
        truth = float(result.number(q1=0.7, q2=2.1, c=c, **values))
        assert function(0.7, 2.1, c, **values) == pytest.approx(truth, rel=1e-13)


@pytest.mark.slow
def test_gradients_in_thresholds():
    import torch

    phi = Activation("clip(x,a,b)")
    result = expect(phi, phi)
    values = {"a": -1.0, "b": 0.5}
    tensors = {name: torch.tensor(value, dtype=torch.float64, requires_grad=True) for name, value in values.items()}
    q1, q2, c = (torch.tensor(value, dtype=torch.float64) for value in (0.7, 2.1, 0.4))
    value = result.compile("torch")(q1, q2, c, **tensors)
    gradients = torch.autograd.grad(value, list(tensors.values()))
    for name, gradient in zip(values, gradients, strict=True):
        up, down = (
            float(result.number({"q1": 0.7, "q2": 2.1, "c": 0.4, **values, name: values[name] + h}))
            for h in (1e-5, -1e-5)
        )
        assert float(gradient) == pytest.approx((up - down) / 2e-5, abs=1e-9)
