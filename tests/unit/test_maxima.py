"""Largest of units: behind functions that rise and fall, and pairs near c = 1 and c = -1."""

from fractions import Fraction
from math import asin, pi, sqrt

import flint
import numpy as np
import pytest
from scipy import integrate, special

from derive import theory
from derive.gaussian.enclosure import enclose
from derive.gaussian.node import GaussianE
from derive.layers.block import maps
from derive.records import EocError
from derive.surface.block_text import read_block


def enclosed(text: str, what: str = "cross", digits: int = 16, **law):
    """A moment of a block's output by the enclosures alone, without closed forms."""
    values = {name: Fraction(str(value)) for name, value in law.items()}
    moment = getattr(maps(read_block(text)).output, what)
    (node,) = moment.atoms(GaussianE)  # a gradient's moment counts the units that may win
    with flint.ctx.workprec(200):
        return enclose(node, values, digits) * int(moment.coeff(node))


def by_quadrature(f, slope, k: int) -> tuple[float, float, float]:
    """(mean, second moment, chi) of the largest of f(z_1), ..., f(z_k): F sampled on a fine grid of z."""
    z = np.linspace(-9, 9, 60_001)
    weights = np.exp(-z * z / 2) / sqrt(2 * pi) * (z[1] - z[0])
    rank = f(z)
    order = np.argsort(rank, kind="stable")
    chance = np.empty_like(z)
    chance[order] = np.cumsum(weights[order]) - weights[order] / 2
    share = weights * k * chance ** (k - 1)
    return share @ rank, share @ rank**2, share @ slope(z) ** 2


def gelu(x):
    return x * special.ndtr(x)


def gelu_slope(x):
    return special.ndtr(x) + x * np.exp(-x * x / 2) / sqrt(2 * pi)


def test_gelu_then_max_is_not_max_then_gelu():
    t = theory("dense >> gelu >> maxpool(3)")
    want = by_quadrature(gelu, gelu_slope, 3)
    found = float(t.mean.number(q=1))
    assert found == pytest.approx(want[0], rel=2e-5)
    other = theory("dense >> maxpool(3) >> gelu").mean.number(q=1)
    assert abs(found - float(other)) > 3e-3


@pytest.mark.slow
def test_the_gradient_flows_to_the_winner_behind_gelu():
    found = theory("dense >> gelu >> maxpool(3)").chi.number(q=1, sigma_w=1)
    assert float(found) == pytest.approx(by_quadrature(gelu, gelu_slope, 3)[2], rel=2e-5)


@pytest.mark.slow
def test_where_the_function_never_turns_both_rules_agree():
    # x^3 - 3 x turns twice; the largest of two has the mean square of one, and the largest slopes too
    t = theory("dense >> x**3 - 3*x >> maxpool(2)")
    assert float(t.second_moment.number(q=1)) == pytest.approx(6, rel=1e-15)
    assert float(t.chi.number(q=1, sigma_w=1)) == pytest.approx(18, rel=1e-15)
    # x^2 ranks as |x|: the mean of the larger is 1 + 2/pi
    assert float(theory("dense >> x**2 >> maxpool(2)").mean.number(q=1)) == pytest.approx(1 + 2 / pi, rel=1e-15)


@pytest.mark.slow
def test_ties_on_a_flat_stretch_are_shared():
    def hard_swish(x):
        return x * np.clip(x + 3, 0, 6) / 6

    found = theory("dense >> hard_swish >> maxpool(3)").second_moment.number(q=1)
    assert float(found) == pytest.approx(by_quadrature(hard_swish, hard_swish, 3)[1], rel=2e-5)
    # a function with a wide shelf in the middle of its range
    text = "dense >> Piecewise((x + 1, x < -1), (0, x < 1), (1 - x, x < 2), (x - 3, True)) >> maxpool(2)"

    def shelf(x):
        return np.select([x < -1, x < 1, x < 2], [x + 1, 0 * x, 1 - x], x - 3)

    assert float(theory(text).mean.number(q=2)) == pytest.approx(
        by_quadrature(lambda z: shelf(sqrt(2) * z), shelf, 2)[0], rel=1e-4
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["silu", "mish", "x*exp(-x**2)", "sin(x/3)"])
def test_other_functions_that_turn(name):
    f = {
        "silu": lambda x: x * special.expit(x),
        "mish": lambda x: x * np.tanh(np.logaddexp(0, x)),
        "x*exp(-x**2)": lambda x: x * np.exp(-x * x),
        "sin(x/3)": lambda x: np.sin(x / 3),
    }[name]
    t = theory(f"dense >> {name} >> maxpool(4)")
    mean, second, _ = by_quadrature(f, f, 4)
    assert float(t.mean.number(q=1)) == pytest.approx(mean, rel=5e-5)
    assert float(t.second_moment.number(q=1)) == pytest.approx(second, rel=5e-5)


@pytest.mark.slow
def test_the_slope_of_the_variance_map_behind_gelu():
    t = theory("dense >> gelu >> maxpool(3)")
    high, low = (t.variance_map.number(q=q, sigma_w=1, sigma_b=0) for q in ("1.001", "0.999"))
    assert float(t.chi_parallel.number(q=1, sigma_w=1)) == pytest.approx((float(high) - float(low)) / 0.002, rel=1e-6)


