"""Emitted torch modules: values, dtypes, gradients of every branch, edges at c = +-1, torch.func."""

import math

import pytest
import sympy
import torch
from sympy import Heaviside, Max, Min, Piecewise, Rational, acos, erf, erfc, exp, log, pi, sech, sqrt, tanh

from derive import theory
from derive.commands._code import theory_code
from derive.emit import EmittedFunction, Partial, emit, load, pair_bindings
from derive.program import freeze, run_mp
from derive.program.operations.bivariate_normal_cdf import BivariateNormalCdf
from derive.program.operations.owens_t import OwenT
from derive.program.operations.softplus import Softplus
from derive.program.symbols import DELTA, Q1, Q2, C, K, X

torch.set_num_threads(1)

A = sympy.Symbol("a", positive=True)

FUNCTIONS = {
    "relu": Max(X, 0),
    "relu_slope": Heaviside(X),
    "gelu": X * (1 + erf(X / sqrt(2))) / 2,
    "hard_swish": X * Min(Max(X + 3, 0), 6) / 6,
    "erfc": erfc(X),
    "sech": sech(X),
    "constant": sqrt(2) * pi / 3,
    "elu": Piecewise((X, X > 0), (exp(X) - 1, True)),
    "softplus": Softplus(X),
    "mish": X * tanh(log(1 + exp(X))),
    "silu": X / (1 + exp(-X)),
    "two_levels": Piecewise((Rational(1, 10), X > 0), (Rational(1, 5), True)),
    "bump": Piecewise((exp(-1 / (1 - X**2)), (X > -1) & (X < 1)), (0, True)),
}
SMOOTH = ("gelu", "erfc", "sech", "softplus", "mish", "silu")


