"""Phase grids against certified numbers, for one activation, two in a block, and an object that only has maps."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from derive import theory
from derive.depth.grid import GRADIENT, phase_grid
from derive.depth.grid_functions import float_function, moment
from derive.depth.grid_gap import gap_table
from derive.gaussian.numbers import number
from derive.records import EocError
from derive.show.phase import grid_maps

FIELDS = ("q", "chi", "chi_parallel", "c", "xi_q", "xi_c")


def holds(t, d, i, j):
    """The node (i, j) of a grid fulfils its equations in certified numbers."""
    w, b, q = (Fraction(float(x)) for x in (d.sigma_w[j], d.sigma_b[i], d.q[i, j]))
    at = {"sigma_w": w, "sigma_b": b}
    assert d.variance[i, j] == 1
    assert float(t.variance_map.number(q=q, **at)) == pytest.approx(d.q[i, j], rel=1e-11)
    assert float(number(t.chi.template, {"q": q, **at})) == pytest.approx(d.chi[i, j], rel=1e-10)
    parallel = float(number(t.chi_parallel.template, {"q": q, **at}))
    assert d.chi_parallel[i, j] == pytest.approx(parallel, rel=1e-10)
    assert d.xi_q[i, j] == pytest.approx(-1 / np.log(abs(parallel)), rel=1e-9)
    c = Fraction(float(d.c[i, j]))
    if d.chi[i, j] < 1:
        assert c == 1
        assert d.xi_c[i, j] == pytest.approx(-1 / np.log(d.chi[i, j]), rel=1e-9)
        return
    slope = np.exp(-1 / d.xi_c[i, j])
    step = float(t.correlation_map.number(q1=q, q2=q, c=c, **at)) - float(c)
    assert abs(step) < 1e-10 * (1 - slope)  # an error of c* is the residue over 1 - slope
    nearby = c - Fraction(1, 10**5)
    change = float(c) + step - float(t.correlation_map.number(q1=q, q2=q, c=nearby, **at))
    assert slope == pytest.approx(change * 10**5, rel=1e-4)


def agrees(t, d, i, j):
    """The node (i, j) of a grid says what the certified operating point says."""
    w, b = (Fraction(repr(float(x))) for x in (d.sigma_w[j], d.sigma_b[i]))
    at = t.at(sigma_w=w, sigma_b=b, q0=d.q0)
    found = [p for p in at.fixed_points if 0 < float(p.q) < float("inf")]
    assert d.count[i, j] == len(found)
    if at.attractor is None or not 0 < float(at.q) < float("inf"):
        assert d.variance[i, j] != 1
        return
    for name in FIELDS:
        value, truth = getattr(d, name)[i, j], getattr(at, name)
        assert abs(value - float(truth)) <= float(truth.rad) + 1e-10 * max(abs(value), 1e-3), (name, w, b)
    assert GRADIENT[d.gradient[i, j]] == at.gradient


@pytest.mark.parametrize(("text", "nodes"), [("tanh", [(3, 17)]), ("2*erf(0.7*x)", [(5, 12)])])
def test_nodes_fulfil_their_equations(text, nodes):
    t = theory(text)
    d = t.phase(n=23)
    for i, j in nodes:
        holds(t, d, i, j)


def test_counts_and_points_are_those_of_certified_sets():
    t = theory("silu")
    d = t.phase(sigma_w=np.array([1.2, 1.5, 1.9]), sigma_b=np.array([0.2]))
    for j in range(3):
        agrees(t, d, 0, j)


def test_silu_has_two_fixed_points_or_none():
    # the shares of a 200 x 200 grid are 6 % and 58 % of this rectangle; a coarser one sees the same regions
    d = theory("silu").phase(sigma_w=(1.3, 1.8), sigma_b=np.array([0.0, 0.1, 0.3]), n=26)
    assert set(np.unique(d.count)) == {0, 1, 2}
    two = d.count == 2
    assert (d.separatrix[two & (d.variance == 1)] > d.q[two & (d.variance == 1)]).all()
    unbounded = d.count == 0
    assert np.isinf(d.q[unbounded & (d.sigma_b > 0)[:, None]]).all()


def test_silu_has_two_fixed_points_on_nine_percent_and_none_on_thirty():
    """On sigma_w in [1/2, 2], sigma_b in [0, 1], by its cells' midpoints; three only beside the fold near sqrt 2."""
    n, t = 200, theory("silu")
    middle = (np.arange(n) + 0.5) / n
    d = t.phase(sigma_w=0.5 + 1.5 * middle, sigma_b=middle)
    assert abs((d.count == 2).mean() - 0.0946) < 2e-4
    assert abs((d.count == 0).mean() - 0.2954) < 2e-4
    two = d.count == 2
    assert (d.separatrix[two] == d.fixed_points[..., 1][two]).all()  # also where q0 = 1 explodes
    assert (two & (d.variance == 2)).sum() > 1000
    assert np.isnan(d.separatrix[d.count == 0]).all()
    assert 0 < (d.count == 3).sum() < 10


