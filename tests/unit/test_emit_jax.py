"""JAX code: values against NumPy's, jit, vmap, gradients at the edges, dtypes. Skipped where JAX is absent."""

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="needs the jax extra: pip install 'eoc[jax]'")

from sympy import Symbol  # noqa: E402

from derive import Activation, theory  # noqa: E402
from derive.emit import EmittedFunction, emit, load  # noqa: E402
from derive.program.operations.bivariate_normal_cdf import BivariateNormalCdf  # noqa: E402

ENDS = (1.0, -1.0, 0.5, 0.0)


@pytest.fixture(autouse=True)
def doubles():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("text", ["relu", pytest.param("gelu", marks=pytest.mark.slow), "sin(x)", "abs(x)"])
def test_jax_kernel_and_its_gradients(text):
    result = theory(text).covariance_map
    kernel, plain = jax.jit(result.compile("jax")), result.compile("numpy")
    c = np.array(ENDS)
    np.testing.assert_allclose(kernel(1.5, 0.5, c), plain(1.5, 0.5, c), atol=1e-15)
    slopes = jax.vmap(jax.grad(kernel, argnums=(0, 1, 2)), (None, None, 0))(1.5, 0.5, c)
    for place, name in enumerate(("q1", "q2", "c")):
        step = 1e-6
        for value, got in zip(ENDS, slopes[place], strict=True):
            point = {"q1": 1.5, "q2": 0.5, "c": value}
            if name == "c":
                assert float(got) == pytest.approx(float(result.diff("c").number(**point)), abs=1e-12)
            else:
                up, down = ({**point, name: point[name] + s * step} for s in (1, -1))
                assert float(got) == pytest.approx((plain(**up) - plain(**down)) / (2 * step), abs=1e-8)


def test_jax_second_derivative_of_the_relu_kernel():
    kernel = theory("relu").covariance_map.compile("jax")
    curvature = jax.grad(jax.grad(kernel, 2), 2)
    assert float(curvature(1.0, 1.0, 1.0)) == float("inf") == float(curvature(1.0, 1.0, -1.0))
    mixed = jax.grad(lambda q: jax.grad(kernel, 2)(q, 1.0, 1.0))(1.0)
    assert float(mixed) == pytest.approx(0.25)


def test_jax_bivariate_normal_distribution_function():
    """Values on a grid that meets every branch, and its gradient."""
    h, k, rho = Symbol("h", real=True), Symbol("k", real=True), Symbol("rho", real=True)
    source = (EmittedFunction("f", BivariateNormalCdf(h, k, rho), ("h", "k", "rho")),)
    value, plain = jax.jit(load(emit(source, "jax")).f), load(emit(source, "numpy")).f
    grid = [a.ravel() for a in np.meshgrid([-3, -0.5, 0, 1, 9.0], [-2, 0, 1.0], [-1, -0.7, 0, 0.9999, 1.0])]
    np.testing.assert_allclose(value(*grid), plain(*grid), rtol=2e-14, atol=1e-300)
    slope = float(jax.grad(value, 2)(0.5, 1.0, 0.3))
    density = np.exp(-(0.25 - 0.3 + 1) / (2 * 0.91)) / (2 * np.pi * np.sqrt(0.91))
    assert slope == pytest.approx(density, rel=1e-14)


def test_jax_without_a_closed_form():
    t = theory("tanh(x)")
    given = {"sigma_w": 1.5, "sigma_b": 0.25}
    q = np.array([1e-4, 1.0, 30.0])
    variance = jax.jit(t.variance_map.compile("jax"))
    np.testing.assert_allclose(variance(q, **given), t.variance_map.compile("numpy")(q, **given), rtol=1e-13)
    slope = jax.grad(variance)(1.0, **given)
    assert float(slope) == pytest.approx(float(t.chi_parallel.number(q=1, sigma_w="1.5")), rel=1e-11)
    kernel = jax.jit(t.covariance_map.compile("jax"))
    c = np.array([1.0, 0.99, -0.3])
    want = [float(t.covariance_map.number(q1=1, q2=2, c=str(v))) for v in c]
    np.testing.assert_allclose(kernel(1.0, 2.0, c), want, atol=2e-12)
    slope = jax.grad(kernel, 2)(1.0, 2.0, 1.0)
    assert float(slope) == pytest.approx(float(t.covariance_map.diff("c").number(q1=1, q2=2, c=1)), rel=1e-11)


def test_jax_keeps_shapes_and_dtypes():
    phi = Activation("leaky_relu").compile("jax")
    assert phi(np.float32([-2.0, 3.0]), a=0.5).dtype == np.float32
    assert phi(np.array([[-2.0], [3.0]]), a=np.array([0.5, 0.25])).tolist() == [[-1.0, -0.5], [3.0, 3.0]]
    assert float(jax.grad(lambda x: phi(x, a=0.5))(-1000.0)) == 0.5
    mish = Activation("mish").compile("jax")
    assert [float(jax.grad(mish)(x)) for x in (-1000.0, 1000.0)] == [0.0, 1.0]
