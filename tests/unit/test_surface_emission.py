"""Emitted results: values against certified numbers, gradients at the edges, dtypes, quadrature."""

import numpy as np
import pytest
import torch

from derive import Activation, EocError, expect, theory

ENDS = (1.0, -1.0, 0.5, 0.0)


def edge_point(dtype):
    c = torch.tensor(ENDS, dtype=dtype, requires_grad=True)
    q1 = torch.full((4,), 1.5, dtype=dtype, requires_grad=True)
    q2 = torch.full((4,), 0.5, dtype=dtype, requires_grad=True)
    return q1, q2, c


@pytest.mark.parametrize("text", ["relu", "gelu", "erf(x)", "sin(x)", "abs(x)", "max(x, 0)**2", "x*tanh(softplus(x))"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_covariance_map_and_its_gradients_at_the_edges(text, dtype):
    result = theory(text).covariance_map
    q1, q2, c = edge_point(dtype)
    value = result.compile("torch")(q1, q2, c)
    assert value.dtype == dtype
    gradients = torch.autograd.grad(value.sum(), (q1, q2, c))
    tolerance = 3e-6 if dtype == torch.float32 else 2e-13
    at = [{"q1": 1.5, "q2": 0.5, "c": end} for end in ENDS]
    np.testing.assert_allclose(value.detach(), [float(result.number(**p)) for p in at], atol=tolerance)
    for name, gradient in zip(("q1", "q2", "c"), gradients, strict=True):
        if name == "c":
            truth = [float(result.diff("c").number(**p)) for p in at]
        else:
            truth = [central(result, name, p) for p in at]
        np.testing.assert_allclose(gradient, truth, atol=max(tolerance, 1e-9))


def central(result, name, point, step="1e-6"):
    """A central difference of certified numbers at fixed c."""
    from fractions import Fraction

    h = Fraction(step)
    up, down = ({**point, name: Fraction(str(point[name])) + s * h} for s in (1, -1))
    difference = result.number(**up, digits=25).mid - result.number(**down, digits=25).mid
    return float(difference / (2 * (h.numerator / h.denominator)))


def test_second_derivative_of_the_relu_kernel_is_infinite_at_both_ends():
    # kappa_1(c) = (sqrt(1 - c^2) + c (pi - acos c))/pi: NaN in naive torch code (google/neural-tangents issue 88)
    kernel = theory("relu").covariance_map.compile("torch")
    one = torch.tensor(1.0, dtype=torch.float64)
    slope = torch.func.grad(lambda c: 2 * kernel(one, one, c))
    curvature = torch.func.grad(slope)
    for end, value, first in ((1.0, 1.0, 1.0), (-1.0, 0.0, 0.0)):
        c = torch.tensor(end, dtype=torch.float64)
        assert float(2 * kernel(one, one, c)) == value
        assert float(slope(c)) == first
        assert float(curvature(c)) == float("inf")
    mixed = torch.func.grad(lambda q, c: torch.func.grad(lambda d: kernel(q, one, d))(c))(one, one)
    assert float(mixed) == pytest.approx(0.25)


@pytest.mark.parametrize("text", ["relu", "gelu", "tanh(x)", "x*tanh(softplus(x))", "1/(1+abs(x))"])
def test_single_maps_on_numpy_arrays_over_many_scales(text):
    t = theory(text)
    q = np.array([1e-6, 1e-2, 1.0, 30.0])
    given = {"sigma_w": 1.5, "sigma_b": 0.25}
    values = t.variance_map.compile("numpy")(q, **given)
    truth = [float(t.variance_map.number(q=v, **given)) for v in q]
    np.testing.assert_allclose(values, truth, rtol=1e-13)
    slopes = t.chi.compile("numpy")(q, sigma_w=1.5)
    np.testing.assert_allclose(slopes, [float(t.chi.number(q=v, sigma_w=1.5)) for v in q], rtol=1e-12)


def test_scalars_and_dtypes():
    f = theory("leaky_relu").variance_map.compile("numpy")
    assert np.ndim(f(2.0, a=0.1, sigma_w=1.0, sigma_b=0.0)) == 0
    assert f(np.float32([1, 2]), a=0.1, sigma_w=1.0, sigma_b=0.0).dtype == np.float32
    with pytest.raises(TypeError):
        f(2.0, sigma_w=1.0, sigma_b=0.0)


def test_the_plane_rule_on_a_known_kernel():
    """Where the Hermite series is too long: the arc-cosine kernel (Cho & Saul 2009, eq. 3), through the quadrature."""
    from derive.emit.quadratures import quadratures

    points = [(50.0, 20.0, c) for c in (0.9999, -0.9999, 1 - 1e-9)]
    angles = np.arccos([c for _, _, c in points])
    truth = 1000**0.5 / (2 * np.pi) * (np.sin(angles) + (np.pi - angles) * np.cos(angles))
    scope = {"np": np, "torch": torch}
    exec(compile(quadratures()["numpy"].source, "<numpy>", "exec"), scope)
    step = lambda x: (x > 0) * 1.0  # noqa: E731
    found = scope["_pair"](lambda x: x * (x > 0), lambda x: x * (x > 0), step, step, *np.array(points).T)
    np.testing.assert_allclose(found, truth, atol=1e-13)
    exec(compile(quadratures()["torch"].source, "<torch>", "exec"), scope)
    q1, q2, c = (torch.tensor(row).requires_grad_() for row in np.array(points).T)
    value = scope["_pair"](torch.relu, torch.relu, step, step, q1, q2, c)
    np.testing.assert_allclose(value.detach(), truth, atol=1e-13)
    (slope,) = torch.autograd.grad(value.sum(), c)
    np.testing.assert_allclose(slope, 1000**0.5 * (np.pi - angles) / (2 * np.pi), atol=1e-10)


@pytest.mark.slow
def test_a_pair_whose_hermite_series_is_too_long_is_integrated_over_the_plane():
    t = theory("tanh(20*x)")
    value = t.covariance_map.compile("numpy")(50.0, 50.0, np.array([0.2, 0.9999]))
    want = [float(t.covariance_map.number(q1=50, q2=50, c=c)) for c in ("0.2", "0.9999")]
    np.testing.assert_allclose(value, want, atol=1e-14)
    c = torch.tensor(0.9999, dtype=torch.float64, requires_grad=True)
    beside = t.covariance_map.compile("torch")(torch.tensor(50.0, dtype=torch.float64), 50.0, c)
    assert float(beside.detach()) == pytest.approx(want[1], abs=1e-14)
    (slope,) = torch.autograd.grad(beside, c)
    assert float(slope) == pytest.approx(float(t.covariance_map.diff("c").number(q1=50, q2=50, c="0.9999")), rel=1e-11)


def test_a_function_that_no_panel_resolves_has_no_value():
    """NaN, not a wrong number: 1e5 oscillations within the reach of the normal density."""
    f = theory("tanh(sin(30000*x))").covariance_map.compile("numpy")
    assert np.isnan(f(1.0, 1.0, 0.999))


def test_a_steep_place_away_from_zero_is_resolved():
    t = theory("tanh(20*(x - 3)) + tanh(x)")
    truth = float(t.variance_map.number(q=4, sigma_w=1, sigma_b=0))
    assert t.variance_map.compile("numpy")(4.0, sigma_w=1.0, sigma_b=0.0) == pytest.approx(truth, rel=1e-13)
    q = torch.tensor(4.0, dtype=torch.float64)
    assert float(t.variance_map.compile("torch")(q, sigma_w=1.0, sigma_b=0.0)) == pytest.approx(truth, rel=1e-13)


def test_activation_code_and_refusals():
    phi = Activation("leaky_relu")
    assert phi.compile("numpy")(np.array([-2.0, 3.0]), a=0.5).tolist() == [-1.0, 3.0]
    with pytest.raises(EocError, match="backend"):
        phi.code("fortran")
    with pytest.raises(EocError, match="infinite"):
        theory("sign(x)").chi.code()
    assert "def pair_expectation" in expect(phi, phi).code("numpy")


@pytest.mark.parametrize("text", ["x*(x > 1)", "step(x)", "x + sign(x)"])
def test_slope_of_the_kernel_of_a_function_that_jumps(text):
    """Infinite at c = 1 with equal variances, where two jumps meet; a finite number where they do not."""
    result = theory(text).covariance_map
    kernel = result.compile("torch")
    c = torch.tensor([1.0, 0.5, -0.25], dtype=torch.float64, requires_grad=True)
    one = torch.ones(3, dtype=torch.float64, requires_grad=True)
    wanted = torch.autograd.grad(kernel(one, one, c).sum(), (one, c))
    by_variance, by_correlation = (w.tolist() for w in wanted)
    assert by_correlation[0] == float("inf")
    assert np.isfinite(by_variance).all()
    for place, end in ((1, "0.5"), (2, "-0.25")):
        point = {"q1": 1, "q2": 1, "c": end}
        assert by_correlation[place] == pytest.approx(central(result, "c", point), abs=1e-9)
        both = sum(central(result, name, point) for name in ("q1", "q2"))
        assert by_variance[place] == pytest.approx(both, abs=1e-9)


def test_docstrings_hold_formula_text():
    text = theory("max(x, 0) + (exp(x) - 1 if x < 0 else 0)").covariance_map.code("numpy")
    assert "Phi2(" in text and "Phi(" in text
    assert "NormalCdf" not in text


@pytest.mark.parametrize(
    ("text", "names"),
    [("relu", "q1"), ("gelu", "c"), pytest.param("gelu", "c q1", marks=pytest.mark.slow), ("a*relu(x) + x", "a")],
)
def test_slopes_of_pairs_are_emitted_with_their_gradients(text, names):
    result = theory(text).covariance_map
    for name in names.split():
        result = result.diff(name)
    given = dict.fromkeys(result.parameters, 0.4)
    truth = float(result.number(q1=1.5, q2=0.5, c=0.3, **given))
    assert float(result.compile("numpy")(1.5, 0.5, 0.3, **given)) == pytest.approx(truth, rel=1e-13)
    c = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
    function = result.compile("torch")
    (gradient,) = torch.autograd.grad(function(1.5, 0.5, c, **given), c)
    assert float(gradient) == pytest.approx(central(result, "c", {"q1": 1.5, "q2": 0.5, "c": 0.3, **given}), rel=1e-8)


@pytest.mark.parametrize("text", ["elu", pytest.param("selu", marks=pytest.mark.slow)])
def test_small_variances_where_the_closed_form_cancels(text):
    """Within 1e-14 of sqrt(m2(q1) m2(q2)); the formula itself loses every digit at q = 1e-12."""
    t = theory(text)
    given = dict.fromkeys(t.covariance_map.parameters, "0.75")
    floats = dict.fromkeys(given, 0.75)
    kernel, second = t.covariance_map.compile("numpy"), t.second_moment.compile("numpy")
    variances = ("1e-12", "1e-6", "0.049", "0.051", "2", "1000")
    moment = {q: float(t.second_moment.number(q=q, **given)) for q in variances}
    for q in variances:
        assert float(second(float(q), **floats)) == pytest.approx(moment[q], rel=1e-14)
    for q1, q2 in (("1e-12", "1e-12"), ("1e-6", "1e-12"), ("0.049", "0.051"), ("1e-12", "2"), ("1e-6", "1000")):
        for c in ("-1", "-0.999999999", "-0.5", "0.25", "0.99", "1"):
            truth = float(t.covariance_map.number(q1=q1, q2=q2, c=c, **given))
            error = abs(float(kernel(float(q1), float(q2), float(c), **floats)) - truth)
            assert error <= 1e-14 * (moment[q1] * moment[q2]) ** 0.5, (q1, q2, c)


@pytest.mark.slow
def test_small_variances_in_torch_keep_gradients_and_batches():
    t = theory("elu")
    kernel = t.covariance_map.compile("torch")
    q = torch.tensor([1e-6, 1.0, 1e-3], dtype=torch.float64)
    c = torch.tensor([1.0, 0.5, -0.25], dtype=torch.float64)
    plain = t.covariance_map.compile("numpy")(q.numpy(), 2.0, c.numpy(), alpha=0.75)
    np.testing.assert_allclose(kernel(q, 2.0, c, alpha=0.75), plain, rtol=1e-13)
    slope = torch.func.vmap(torch.func.grad(lambda q, c: kernel(q, 2.0, c, alpha=0.75), argnums=1))(q, c)
    want = [
        float(t.covariance_map.diff("c").number(q1=str(a), q2=2, c=str(b), alpha="0.75"))
        for a, b in zip(q.tolist(), c.tolist(), strict=True)
    ]
    np.testing.assert_allclose(slope, want, rtol=1e-11)
