"""Emitted code over the catalogue and at the extremes: finite where the truth is, NaN where there is none."""

import math
import tracemalloc

import numpy as np
import pytest
import torch

from derive import Activation, theory
from derive.catalogue import names
from derive.commands._code import theory_code
from derive.emit import load
from derive.records import EocError
from derive.surface.coupled import is_gated

torch.set_num_threads(1)

FEW = ("relu", "erf")
SIGMAS = {"sigma_w": 1.5, "sigma_b": 0.25}


def values_of(domains):
    """A number inside each parameter's domain."""
    found = {}
    for name, domain in domains:
        low, high = float(domain.lower), float(domain.upper)
        middle = 0.5 if low < 0.5 < high else (low + high) / 2 if math.isfinite(low + high) else low + 1
        found[name] = middle if math.isfinite(middle) else high - 1
    return found


def closed_maps(name):
    """The theory and the closed maps of an entry."""
    t = theory(name)
    return t, {k: r for k, r in t.results.items() if str(r.kind) in ("EXACT", "SPECIAL") and r.arguments}


def arguments(result, dtype, shape=(3,)):
    """Ordinary arguments of a result, c = 1 among them."""
    law = {"q": [0.25, 1.0, 4.0], "q1": [0.25, 1.0, 4.0], "q2": [0.25, 1.0, 3.0], "c": [1.0, 1.0, -0.5]}
    return [torch.tensor(law[a], dtype=dtype).reshape(shape) for a in result.arguments if a in law]


@pytest.mark.parametrize("name", FEW)
def test_shapes_dtypes_and_gradients(name):
    check_entry(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in names() if n not in FEW])
def test_shapes_dtypes_and_gradients_of_the_catalogue(name):
    check_entry(name)


def check_entry(name):
    """Values and gradients of every closed map: no NaN, infinite only where the map says so, dtype and shape kept."""
    try:
        t, maps = closed_maps(name)
    except EocError as error:
        pytest.skip(str(error))
    jumps = bool(getattr(t.maps, "jumps", False))
    for title, result in maps.items():
        given = {p: v for p, v in values_of(t.domains).items() if p in result.parameters}
        given |= {k: v for k, v in SIGMAS.items() if k in result.arguments}
        tensors, numbers = result.compile("torch"), result.compile("numpy")
        for dtype in (torch.float32, torch.float64):
            point = [a.requires_grad_() for a in arguments(result, dtype)]
            if not point:
                continue
            value = tensors(*point, **given)
            assert value.dtype == dtype and value.shape == (3,), title
            same = numbers(*(a.detach().numpy() for a in point), **given)
            assert same.dtype == point[0].detach().numpy().dtype and same.shape == (3,), title
            assert not np.isnan(same).any() and not torch.isnan(value).any(), title
            scale = 1 + np.abs(same)
            found = value.detach().numpy()
            tight = 1e-12 if dtype == torch.float64 else 1e-4
            assert ((np.abs(found - same) <= tight * scale) | (found == same)).all(), title
            if torch.isfinite(value).all():
                slopes = torch.autograd.grad(value.sum(), point, allow_unused=True)
                for slope in slopes:
                    assert slope is None or not torch.isnan(slope).any(), title
                    assert slope is None or jumps or torch.isfinite(slope).all(), title
        scalar = numbers(*(float(a[0]) for a in arguments(result, torch.float64)), **given)
        assert np.shape(scalar) == (), title


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["relu", "gelu", "erf", "sin"])
def test_variances_over_the_range_of_the_dtype(name, dtype):
    """Products of variances overflow where kernels do not: R48's chain of layers reaches 5e19."""
    result = theory(name).covariance_map
    wide, narrow = result.compile("mpmath"), result.compile("numpy")
    torched = result.compile("torch")
    for q in (1e-30, 1e-20, 1e-9, 1e10, 5e19):
        for c in (-1.0, -0.75, 0.5, 1.0):
            truth = float(wide(float(dtype(q)), float(dtype(q)), c))
            scale = max(abs(truth), float(wide(float(dtype(q)), float(dtype(q)), 1.0)))
            found = [narrow(dtype(q), dtype(q), dtype(c))]
            found.append(torched(*(torch.tensor(dtype(v)) for v in (q, q, c))).numpy())
            for value in found:
                assert abs(float(value) - truth) <= 20 * np.finfo(dtype).eps * scale, (q, c, value, truth)


