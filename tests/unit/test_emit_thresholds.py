"""Emitted pair maps of functions whose thresholds are parameters: at every order of the thresholds."""

import pytest

from derive import Activation, expect

CASES = [
    ("relu(x)-min(x,b)", {"b": -1.1}),
    ("relu(x)-min(x,b)", {"b": 0}),
    ("relu(x)-min(x,b)", {"b": 0.4}),
    ("relu(x)**2-a*min(x,b)", {"a": 0.3, "b": 1.1}),
    ("max(x,b)-max(x,a)", {"a": -0.4, "b": 1.1}),
]


@pytest.mark.parametrize(("text", "values"), CASES)
def test_thresholds_that_meet_in_max_and_min(text, values):
    phi = Activation(text)
    result = expect(phi, phi)
    function = result.compile("numpy")
    for c in (0.4, -0.99, 1, -1):
        truth = float(result.number(q1=0.7, q2=2.1, c=c, **values))
        assert function(0.7, 2.1, c, **values) == pytest.approx(truth, rel=1e-13)