def test_a_pair_behind_a_turning_function_is_refused_by_name():
    result = theory("dense >> gelu >> maxpool(2)").covariance_map
    with pytest.raises(EocError) as refusal:
        result.number(q1=1, q2=1, c="0.5")
    assert "GaussianE" not in str(refusal.value)
    assert "is not f of the largest" in str(refusal.value)
    with pytest.raises(EocError, match="turns"):
        theory("dense >> sin(30*x) >> maxpool(2)").mean.number(q=1)


def test_waves_and_kinks_that_turn():
    # the preimages of a wave are one place, its mirror image and their shifts by periods; a slope may end at a kink
    waves = {
        "sin(x)": np.sin,
        "max(x, 0)*(1 + x/2) + x*min(x, 0)/4": lambda x: np.maximum(x, 0) * (1 + x / 2) + x * np.minimum(x, 0) / 4,
    }
    for text, f in waves.items():
        found = theory(f"dense >> {text} >> maxpool(2)").mean.number(q=1)
        assert float(found) == pytest.approx(by_quadrature(f, f, 2)[0], rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["sin(3*x)", "sin(x) + sin(2*x)/8", "x*sin(x)", "max(x, 0)**3*(1 - x/2)"])
def test_many_turns(text):
    f = {
        "sin(3*x)": lambda x: np.sin(3 * x),
        "sin(x) + sin(2*x)/8": lambda x: np.sin(x) + np.sin(2 * x) / 8,
        "x*sin(x)": lambda x: x * np.sin(x),
        "max(x, 0)**3*(1 - x/2)": lambda x: np.maximum(x, 0) ** 3 * (1 - x / 2),
    }[text]
    found = theory(f"dense >> {text} >> maxpool(3)").mean.number(q=1)
    assert float(found) == pytest.approx(by_quadrature(f, f, 3)[0], rel=1e-5)


def test_estimates_know_sigmoids():
    found = theory("dense >> silu >> maxpool(2)").covariance_map.estimate(q1=1, q2=1, c="0.3", samples=1 << 12)
    finer = theory("dense >> silu >> maxpool(2)").covariance_map.estimate(q1=1, q2=1, c="0.3")
    assert abs(found.mean - finer.mean) < 5 * found.error


def max_of_two(c: float) -> float:
    return c / 2 + (sqrt((1 - c) * (1 + c)) + c * asin(c)) / pi


@pytest.mark.parametrize("c", ["0.99", pytest.param("-0.99", marks=pytest.mark.slow)])
def test_pairs_next_to_one_and_minus_one(c):
    found = enclosed("dense >> maxpool(2)", q1=1, q2=1, c=c)
    assert abs(float(found) - max_of_two(float(c))) < 1e-15
    assert float(found.rad()) < 1e-17


@pytest.mark.slow
def test_opposite_inputs():
    # the larger of two is minus the smaller: E max(-min) = 0 for two, -(E min max) for more
    assert abs(float(enclosed("dense >> maxpool(2)", q1=4, q2=1, c=-1))) < 1e-17
    k, nodes = 4, np.linspace(-8, 8, 1601)
    density, below = np.exp(-(nodes**2) / 2) / sqrt(2 * pi), special.ndtr(nodes)
    between = np.clip(below[:, None] - below[None, :], 0, None) ** (k - 2)
    line = nodes[:, None] * -nodes[None, :] * density[:, None] * density[None, :] * between * k * (k - 1)
    want = np.tril(line).sum() * (nodes[1] - nodes[0]) ** 2
    assert float(enclosed("dense >> maxpool(4)", q1=1, q2=1, c=-1)) == pytest.approx(want, rel=1e-4)
    # no unit is the largest at both: no gradient is shared
    assert float(enclosed("dense >> maxpool(4)", "tangent", q1=1, q2=1, c=-1)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("text", ["dense >> maxpool(4)", "dense >> relu >> maxpool(9)", "dense >> tanh >> maxpool(3)"])
def test_both_forms_of_a_pair_agree_where_both_reach(text, monkeypatch):
    from derive.gaussian.maxima import enclosed as room

    for c in ("0.9", "-0.7"):
        for what in ("cross", "tangent"):
            values = []
            for steep in (0.95, 0.5):
                monkeypatch.setattr(room, "STEEP", steep)
                values.append(enclosed(text, what, q1=1, q2=1, c=c))
            assert values[0].overlaps(values[1])
            assert float(values[1].rad()) < 1e-15


@pytest.mark.slow
@pytest.mark.parametrize("k", [4, 16])
def test_the_slope_of_a_pair_is_the_chance_of_one_winner(k):
    # dK/dc = P(same) for plain maxima, and P(same) = 1 - sqrt(2(1 - c)/pi) E max + ... next to c = 1
    low, high = (enclosed(f"dense >> maxpool({k})", q1=1, q2=1, c=c) for c in ("0.9899", "0.9901"))
    same = enclosed(f"dense >> maxpool({k})", "tangent", q1=1, q2=1, c="0.99")
    assert float(high - low) * 5000 == pytest.approx(float(same), rel=1e-6)
    mean = integrate.quad(lambda z: z * k * special.ndtr(z) ** (k - 1) * np.exp(-z * z / 2) / sqrt(2 * pi), -9, 9)[0]
    near = float(enclosed(f"dense >> maxpool({k})", "tangent", q1=1, q2=1, c="0.999999"))
    assert 1 - near == pytest.approx(sqrt(2 * 1e-6 / pi) * mean, rel=3e-3)