def test_large_weights_keep_their_variance():
    """ReLU with sigma_w = 1, ..., 15 in turn: the product of sigma_w**2/2."""
    made = load(theory_code(theory("relu"), "torch"))
    gram = torch.ones(2, 2)
    for sigma_w in range(1, 16):
        gram = made.kernel_step(gram, sigma_w=float(sigma_w), sigma_b=0.0)
    truth = math.prod(i * i / 2 for i in range(1, 16))
    assert torch.allclose(gram, torch.full((2, 2), truth), rtol=1e-5, atol=0)


@pytest.mark.parametrize("name", ["relu", "gelu", "sin"])
def test_what_is_no_correlation_has_no_value(name):
    result = theory(name).covariance_map
    above = np.nextafter(1.0, 2.0)
    for c, side in ((1.1, None), (-1.5, None), (above, 1.0), (-above, -1.0), (1 + 1e-10, None)):
        at_end = None if side is None else result.compile("numpy")(1.0, 1.0, side)
        for value in (
            float(result.compile("numpy")(1.0, 1.0, c)),
            float(result.compile("torch")(1.0, 1.0, torch.tensor(c, dtype=torch.float64))),
            float(result.compile("mpmath")(1, 1, c)) if side is None else at_end,
        ):
            assert math.isnan(value) if side is None else value == at_end, c


def test_gradient_ignores_what_the_diagonal_does_not_use():
    """The slope of ReLU's tangent gain is infinite at c = 1: not for an input beside itself."""
    made = load(theory_code(theory("relu"), "torch"))
    gram = torch.tensor([[1.0, 0.5], [0.5, 2.0]], dtype=torch.float64, requires_grad=True)
    for part in made.tangent_recursion(gram, 2, sigma_w=1.2, sigma_b=0.1):
        (slope,) = torch.autograd.grad(part.sum(), gram, retain_graph=True)
        assert torch.isfinite(slope).all()


def test_memory_of_a_large_gram_matrix():
    """Argument, blocks and result: three matrices, and what a block needs."""
    made = load(theory_code(theory("relu"), "numpy"))
    n = 3000
    gram = np.full((n, n), 0.5, dtype=np.float32)
    np.fill_diagonal(gram, 1)
    tracemalloc.start()
    mapped = made.kernel_step(gram, sigma_w=1.5, sigma_b=0.1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert mapped.dtype == np.float32 and peak < 2.5 * gram.nbytes
    small = made.kernel_step(gram[:50, :50], sigma_w=1.5, sigma_b=0.1)
    np.testing.assert_allclose(mapped[:50, :50], small, rtol=1e-6)


OVERFLOWING = ("gish", "logcosh", "tanhexp", "telu")
"""An inner exponential overflows before the rest vanishes."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=pytest.mark.xfail(reason="NaN or inf far out", strict=True)) if n in OVERFLOWING else n
        for n in names()
        if not is_gated(n)
    ],
)
def test_phi_and_its_slope_far_out(name):
    """At x = 0 and far out in both precisions: what is finite in exact arithmetic is finite, value and gradient."""
    phi = Activation(name)
    given = values_of(phi.domains.items())
    exact, arrays, tensors = (load(phi.code(backend)) for backend in ("mpmath", "numpy", "torch"))
    for dtype in (torch.float32, torch.float64):
        x = torch.tensor([-1000.0, -30.0, -1e-30, 0.0, 1e-30, 30.0, 1000.0], dtype=dtype, requires_grad=True)
        largest = torch.finfo(dtype).max
        plain = x.detach().numpy()
        values = tensors.phi(x, **given)
        (slopes,) = torch.autograd.grad(values.sum(), x)
        with np.errstate(over="ignore", invalid="ignore"):  # exp(x) itself overflows
            beside = [arrays.phi(plain, **given), arrays.dphi(plain, **given)]
        beside += [tensors.dphi(x, **given).detach().numpy()]
        assert all(part.dtype == plain.dtype and part.shape == plain.shape for part in beside)
        found = (values.detach().numpy(), slopes.numpy(), *beside)
        for place, at in enumerate(plain):
            truth = [float(f(float(at), **given)) for f in (exact.phi, exact.dphi)]
            for value, want in zip(found, (truth[0], truth[1], truth[0], truth[1], truth[1]), strict=True):
                if abs(want) < largest and not (at == 0 and want in truth[1:]):
                    assert np.isfinite(value[place]), (name, at, value[place], want)
                    assert abs(value[place] - want) <= 1e3 * torch.finfo(dtype).eps * (1 + abs(want)), (name, at)
                assert not np.isnan(value[place]), (name, at)
