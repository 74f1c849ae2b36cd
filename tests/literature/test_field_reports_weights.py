"""What people asked in public about weights, fans and dropout: the answers, and the same of a transformed twin.

Sources are named by repository and thread in each docstring.
"""

import math

import pytest
from sympy import sqrt

from derive import Dropout, theory
from derive.layers.weights import (
    conv_fans,
    kaiming,
    library_default,
    linear_fans,
    normal,
    torch_fans,
    truncated,
    uniform,
)


def test_default_linear_in_a_relu_net():
    """pytorch/pytorch#15314: kaiming_uniform(a = sqrt 5) is U(-1/sqrt n, 1/sqrt n)."""
    for n in (256, 100):
        told = library_default("torch", linear_fans(n, n))
        sw2, sb2 = told.weight.sigma_w2(n), told.bias
        assert (sw2 * 3, sb2 * 3 * n) == (1, 1)
        assert float(told.weight.second) == pytest.approx(float(uniform(1 / sqrt(n)).second))
        point = theory("relu").at(sigma_w=sqrt(sw2), sigma_b=sqrt(sb2))
        assert float(point.q) == pytest.approx(float(sb2) * 6 / 5, rel=1e-12)
        assert float(point.xi_q) == pytest.approx(1 / math.log(6), rel=1e-10)
    assert float(point.chi) ** 10 == pytest.approx(1.65381716879e-8, rel=1e-10)


def test_a_is_a_slope_not_an_amplitude():
    """Blealtan/efficient-kan#72."""
    for s, bound in ((1, 1.0), (2, 0.534522483824849), (3, math.sqrt(6 / 46))):
        law = kaiming(64, s * sqrt(5), shape="uniform")
        assert float(sqrt(3 * law.variance)) * 8 == pytest.approx(bound, rel=1e-14)


def test_first_layer_of_a_siren():
    """vsitzmann/siren#43: the sine sees 30 W x, of variance 900 n Var W Var x."""
    for n, w0 in ((256, 30), (100, 10)):
        q = w0**2 * uniform(1 / sqrt(n * n)).sigma_w2(n) * uniform(1).second
        assert float(q) == pytest.approx(w0**2 / 9 / n)
        value = theory("sin(x)").second_moment.number(q=q)
        assert float(value) == pytest.approx((1 - math.exp(-2 * float(q))) / 2, rel=1e-12)
    assert float(theory("sin(x)").second_moment.number(q="0.390625")) == pytest.approx(0.271083319114193, rel=1e-12)


def test_selu_with_ordinary_dropout():
    """ageron/handson-ml#88: q* grows and is lost at 1 - p = lambda^2/2."""
    point = theory("dense(sigma_w=1, sigma_b=0) >> selu >> dropout(0.1)").at(sigma_w=1, sigma_b=0, q0=1)
    assert float(point.q) == pytest.approx(1.6255874806317, rel=1e-9)
    for p, grows in (("0.4480", False), ("0.4481", True)):
        found = theory(f"dense(sigma_w=1, sigma_b=0) >> selu >> dropout({p})").at(sigma_w=1, sigma_b=0, q0=1)
        assert (not found.fixed_points) == grows


def test_depthwise_fan_out():
    """pytorch/pytorch#23854: torch's fan_out leaves out groups."""
    fans, theirs = conv_fans(4, 4, (3, 3), groups=4), torch_fans((4, 1, 3, 3))
    assert (fans.fan_out, theirs.fan_out) == (9, 36)
    assert float(kaiming(theirs.fan_out).std) == pytest.approx(0.235702260396, rel=1e-11)
    assert float(kaiming(fans.fan_out).std) == pytest.approx(0.471404520791, rel=1e-11)
    assert kaiming(theirs.fan_out).sigma_w2(fans.fan_in) / 2 * 4 == 1
    strided = conv_fans(8, 8, (3, 3), groups=2, stride=2)
    assert (strided.fan_in, strided.fan_out) == (36, 9)


def test_truncated_normals():
    """keras-team/keras#8048 and pytorch/pytorch#155588: two sigma, or two."""
    law = truncated(1, in_sigmas=True)
    assert float(law.variance) == pytest.approx(0.773741303549923247, rel=1e-15)
    assert float(law.std) == pytest.approx(0.87962566103423975, rel=1e-15)
    assert float(law.variance) ** 20 == pytest.approx(0.00591446704432, rel=1e-11)
    assert float(truncated("0.02", -2, 2).variance) == pytest.approx(4e-4, rel=1e-15)
    assert float(truncated("0.02", in_sigmas=True).variance) == pytest.approx(3.09496521419969e-4, rel=1e-14)
    assert float(truncated("0.04", in_sigmas=True).variance) == pytest.approx(4 * 3.09496521419969e-4, rel=1e-14)


def test_dividing_by_the_width_and_by_its_root():
    """EleutherAI/gpt-neox#1087."""
    relu = theory("relu").second_moment
    for m in (4, 9):
        he = kaiming(256).std
        by_m, by_root = (normal(he / s).sigma_w2(256) for s in (m, sqrt(m)))
        assert float(by_m * relu.number(q=1).mid) == pytest.approx(m**-2)
        assert float(by_root * relu.number(q=1).mid) == pytest.approx(1 / m)
    assert float(normal("0.02").sigma_w2(256)) == pytest.approx(0.1024)


def test_residual_scaling():
    """karpathy/minGPT#134: N branches of variance 1/N, and the std of c_proj."""
    for n, growth in ((24, 2.6637312580686), (48, 2.6904965986289), (12, 2.6130352902247)):
        block = theory(f"residual(identity >> dense, scale=1/sqrt({n}))")
        step = float(block.variance_map.number(q=1, sigma_w=1, sigma_b=0))
        assert step**n == pytest.approx(growth, rel=1e-12)
    assert 0.02 / math.sqrt(2 * 12) == pytest.approx(0.00408248290463863, rel=1e-14)


def test_std_that_is_sqrt_two_too_large():
    """szagoruyko/wide-residual-networks#41: std = 2/sqrt(fan)."""
    ratio = float(theory("relu").variance_map.number(q=1, sigma_w=sqrt(normal(sqrt(4 / 1)).sigma_w2(1)), sigma_b=0))
    assert ratio == pytest.approx(2)
    assert ratio**28 == pytest.approx(268435456)


def test_streams_of_normalised_and_bare_branches():
    """lightvector/KataGo#843: i + 1 with a norm in every branch, 2^i without."""
    q = 1.0
    normed = theory("residual(rmsnorm >> relu >> dense)").variance_map
    for i in range(6):
        assert q == pytest.approx(i + 1, rel=1e-12)
        q = float(normed.number(q=q, sigma_w=sqrt(2), sigma_b=0))
    bare = theory("residual(relu >> dense)").variance_map
    assert float(bare.number(q=3, sigma_w=sqrt(2), sigma_b=0)) == pytest.approx(6)


def test_dropout_behind_a_function_with_a_mean():
    """cognizant-ai-labs/autoinit: the mean is not scaled twice."""
    for p, second in (("0.5", 1.0), ("0.2", 0.625)):
        block = theory("relu").block >> Dropout(p)
        assert float(theory(block).mean.number(q=1)) == pytest.approx(0.398942280401433, rel=1e-14)
        assert float(theory(block).second_moment.number(q=1)) == pytest.approx(second, rel=1e-12)