@pytest.mark.slow
def test_three_fixed_points_of_silu():
    t = theory("silu")
    point = t.at(sigma_w=1.41125, sigma_b=0.7275)
    assert [f.stable for f in point.fixed_points] == [True, False, True]
    d = t.phase(sigma_w=[1.41125, 1.42], sigma_b=[0.7275, 0.8])
    assert np.allclose([float(f.q) for f in point.fixed_points], d.fixed_points[0, 0], rtol=1e-9)


def test_a_pair_of_roots_between_two_points_of_the_scan_is_found():
    """Just below the fold of SiLU two roots lie closer than the scan's step."""
    t, b = theory("silu"), 0.3
    maps = grid_maps(t)
    q = np.geomspace(0.1, 10, 40001)
    one, zero = np.ones_like(q), np.zeros_like(q)
    fold = float(np.sqrt(((q - b**2) / maps.variance(q, one, zero)).max()))
    d = phase_grid(maps, np.array([fold * (1 - 1e-6), fold * (1 + 1e-6)]), np.array([b]), q0=0.1)
    assert d.count.tolist() == [[2, 0]]
    low, high = d.fixed_points[0, 0, :2]
    assert high / low < 1.02


def test_two_activations_in_one_block():
    t = theory("dense >> tanh(x) >> dense >> gelu")
    d = t.phase(n=9)
    ordered = np.argwhere((d.chi < 0.9) & (d.variance == 1))
    i, j = ordered[len(ordered) // 2]
    w, b, q = (Fraction(float(x)) for x in (d.sigma_w[j], d.sigma_b[i], d.q[i, j]))
    at = {"sigma_w": w, "sigma_b": b}
    assert float(t.variance_map.number(q=q, **at)) == pytest.approx(float(q), rel=1e-11)
    assert float(number(t.chi.template, {"q": q, **at})) == pytest.approx(d.chi[i, j], rel=1e-10)
    moved = t.variance_map.number(q=q * (1 + Fraction(1, 10**6)), **at).mid - t.variance_map.number(q=q, **at).mid
    assert float(moved) / (1e-6 * float(q)) == pytest.approx(d.chi_parallel[i, j], rel=1e-5)


@dataclass(frozen=True)
class ByHand:
    """erf written down: E erf^2 and its relatives in closed form (Williams 1997)."""

    def variance(self, q, w, b):
        return w**2 * 2 / np.pi * np.arcsin(2 * q / (1 + 2 * q)) + b**2

    def slope(self, q, w, b):
        return self.gain(q, w, b) / (1 + 2 * q) * 1.0

    def gain(self, q, w, b):
        return w**2 * 4 / np.pi / np.sqrt(1 + 4 * q)

    def contraction(self, q, w, b):
        def at(rows, t):
            v, c, top = q[rows], 1 - t * t, self.variance(q, w, b)[rows]
            cross = w[rows] ** 2 * 2 / np.pi * np.arcsin(2 * v * c / (1 + 2 * v)) + b[rows] ** 2
            slope = w[rows] ** 2 * 2 / np.pi * 2 * v / np.sqrt((1 + 2 * v) ** 2 - (2 * v * c) ** 2)
            return (1 - cross / top) / t**2, slope / top

        return at


def test_an_object_that_only_has_maps():
    w, b = np.linspace(0.6, 2.5, 12), np.linspace(0, 0.8, 7)
    mine, derived = phase_grid(ByHand(), w, b), theory("erf").phase(sigma_w=w, sigma_b=b)
    for name, close in (("q", 1e-10), ("chi", 1e-10), ("c", 1e-9), ("xi_c", 1e-7), ("count", 0), ("gradient", 0)):
        np.testing.assert_allclose(getattr(mine, name), getattr(derived, name), rtol=close, atol=close)


def test_scale_invariant_functions_have_no_isolated_point_at_criticality():
    d = theory("relu").phase(sigma_w=np.array([1.0, 2**0.5, 2.0]), sigma_b=np.array([0.0, 0.5]))
    assert d.count.tolist() == [[0, 0, 0], [1, 0, 0]]
    assert d.q[0].tolist() == [0.0, 1.0, np.inf]
    assert np.ptp(d.edge[1]) < 1e-9
    assert d.edge[1][0] == pytest.approx(2**0.5, rel=1e-12)


@pytest.mark.slow
def test_a_function_that_jumps_has_infinite_gain_and_a_correlation():
    t = theory("step")
    d = t.phase(n=5)
    assert np.isinf(d.chi).all()
    c = float(t.at(sigma_w=1.75, sigma_b="0.5").c)
    assert d.c[2, 2] == pytest.approx(c, abs=1e-9)
    assert not len(d.edge[0])


def test_moments_and_gaps_of_any_function_are_those_of_the_calculus():
    t = theory("gelu")
    f = float_function(t.activation.phi, {})
    table = gap_table(f, f, 0.1, 10)
    second = moment(float_function(t.activation.phi**2, {}))
    for q in (Fraction(1, 4), Fraction(3)):
        truth = float(t.second_moment.number(q=q))
        assert second(np.array([float(q)]))[0] == pytest.approx(truth, rel=1e-13)
        for c in (Fraction(999, 1000), Fraction(1, 2), 0):
            gap = truth - float(t.covariance_map.number(q1=q, q2=q, c=c))
            e = 1 - float(c)
            mine = table.at(np.array([float(q)]))(np.array([e**0.5]))[0][0] * float(q) * e
            assert mine == pytest.approx(gap, rel=1e-10)


@pytest.mark.parametrize(
    "bad", [{"n": 1}, {"sigma_w": (3, 1)}, {"sigma_w": (0, 1)}, {"sigma_b": (-1, 1)}, {"q0": 0}, {"sigma_w": "x"}]
)
def test_bad_rectangles_are_refused(bad):
    with pytest.raises(EocError):
        theory("tanh").phase(**bad)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["tanh", "silu", "gelu", "mish", "x/(1+abs(x))", "exp(-x**2)"])