def function(name, expr=None, **settings):
    expr = FUNCTIONS[name] if expr is None else expr
    return getattr(load(emit((EmittedFunction(name, expr, ("x",), **settings),), "torch")), name)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_emit_torch_values_dtype_and_shape(name, dtype):
    """On a batch and on a 0-d tensor: the input's shape and dtype come out, with the right values."""
    f, program = function(name), freeze({"y": FUNCTIONS[name]}, (X,))
    points = torch.tensor([-4.3, -1.0, -0.2, 0.0, 0.7, 2.5, 6.1], dtype=dtype)
    truth = [float(run_mp(program, {"x": float(x)}, 30)["y"]) for x in points]
    values = f(points)
    assert values.dtype == dtype and values.shape == points.shape
    eps = torch.finfo(dtype).eps
    assert all(abs(float(v) - t) <= 8 * eps * max(1, abs(t)) for v, t in zip(values, truth, strict=True))
    for point, expected in zip(points, truth, strict=True):
        scalar = f(point)
        assert scalar.shape == () and scalar.dtype == dtype
        assert abs(float(scalar) - expected) <= 8 * eps * max(1, abs(expected))
    assert f(torch.tensor([1, 2])).dtype == torch.get_default_dtype()
    assert f(0.5).shape == () and f(0.5).dtype == torch.float64


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_emit_torch_gradcheck(name):
    points = torch.tensor([-4.3, -1.7, -0.2, 0.7, 2.5, 6.1], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(function(name), points)
    if name in SMOOTH:
        assert torch.autograd.gradgradcheck(function(name), points)


def test_emit_torch_slope_at_the_kink_is_the_mean_of_both_sides():
    zero = torch.zeros((), requires_grad=True)
    assert torch.autograd.grad(function("relu")(zero), zero)[0] == 0.5 == function("relu_slope")(torch.zeros(()))


@pytest.mark.parametrize(
    ("name", "right", "left"),
    [
        ("elu", (1000, 1), (-1, 0)),
        ("softplus", (1000, 1), (0, 0)),
        ("mish", (1000, 1), (0, 0)),
        ("silu", (1000, 1), (0, 0)),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_emit_torch_far_values_and_gradients_are_finite(name, right, left, dtype):
    f = function(name)
    for x, (value, slope) in ((1000.0, right), (-1000.0, left)):
        point = torch.tensor([x, x, 0.5], dtype=dtype, requires_grad=True)
        result = f(point)
        (gradient,) = torch.autograd.grad(result.sum(), point, create_graph=True)
        assert result[0] == value and gradient[0] == slope
        (second,) = torch.autograd.grad(gradient.sum(), point)
        assert second[0] == 0 and torch.isfinite(second).all()


def test_emit_torch_sech_curvature_at_zero():
    x = torch.zeros((), dtype=torch.float64, requires_grad=True)
    second = torch.func.grad(torch.func.grad(function("sech")))(x.detach())
    assert abs(second + 1) < 1e-15


@pytest.mark.parametrize(
    "expr",
    [
        Piecewise((log(X), X > A), (sqrt(2 * A - X), True)),
        Piecewise((1, sympy.Eq(X, 0)), (sympy.sin(X) / X, True)),
        Piecewise((X, X < -1), (1 / X, X * 2 < -1), (exp(X), X < 2), (log(X - 1), True)),
    ],
)
def test_emit_torch_branches_not_taken_leak_nothing(expr):
    f = load(emit((EmittedFunction("f", expr, ("x",), ("a",)),), "torch")).f
    x = torch.tensor([-1000.0, -1.0, -0.75, 0.0, 0.3, 1.0, 1.9, 2.5, 90.0, 1000.0], requires_grad=True)
    a = torch.tensor(1.25, requires_grad=True)
    gradients = torch.autograd.grad(f(x, a=a).sum(), (x, a), allow_unused=True)
    assert all(torch.isfinite(gradient).all() for gradient in gradients if gradient is not None)


def test_emit_torch_parameters_take_numbers_and_tensors():
    f = function("scaled", A * tanh(A * X), parameters=("a",))
    x = torch.linspace(-1, 1, 5)
    a = torch.tensor(0.3, requires_grad=True)
    assert f(x, a=0.3).dtype == torch.float32 and torch.equal(f(x, a=0.3), f(x, a=a))
    assert torch.autograd.grad(f(x, a=a).pow(2).sum(), a)[0] > 0
    with pytest.raises(TypeError):
        f(x)


# the ReLU kernel kappa_1 and its derivatives (Cho & Saul 2009), as functions of c
ROOT = sqrt((1 - C) * (1 + C))
KAPPA = EmittedFunction(
    "kappa",
    (ROOT + C * (pi - acos(C))) / pi,
    ("c",),
    gradients={"c": Partial((pi - acos(C)) / pi, {"c": 1 / (pi * ROOT)})},
)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(), (3,)])
@pytest.mark.parametrize(("c", "expected"), [(1.0, (1, 1, math.inf)), (-1.0, (0, 0, math.inf))])
def test_emit_torch_edge_values_and_derivatives(dtype, shape, c, expected):
    f = load(emit((KAPPA,), "torch")).kappa
    point = torch.full(shape, c, dtype=dtype, requires_grad=True)
    value = f(point)
    (first,) = torch.autograd.grad(value.sum(), point, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), point)
    for found, right in zip((value, first, second), expected, strict=True):
        assert found.shape == shape and found.dtype == dtype
        assert (found == right).all(), (found, right)


