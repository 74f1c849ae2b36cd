"""mpmath code: the reference of the other backends, at any precision."""

import mpmath
import pytest

from derive import Activation, theory


@pytest.mark.parametrize("text", ["relu", "gelu", "elu", "sin(x)", "clip(x, -1, 1)"])
def test_mpmath_closed_maps_to_thirty_digits(text):
    result = theory(text).covariance_map
    kernel = result.compile("mpmath")
    given = dict.fromkeys(result.parameters, "0.7")
    for q1, q2, c in (("1", "2", "0.5"), ("1e-6", "1e-6", "-0.25"), ("0.5", "0.5", "1"), ("0.5", "2", "-1")):
        truth = result.number(q1=q1, q2=q2, c=c, digits=30, **given).mid
        with mpmath.workdps(45):
            value = kernel(q1, q2, c, **given)
        with mpmath.workdps(40):
            scale = mpmath.sqrt(mpmath.mpf(q1) * mpmath.mpf(q2))
            assert abs(value - truth) <= mpmath.mpf(10) ** -27 * scale


def test_mpmath_quadrature_follows_the_precision():
    t = theory("tanh")
    with mpmath.workdps(30):
        value = t.variance_map.compile("mpmath")("1", sigma_w="1.5", sigma_b="0.25")
        truth = t.variance_map.number(q=1, sigma_w="1.5", sigma_b="0.25", digits=30).mid
        assert abs(value - truth) < mpmath.mpf(10) ** -26


def test_mpmath_activation_keeps_rational_numbers():
    phi = Activation("x/3 + sin(x)").compile("mpmath")
    with mpmath.workdps(40):
        assert abs(phi(1) - (mpmath.mpf(1) / 3 + mpmath.sin(1))) < mpmath.mpf(10) ** -39
