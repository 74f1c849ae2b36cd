"""Laws of weights and fans, against samples, against torch, and against each other."""

import math

import numpy as np
import pytest
import torch
from sympy import Rational, oo

from derive.layers.weights import (
    Fans,
    balance,
    conv_fans,
    folded,
    geometric,
    kaiming,
    leaky_slope,
    library_default,
    linear_fans,
    normal,
    orthogonal,
    rademacher,
    torch_fans,
    truncated,
    uniform,
)
from derive.records import EocError


@pytest.mark.parametrize(("low", "high", "std"), [(-2, 2, 1), (-0.5, 1.5, 0.7), (-1, "inf", 2), (0.2, 0.9, 1)])
def test_truncated_moments_by_quadrature(low, high, std):
    from scipy.integrate import quad

    upper = float(high)
    law = truncated(std, low, upper)
    weight = lambda x: math.exp(-((x / std) ** 2) / 2)  # noqa: E731
    total = quad(weight, low, upper)[0]
    mean = quad(lambda x: x * weight(x), low, upper)[0] / total
    second = quad(lambda x: x * x * weight(x), low, upper)[0] / total
    assert float(law.mean) == pytest.approx(mean, abs=1e-9)
    assert float(law.second) == pytest.approx(second, rel=1e-9)


def test_folded_is_truncated_at_zero():
    assert float(folded(1).variance - truncated(1, 0, oo).variance) == pytest.approx(0, abs=1e-15)
    with pytest.raises(EocError, match="mean"):
        folded(1).sigma_w2(10)


def test_bounds_in_sigmas_scale_and_absolute_bounds_do_not():
    for std in ("0.02", "0.5", "3"):
        inside = truncated(std, in_sigmas=True).variance / truncated(1, in_sigmas=True).variance
        assert float(inside) == pytest.approx(float(std) ** 2, rel=1e-12)
    assert float(truncated("3").variance) < 2
    assert float(truncated("0.3", in_sigmas=True, corrected=True).std) == pytest.approx(0.3, rel=1e-12)


def test_simple_laws():
    assert uniform(3).second == 3
    assert rademacher(3).second == 9
    assert normal(3).sigma_w2(4) == 36
    assert orthogonal(2, 8, 16).sigma_w2(8) == 2
    assert orthogonal(1, 16, 16).sigma_w2(16) == 1
    with pytest.raises(EocError, match="positive"):
        normal(0)


CONVS = [
    {"stride": 1, "padding": 0},
    {"stride": 2, "padding": 1},
    {"stride": 1, "padding": 2, "dilation": 2},
    {"stride": 1, "padding": 1, "groups": 4},
    {"stride": (2, 1), "padding": 1, "groups": 8},
]


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("options", CONVS)
def test_fans_count_the_connections_of_torch(options, transposed):
    """With all weights 1 an output sums its inputs, and the gradient of an input counts the outputs it reaches."""
    kind = torch.nn.ConvTranspose2d if transposed else torch.nn.Conv2d
    layer = kind(8, 16, (4, 3) if transposed else 3, bias=False, **options)
    torch.nn.init.ones_(layer.weight)
    x = torch.ones(1, 8, 48, 48, requires_grad=True)
    y = layer(x)
    (reached,) = torch.autograd.grad(y.sum(), x)
    fans = conv_fans(8, 16, layer.kernel_size, groups=layer.groups, stride=layer.stride, transposed=transposed)
    inner = (slice(None), slice(None), slice(8, 14), slice(8, 14))
    assert float(y[inner].detach().mean()) == pytest.approx(float(fans.fan_in), rel=1e-6)
    assert float(reached[inner].mean()) == pytest.approx(float(fans.fan_out), rel=1e-6)


def test_torch_fans_are_what_torch_takes():
    for shape in ((5, 7), (4, 1, 3, 3), (6, 2, 5)):
        inside, outside = torch.nn.init._calculate_fan_in_and_fan_out(torch.empty(shape))
        assert (torch_fans(shape).fan_in, torch_fans(shape).fan_out) == (inside, outside)


@pytest.mark.parametrize("slope", [0, 0.3, math.sqrt(5)])
@pytest.mark.parametrize("shape", ["normal", "uniform"])
def test_kaiming_is_torch_s(slope, shape):
    torch.manual_seed(0)
    w = torch.empty(400, 300)
    getattr(torch.nn.init, f"kaiming_{shape}_")(w, a=slope)
    assert float(w.var()) == pytest.approx(float(kaiming(300, slope, shape=shape).variance), rel=0.02)


def test_defaults_of_torch():
    torch.manual_seed(0)
    for layer, fans in (
        (torch.nn.Linear(300, 400), linear_fans(300, 400)),
        (torch.nn.Conv2d(32, 64, 3, groups=4), conv_fans(32, 64, (3, 3), groups=4)),
    ):
        told = library_default("torch", fans)
        assert told.weight.sigma_w2(fans.fan_in) * 3 == 1
        assert float(layer.weight.detach().var()) == pytest.approx(float(told.weight.variance), rel=0.03)
        assert float((layer.bias.detach() ** 2).mean()) == pytest.approx(float(told.bias), rel=0.3)


def test_other_libraries_and_modes():
    fans = linear_fans(100, 300)
    assert float(library_default("flax", fans).weight.sigma_w2(100)) == pytest.approx(1)
    assert float(library_default("keras", fans).weight.sigma_w2(100)) == pytest.approx(0.5)
    assert balance(fans, "fan_in") == (1, 3)
    assert [float(f) for f in balance(fans, "fan_avg")] == [0.5, 1.5]
    assert float(geometric(fans)) == pytest.approx(0.75)
    assert geometric(linear_fans(7, 7)) == 1
    with pytest.raises(EocError, match="mode"):
        Fans(1, 1).of("fan_both")
    with pytest.raises(EocError, match="unknown"):
        library_default("caffe", fans)


def test_a_slope_that_exists_and_one_that_does_not():
    assert leaky_slope("0.52") == Rational(1, 5)
    with pytest.raises(EocError, match="no leaky ReLU"):
        leaky_slope("0.45")


def test_samples_of_the_laws():
    """The one law with two conventions, drawn by torch."""
    torch.manual_seed(1)
    drawn = torch.nn.init.trunc_normal_(torch.empty(200_000), std=0.7, a=-0.5, b=1.5).double().numpy()
    law = truncated("0.7", "-0.5", "1.5")
    error = 5 * float(law.std) / np.sqrt(len(drawn))
    assert abs(drawn.mean() - float(law.mean)) < error
    assert drawn.var() == pytest.approx(float(law.variance), rel=0.02)
