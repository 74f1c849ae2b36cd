"""Closed forms keep their digits in floats: tails on the side of their interval, also beside exponentials."""

import numpy as np
import pytest

from derive import theory

PIECES = {
    "interval left of 0": "(exp(x) - 1)*(x + 1)/2 if -1 < x and x < 0 else max(x, 0)",
    "interval right of 0": "x*exp(-x) if 0 < x and x < 2 else max(-x, 0)",
    "outermost left": "x if x > 0 else exp(x) - 1",
    "mirrored": "(exp(-x) - 1)*(1 - x)/2 if 0 < x and x < 1 else max(-x, 0)",
}


@pytest.mark.parametrize("name", PIECES)
def test_float_code_of_closed_forms_holds_at_large_variance(name):
    t = theory(PIECES[name])
    for result in (t.mean, t.second_moment):
        function = result.compile("numpy")
        for q in (0.3, 5.0, 400.0):
            truth = float(result.number(q=q))
            scale = max(abs(truth), float(t.second_moment.number(q=q)) ** (1 if result is t.second_moment else 0.5))
            assert np.isfinite(function(q))
            # coefficients of order q**2 cancel to order q: at q = 400 that costs 400 to 4000 units in the last place
            assert abs(function(q) - truth) <= 1e-12 * scale


def test_pairs_hold_too():
    result = theory(PIECES["interval left of 0"]).covariance_map
    function = result.compile("numpy")
    for c in (-0.5, 0.3, 1.0):
        truth = float(result.number(q1=5, q2=10, c=c))
        assert function(5.0, 10.0, c) == pytest.approx(truth, abs=1e-13 * 5)