def test_emit_torch_edge_with_functional_transforms():
    f = load(emit((KAPPA,), "torch")).kappa
    points = torch.tensor([1.0, -1.0, 0.3], dtype=torch.float64)
    first = torch.func.vmap(torch.func.grad(f))(points)
    second = torch.func.vmap(torch.func.grad(torch.func.grad(f)))(points)
    assert first[0] == 1 and first[1] == 0 and abs(first[2] - (math.pi - math.acos(0.3)) / math.pi) < 1e-15
    assert second[0] == second[1] == math.inf and abs(second[2] - 1 / math.pi / math.sqrt(0.91)) < 1e-15
    assert torch.equal(torch.func.vmap(torch.func.hessian(f))(points), second)
    value, tangent = torch.func.jvp(f, (points,), (torch.ones_like(points),))
    assert torch.equal(tangent, first) and torch.equal(value, f(points))
    inner = torch.tensor([0.3, -0.6], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(f, inner) and torch.autograd.gradgradcheck(f, inner)
    jacobian = torch.func.jacrev(torch.func.vmap(torch.func.grad(f)))(points)
    assert not torch.isnan(jacobian).any() and torch.equal(torch.diagonal(jacobian), second)


def pair_relu():
    """E relu(u) relu(v) for variances q1, q2, with partial derivatives in (q1, q2, c) (arc-cosine kernel)."""
    angle = sympy.atan2(sqrt(DELTA), K)
    value = (sqrt(DELTA) + K * (pi - angle)) / (2 * pi)
    slope = sqrt(Q1 * Q2) * (pi - angle) / (2 * pi)
    return EmittedFunction(
        "pair",
        value,
        ("q1", "q2", "c"),
        gradients={"q1": value / (2 * Q1), "q2": value / (2 * Q2), "c": slope},
        bindings=pair_bindings(),
    )


def test_emit_torch_pair_partials_broadcast_and_reach_the_edge():
    f = load(emit((pair_relu(),), "torch")).pair
    q1 = torch.tensor([[0.5], [2.0]], dtype=torch.float64, requires_grad=True)
    q2 = torch.tensor(1.5, dtype=torch.float64, requires_grad=True)
    c = torch.tensor([1.0, -1.0, 0.25], dtype=torch.float64, requires_grad=True)
    value = f(q1, q2, c)
    assert value.shape == (2, 3)
    gradients = torch.autograd.grad(value.sum(), (q1, q2, c))
    assert [gradient.shape for gradient in gradients] == [q1.shape, q2.shape, c.shape]
    roots = torch.sqrt(q1 * q2).detach()
    assert torch.allclose(value[:, 0], roots[:, 0] / 2, rtol=4e-16) and torch.all(value[:, 1] == 0)
    assert torch.allclose(gradients[2][:2], torch.stack([roots.sum() / 2, roots.sum() * 0]), rtol=1e-15, atol=0)
    inner = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (0.7, 1.3, -0.4)]
    assert torch.autograd.gradcheck(f, inner)


def test_emit_torch_unstated_derivative_is_refused():
    stated = EmittedFunction("f", A * ROOT, ("c",), ("a",), gradients={"c": -A * C / ROOT})
    f = load(emit((stated,), "torch")).f
    c, a = torch.tensor(0.5, requires_grad=True), torch.tensor(2.0, requires_grad=True)
    assert abs(torch.autograd.grad(f(c, a=2.0), c)[0] + 2 / math.sqrt(3)) < 1e-6
    with pytest.raises(NotImplementedError, match="a"):
        torch.autograd.grad(f(c, a=a), (c, a))


def test_emit_torch_bivariate_values_and_gradients():
    h, k = sympy.symbols("h k", real=True)
    phi2 = EmittedFunction(
        "phi2", BivariateNormalCdf(h, k, K / sqrt(Q1 * Q2)), ("q1", "q2", "c", "h", "k"), bindings=pair_bindings()
    )
    owen = EmittedFunction("owen", OwenT(h, k), ("h", "k"))
    functions = load(emit((phi2, owen), "torch"))
    numbers = load(emit((phi2, owen), "numpy"))
    points = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (1.1, 0.7, 0.4, 0.3, -0.8)]
    assert torch.autograd.gradcheck(functions.phi2, points) and torch.autograd.gradgradcheck(functions.phi2, points)
    assert torch.autograd.gradcheck(functions.owen, points[3:])
    generator = torch.Generator().manual_seed(3)
    h_, k_ = 2.5 * torch.randn(2, 400, generator=generator, dtype=torch.float64)
    c = 2 * torch.rand(400, generator=generator, dtype=torch.float64) - 1
    c[:4] = torch.tensor([1.0, -1.0, 1 - 1e-12, -1 + 1e-9])
    found = functions.phi2(1.0, 1.0, c, h_, k_).numpy()
    assert abs(found - numbers.phi2(1.0, 1.0, c.numpy(), h_.numpy(), k_.numpy())).max() < 5e-16
    assert abs(functions.owen(h_, 3 * k_).numpy() - numbers.owen(h_.numpy(), 3 * k_.numpy())).max() < 1e-16


def test_emit_torch_imports_only_torch():
    source = emit((KAPPA, pair_relu()), "torch")
    imports = [line for line in source.splitlines() if line.startswith(("import", "from"))]
    assert imports == ["import torch"]


def test_the_module_of_gelu_is_read_in_one_sitting():
    assert len(theory_code(theory("gelu"), "torch").splitlines()) <= 500
