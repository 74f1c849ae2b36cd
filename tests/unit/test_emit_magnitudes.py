"""Constants with long numerators stay in range in single precision."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from sympy import Rational, Symbol, exp

from derive import theory
from derive.emit.magnitudes import in_range

x = Symbol("x", real=True)


def test_an_extreme_factor_goes_into_its_sum():
    found = in_range(Rational(1, 10**40) * (Rational(10**40) + 3 * Rational(10**40) * x) * exp(x))
    assert found == (1 + 3 * x) * exp(x)
    kept = Rational(1, 10**40) * (1 + x) * exp(x)
    assert in_range(kept) == kept


@pytest.mark.parametrize(
    "name", ["selu", *(pytest.param(t, marks=pytest.mark.slow) for t in ("min(x,x**3)", "abs(x**3-x)"))]
)
def test_maps_in_single_precision(name):
    kernel = theory(name).covariance_map
    numpy, torched = kernel.compile("numpy"), kernel.compile("torch")
    scale = float(kernel.number(q1=1, q2=1, c=1))
    for c in ("-0.875", "0.5", "1"):
        truth = float(kernel.number(q1=1, q2=1, c=Fraction(c)))
        assert abs(float(numpy(np.float32(1), np.float32(1), np.float32(c))) - truth) <= 2e-6 * scale, c
        assert abs(float(torched(*(torch.tensor(float(v)) for v in (1, 1, c)))) - truth) <= 2e-6 * scale, c
