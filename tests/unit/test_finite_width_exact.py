"""What holds at every width: scale-invariant functions, and gains that keep the mean or the typical kernel."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sympy import Integer, Rational

from derive import Activation, theory
from derive.depth.finite.scale_invariant import ScaleInvariant
from derive.records import EocError

RELU = ScaleInvariant(Integer(1), Integer(0))


def test_relu_by_hand():
    """Cumulants 5, 44, 558 of Y give the moments of R at any width."""
    n = 64
    assert RELU.s == 5
    assert RELU.moment(2, n) == 1 + Rational(5, n)
    assert RELU.moment(3, n) == 1 + Rational(15, n) + Rational(44, n**2)
    assert RELU.moment(4, n) == 1 + Rational(30, n) + Rational(251, n**2) + Rational(558, n**3)
    assert RELU.vertex([n] * 4) == n * ((1 + Rational(5, n)) ** 4 - 1)
    assert RELU.beta([10, 20]) == Rational(3, 4)


def test_leading_order_is_that_of_the_recursion():
    d = theory(Activation("leaky_relu", a="1/10")).finite_width.depth(1, 6, 10**9, repr(math.sqrt(2 / 1.01)))
    law = theory(Activation("leaky_relu", a="1/10")).finite_width.exact
    assert float(law.vertex([10**9] * 5)) == pytest.approx(d.vertex[-1] / d.kernel[-1] ** 2, rel=1e-6)


def test_logarithm_of_a_layer():
    """Two-term expansions in 1/n, remainder of order 1/n^3; the sum over gates against brute force at width 2."""
    n = 2000
    assert float(RELU.log_mean(n)) == pytest.approx(-5 / (2 * n) - 49 / 12 / n**2, abs=40 / n**3)
    assert float(RELU.log_variance(n)) == pytest.approx(5 / n + 18.5 / n**2, abs=200 / n**3)
    digamma = {1: -0.5772156649015329 - 2 * math.log(2), 2: -0.5772156649015329}
    want = (2 * (digamma[1] + math.log(2)) + digamma[2] + math.log(2)) / 3
    assert float(RELU.log_mean(2)) == pytest.approx(want, rel=1e-14)


@pytest.mark.parametrize("slope", [Rational(1, 10), Rational(1, 2), Rational(-1, 100)])
def test_logarithm_where_both_sides_pass(slope):
    """The integral transform against samples, and against the law with equal slopes where they nearly agree."""
    law, n, count = ScaleInvariant(Integer(1), slope), 8, 400_000
    z = np.random.default_rng(7).standard_normal((count, n))
    r = np.log((np.where(z > 0, z, float(slope) * z) ** 2).mean(1) / float(law.even(1)))
    assert abs(r.mean() - float(law.log_mean(n))) < 4.5 * r.std() / math.sqrt(count)
    spread = (r - r.mean()) ** 2
    assert abs(spread.mean() - float(law.log_variance(n))) < 4.5 * spread.std() / math.sqrt(count)


def test_equal_slopes_are_the_limit_of_the_transform():
    even, near = ScaleInvariant(Integer(1), Integer(-1)), ScaleInvariant(Integer(1), Rational(10**7 + 1, 10**7))
    assert float(even.log_mean(32)) == pytest.approx(float(near.log_mean(32)), rel=1e-10)
    assert float(even.log_variance(32)) == pytest.approx(float(near.log_variance(32)), rel=1e-10)


def test_power_means():
    assert float(RELU.power_mean(1, 64)) == 1
    assert float(RELU.power_mean(2, 64)) == pytest.approx(math.sqrt(1 + 5 / 64), rel=1e-14)
    assert float(RELU.power_mean("1/1000000", 64)) == pytest.approx(math.exp(float(RELU.log_mean(64))), abs=1e-6)
    with pytest.raises(EocError, match="fractional"):
        ScaleInvariant(Integer(1), Rational(1, 10)).power_mean("1/2", 64)


def test_relu_needs_nothing_for_the_mean_and_more_for_the_typical_network():
    fw, root = theory("relu").finite_width, "1.4142135623730951"
    mean = fw.initialisation(1, 64, root, layers=6)
    assert mean.exact and np.allclose(mean.sigma_w**2, 2, rtol=1e-12)
    typical = fw.initialisation(1, [32, 64], root, keep="typical")
    want = [2, *(2 * math.exp(-float(RELU.log_mean(n))) for n in (32, 64))]
    np.testing.assert_allclose(typical.sigma_w**2, want, rtol=1e-12)
    assert typical.gradient[-1] == pytest.approx(5 / 2 * (1 / 32 + 1 / 64), rel=1e-9)
    assert mean.gradient[-1] == pytest.approx(0, abs=1e-12)


def test_the_mean_at_the_next_order():
    """Under the corrected gains the corrected recursion has K1 = 0 in every layer: iterate it afresh."""
    fw, n = theory("tanh").finite_width, 100
    kept, d = fw.initialisation(1, n, 1, layers=12), fw.depth(1, 12, n, 1)
    k1 = 0.0
    for layer in range(11):
        q = float(d.kernel[layer])
        slope, bend, plain = (
            float(getattr(fw, name).number(q=repr(q), sigma_w=1, **extra))
            for name, extra in (("transport", {}), ("curvature", {}), ("kernel", {"sigma_b": 0}))
        )
        k1 = slope * k1 + bend * d.vertex[layer] / 2 + n * (kept.sigma_w[layer + 1] ** 2 - 1) * plain
        assert k1 == pytest.approx(0, abs=1e-9)
    deep = fw.initialisation(1, 10**5, 1, layers=1500)
    assert 1e5 * (deep.sigma_w[-1] ** 2 - 1) == pytest.approx(2 / 3, rel=0.02)


def test_the_code_for_torch_fills_a_stack_of_its_widths():
    import torch

    found = theory("tanh").finite_width.initialisation(1, [300, 200], "1.1", "0.2")
    scope: dict = {}
    exec(found.code(), scope)  # the text that a user would save
    model = torch.nn.Sequential(torch.nn.Linear(400, 300), torch.nn.Tanh(), torch.nn.Linear(300, 200), torch.nn.Tanh(),
                                torch.nn.Linear(200, 500))  # fmt: skip
    torch.manual_seed(0)
    scope["init_"](model)
    for layer, gain in zip(model[::2], found.sigma_w, strict=True):
        want = gain / math.sqrt(layer.in_features)
        assert float(layer.weight.detach().std()) == pytest.approx(want, rel=5 / math.sqrt(2 * layer.weight.numel()))
    with pytest.raises(ValueError, match="widths"):
        scope["init_"](model[:3])
