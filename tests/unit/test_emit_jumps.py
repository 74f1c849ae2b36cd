"""Gradients of emitted kernels that are integrated: the Dirac parts of a slope are in them; variances at the ends."""

import numpy as np
import pytest

from derive import theory

torch = pytest.importorskip("torch")

JUMPS = "(x>1)*x + tanh(x)"


def differences(result, at, steps):
    """Derivatives of certified numbers by differences of the fourth order."""
    found = []
    for name, h in zip(("q1", "q2", "c"), steps, strict=True):
        values = [float(result.number({**at, name: at[name] + k * h})) for k in (-2, -1, 1, 2)]
        found.append((values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * h))
    return found


@pytest.mark.parametrize(
    ("text", "point"),
    [
        (JUMPS, (1.3, 0.8, 0.4)),
        # edges of panels meet the breakpoint at sqrt(q) = 1, and the other function's panels at c = 1/2
        pytest.param(JUMPS, (1.0, 4.0, 0.5), marks=pytest.mark.slow),
        pytest.param(JUMPS, (1.0, 1.0, 0.95), marks=pytest.mark.slow),
        pytest.param("(x>0.5)*tanh(x)", (2.0, 0.5, -0.9), marks=pytest.mark.slow),
        pytest.param("max(tanh(x) - 0.3, 0)", (1.0, 4.0, 0.5), marks=pytest.mark.slow),
    ],
)
def test_gradients_of_a_kernel_that_jumps(text, point):
    result = theory(text).covariance_map
    arguments = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in point]
    slopes = torch.autograd.grad(result.compile("torch")(*arguments), arguments)
    truth = differences(result, dict(zip(("q1", "q2", "c"), point, strict=True)), (2e-3, 2e-3, 1e-3))
    assert [float(s) for s in slopes] == pytest.approx(truth, rel=2e-8)


@pytest.mark.slow
def test_jax_has_the_same_gradients():
    jax = pytest.importorskip("jax")
    result = theory(JUMPS).covariance_map
    with jax.enable_x64(True):
        function = jax.grad(result.compile("jax"), argnums=(0, 1, 2))
        for point in ((1.3, 0.8, 0.4), (1.0, 1.0, 0.95), (1.0, 4.0, 0.5)):
            arguments = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in point]
            slopes = torch.autograd.grad(result.compile("torch")(*arguments), arguments)
            assert [float(v) for v in function(*point)] == pytest.approx([float(s) for s in slopes], rel=1e-12)


def test_the_slope_in_c_of_a_kernel_that_jumps_is_not_given_at_the_ends():
    # E phi(u) phi(v) falls off like sqrt(1 - c) there
    arguments = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (1.0, 2.0, 1.0)]
    value = theory(JUMPS).covariance_map.compile("torch")(*arguments)
    slopes = torch.autograd.grad(value, arguments)
    assert torch.isfinite(value) and torch.isfinite(slopes[0]) and torch.isnan(slopes[2])


@pytest.mark.parametrize("text", ["tanh(x)", pytest.param("x*sigmoid(x)", marks=pytest.mark.slow)])
def test_pairs_of_zeros_in_flat_arrays_through_surrogates(text):
    function = theory(text).covariance_map.compile("numpy")
    q1, q2 = np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 1.0, 0.0, 1.0])
    assert function(q1, q2, np.full(4, 0.5)) == pytest.approx([0, 0, 0, float(function(1.0, 1.0, 0.5))], abs=1e-14)