def test_many_random_nodes(text):
    t = theory(text)
    d = t.phase(n=200)
    rng = np.random.default_rng(7)
    for _ in range(25):
        agrees(t, d, *rng.integers(0, 200, 2))


def counts_hold(t, d, i):
    """Every node of row i has the certified number of fixed points: it only changes at the certified bifurcations."""
    b = Fraction(repr(float(d.sigma_b[i])))
    cuts = [Fraction(float(x.sigma_w)) for x in t.bifurcations(sigma_b=b)]
    ends = [Fraction(float(d.sigma_w[0])) / 2, *cuts, Fraction(float(d.sigma_w[-1])) * 2]
    for low, high in pairwise(ends):
        here = (d.sigma_w > float(low) * (1 + 1e-12)) & (d.sigma_w < float(high) * (1 - 1e-12))
        if here.any() and high - low > Fraction(1, 10**6):
            found = t.at(sigma_w=(low + high) / 2, sigma_b=b).fixed_points
            truth = len([p for p in found if 0 < float(p.q) < float("inf")])
            assert (d.count[i, here] == truth).all(), (b, float(low), float(high), truth)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["tanh", "silu", "gelu"])
def test_the_number_of_fixed_points_is_right_along_whole_rows(text):
    t = theory(text)
    d = t.phase(n=200)
    for i in (0, 1, 7, 40, 120, 199):
        counts_hold(t, d, i)


def test_functions_that_are_slowly_resolved_near_0_agree_with_certified_numbers():
    t = theory("x*sin(log(1+x**2))")  # log(1 + x^2) cancels at small x
    d = t.phase(sigma_w=[1.0, 1.2], sigma_b=[0.5, 0.6])
    (point,) = t.at(sigma_w=1, sigma_b=Fraction(1, 2), q0=1).fixed_points
    assert d.count[0, 0] == 1
    assert float(point.q) == pytest.approx(d.q[0, 0], rel=1e-10)
    assert float(point.chi) == pytest.approx(d.chi[0, 0], rel=1e-10)


def test_what_floats_do_not_resolve_far_out_is_open():
    """V of x sin(x^2) grows like sigma_w^2 q/2: bounded below sigma_w = sqrt(2), though its table ends at q = 3.2."""
    d = theory("x*sin(x**2)").phase(sigma_w=[0.6, 1.3], sigma_b=[0.3, 1.9])
    assert d.variance.tolist() == [[1, 1], [3, 3]]
    assert np.isnan(d.q[1]).all()
    assert not np.isinf(d.separatrix).any()
    assert "V is resolved up to q = 3.16" in d.note
    assert 0 < d.q[0, 0] < 0.8
    assert np.isnan(d.c[0, 1]) == (d.q[0, 1] > 0.316 and d.chi[0, 1] > 1)
    assert np.isnan(d.c[0, 1]) == ("c* is open" in d.note)
