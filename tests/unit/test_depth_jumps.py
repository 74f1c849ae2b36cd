"""Functions that jump: c = 1 repels with infinite slope, and c* < 1 is the root of the arcsine law."""

import mpmath
import pytest

from derive import theory


def by_arcsine(share, offset):
    """c with share * (2/pi) arcsin(c) + offset = c, share + offset = 1, below 1."""
    return mpmath.findroot(lambda c: share * 2 / mpmath.pi * mpmath.asin(c) + offset - c, (0, 0.9), solver="anderson")


@pytest.mark.parametrize(
    ("text", "sigma_w", "sigma_b", "square", "mean"),
    [
        ("sign(x)", "3/2", "1/10", 1, 0),
        ("step", "3/2", "1/10", "1/4", "1/4"),
        ("3*step(-2*x)", "1/2", "1/5", "9/4", "9/4"),
    ],
)
def test_correlations_go_to_the_root_below_one(text, sigma_w, sigma_b, square, mean):
    # E phi(u) phi(v) = mean + square (2/pi) arcsin c for two-valued functions (Sheppard 1899)
    point = theory(text).at(sigma_w, sigma_b)
    w2, b2, square, mean = (number(v) ** k for v, k in ((sigma_w, 2), (sigma_b, 2), (square, 1), (mean, 1)))
    q = w2 * (square + mean) + b2
    c = by_arcsine(w2 * square / q, (w2 * mean + b2) / q)
    assert abs(point.q.mid - q) < mpmath.mpf("1e-13")
    assert abs(point.c.mid - c) < mpmath.mpf("1e-11")
    assert point.gradient == "exploding"
    assert point.geometry == "c -> c* < 1, exponentially"
    assert point.rates[0].law == "at once" and "one block" in str(point.rates[0])
    slope = w2 * square * 2 / mpmath.pi / mpmath.sqrt(1 - c**2) / q
    assert abs(point.xi_c.mid + 1 / mpmath.log(slope)) < mpmath.mpf("1e-8")


def number(value):
    top, _, bottom = str(value).partition("/")
    return mpmath.mpf(top) / mpmath.mpf(bottom or 1)


def test_without_biases_a_sign_forgets_its_input():
    assert theory("sign(x)").at("3/2", 0).c.mid == 0


def test_a_small_jump_beside_a_slope_takes_inputs_apart_a_little():
    point = theory("Piecewise((x, x > 0), (-1/10, True))").at(1, "1/5")
    assert abs(point.c.mid - mpmath.mpf("0.995595783618")) < 1e-11
    assert point.c.lower > 0.99 and point.c.upper < 1
    assert point.c.rad < 1e-11


@pytest.mark.slow
def test_a_cusp_says_that_inputs_come_apart_without_a_number():
    point = theory("sqrt(abs(x))").at(1, "1/10")
    assert point.geometry.startswith("c -> c* < 1, of which no number is known")
