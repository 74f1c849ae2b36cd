"""Fixed points of blocks: none missed where V is shown to rise or interval arithmetic decides, else said so."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from derive import Dense, theory
from derive.depth.rising import demand_rising, of_block
from derive.gaussian.scan import scan
from derive.layers.stage import Stage
from derive.layers.unit import moments_only
from derive.records import Unsupported


def by_scan(t, sigma_w, sigma_b):
    """Sign changes of V(q) - q at 4000 points, in floats."""
    q = np.geomspace(1e-5, 1e5, 4001) * 1.0123
    values = {"sigma_w": Fraction(sigma_w), "sigma_b": Fraction(sigma_b)}
    gap = scan(t.variance_map.template, values, "q", list(q)) - q
    return [float(a) for a, x, y in zip(q, gap, gap[1:], strict=False) if x * y < 0]


@pytest.mark.parametrize(
    ("text", "sigma_w", "sigma_b"),
    [
        pytest.param("dense >> gelu >> avgpool(2)", "1.9", "0.1", marks=pytest.mark.slow),
        pytest.param("dense >> 2*gelu(x) >> avgpool(2)", "0.95", "0.1", marks=pytest.mark.slow),
        pytest.param("residual(erf(x) >> dense, shortcut=0.8)", "1.5", "0.1", marks=pytest.mark.slow),
        ("dense >> erf(x) >> dense >> abs(x)", "1.2", "0.1"),
    ],
)
def test_rising_maps_have_all_their_fixed_points(text, sigma_w, sigma_b):
    t = theory(text)
    point = t.at(sigma_w, sigma_b)
    assert "V rises" in point.certificate
    places = by_scan(t, sigma_w, sigma_b)
    assert len(places) == len(point.fixed_points) > 0
    for fixed, near in zip(point.fixed_points, places, strict=True):
        assert near <= fixed.q.mid <= near * 1.01
        assert fixed.q.rad < 1e-11 * fixed.q.mid
    assert point.ends[0] == "is no fixed point: V(q) >= sigma_b^2"


@dataclass(frozen=True, repr=False)
class Bumped(Stage):
    """A layer made by hand: M -> 3 M/(1 + M^2), which rises to M = 1 and falls from there."""

    def forward(self, state):
        moments = {n: 3 * getattr(state, n) / (1 + getattr(state, n) ** 2) for n in ("second1", "second2", "cross")}
        return moments_only(state, **moments, gain=state.gain)


def test_a_map_made_by_hand_that_falls_is_decided_by_intervals():
    t = theory(Dense() >> Bumped())
    point = t.at(1, 0)
    assert "interval arithmetic" in point.certificate
    assert [round(float(p.q) ** 2, 9) for p in point.fixed_points] == [2]  # 3/(1 + q^2) = 1
    both = t.at(Fraction(4, 5), Fraction(1, 10))
    scanned = by_scan(t, "4/5", "1/10")
    assert len(both.fixed_points) == len(scanned) == 1


def test_what_is_not_shown_is_not_claimed():
    t = theory("dense >> exp(-x**2) >> dense >> tanh")
    with pytest.raises(Unsupported, match="not shown to rise"):
        of_block(t.variance_map.template, {"sigma_w": Fraction(1), "sigma_b": Fraction(1, 10)})
    point = t.at(1, "1/10")
    assert "could be missed" in point.certificate
    assert "not shown to rise" in point.certificate
    falling = theory("exp(-x**2)").variance_map.template
    with pytest.raises(Unsupported):
        demand_rising(falling, {"sigma_w": Fraction(1), "sigma_b": Fraction(0)}, 0.01, 100)
