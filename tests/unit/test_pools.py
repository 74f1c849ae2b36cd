"""Pools over units and over positions: against arrays that the layers act on, published values, the edge of chaos."""

from fractions import Fraction
from math import pi, sqrt

import numpy as np
import pytest
import torch
from scipy import special

from derive import Activation, AvgPool, Dense, MaxPool, expect, theory
from derive.gaussian.estimates import estimate
from derive.layers.block import maps
from derive.layers.finite import Finite
from derive.layers.nested import act
from derive.records import EocError
from derive.records.kind import Kind
from derive.surface.block_text import read_block

AT = {"q1": Fraction(13, 10), "q2": Fraction(7, 10), "c": Fraction(2, 5)}
NETWORKS, WIDTH = 24, 2520


def measured(block, k: int, rows) -> tuple[torch.Tensor, torch.Tensor]:
    """Means and errors of (mean, second moments, cross moment, gain, tangent) over windows of k positions each."""
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(3)
    tools = Finite(
        WIDTH,
        torch,
        lambda shape: torch.randn(shape, generator=generator, dtype=torch.float64),
        lambda shape: torch.rand(shape, generator=generator, dtype=torch.float64),
        float,
        lambda stage: stage.source.compile("torch"),
    )
    q1, q2, c = (float(AT[name]) for name in ("q1", "q2", "c"))
    root = torch.linalg.cholesky(torch.tensor(rows, dtype=torch.float64))
    found = []
    for _ in range(NETWORKS):
        u, w = (torch.randn((WIDTH // k, k), generator=generator, dtype=torch.float64) @ root.T for _ in range(2))
        x = torch.stack([sqrt(q1) * u.reshape(-1), sqrt(q2) * (c * u + sqrt(1 - c * c) * w).reshape(-1)])
        x.requires_grad_()
        y = act(block.cycle()[:-1], x, tools)
        probe = torch.randn(y.shape[1], generator=generator, dtype=torch.float64)
        d1, d2 = (torch.autograd.grad(y[i] @ probe, x, retain_graph=True)[0][i] for i in (0, 1))
        size = probe @ probe
        moments = (y[0].mean(), (y[0] ** 2).mean(), (y[1] ** 2).mean(), (y[0] * y[1]).mean())
        found.append(torch.stack([*moments, (d1 @ d1) / size, (d1 @ d2) / size]).detach())
    table = torch.stack(found)
    return table.mean(0), table.std(0) / NETWORKS**0.5


def claimed(block) -> tuple[torch.Tensor, torch.Tensor]:
    """The map's values and their errors: 0 where they are proved."""
    output = maps(block).output
    parts = [estimate(getattr(output, name), AT, 1 << 15) for name in
             ("mean1", "second1", "second2", "cross", "gain", "tangent")]  # fmt: skip
    return tuple(torch.tensor([getattr(p, what) for p in parts], dtype=torch.float64) for what in ("mean", "error"))


def windows(k: int, rho: float) -> np.ndarray:
    """One correlation between all positions."""
    return np.full((k, k), rho) + (1 - rho) * np.eye(k)


GRID = [[round(0.7 ** (abs(i // 2 - j // 2) + abs(i % 2 - j % 2)), 2) for j in range(4)] for i in range(4)]
MIXED = [[1, 0.6, 0.1], [0.6, 1, 0.3], [0.1, 0.3, 1]]
CASES = [
    ("dense >> maxpool(4, over=positions, rho=0.3)", 4, windows(4, 0.3)),
    ("dense >> tanh >> maxpool(2, over=positions, rho=0.5)", 2, windows(2, 0.5)),
    ("dense >> maxpool(2, over=positions, rho=0.5) >> relu", 2, windows(2, 0.5)),
    ("dense >> minpool(3, over=positions, rho=0.5)", 3, windows(3, 0.5)),
    ("dense >> tanh >> globalavgpool(4, rho=0.3)", 4, windows(4, 0.3)),
    ("dense >> relu >> sumpool(2, over=positions, rho=0.3)", 2, windows(2, 0.3)),
    ("dense >> lppool(3)", 3, windows(3, 0)),
    ("dense >> relu >> lppool(2, 3)", 2, windows(2, 0)),
    ("dense >> logsumexp(3, 2)", 3, windows(3, 0)),
    ("dense >> tanh >> medianpool(5)", 5, windows(5, 0)),
    ("dense >> gelu >> maxpool(2)", 2, windows(2, 0)),
    ("dense >> relu >> stochasticpool(2)", 2, windows(2, 0)),
]
MATRICES = [
    (Dense() >> MaxPool(3, over="positions", rho=MIXED), 3, MIXED),
    (Dense() >> Activation("relu") >> MaxPool(4, over="positions", rho=GRID), 4, GRID),
    (Dense() >> Activation("tanh") >> AvgPool(3, over="positions", rho=MIXED), 3, MIXED),
]


def compare(block, k: int, rows, last: int = 6) -> None:
    mean, error = measured(block, k, rows)
    want, own = claimed(block)
    room = 6 * (error**2 + own**2).sqrt() + 2e-3
    assert ((mean - want).abs() < room)[:last].all(), (mean, want, room)
    assert (error < 0.05 * want[[1, 1, 2, 1, 4, 4]].abs()).all()


@pytest.mark.parametrize(("text", "k", "rows"), CASES[4:5])
def test_a_window_does_what_its_map_says(text, k, rows):
    compare(read_block(text), k, rows)


@pytest.mark.slow
@pytest.mark.parametrize(("text", "k", "rows"), CASES[:4] + CASES[5:])
def test_every_pool_does_what_its_map_says(text, k, rows):
    # a unit drawn anew for each input leaves no gradient that two inputs share by autograd's pairing alone
    compare(read_block(text), k, rows, 6 if "stochastic" not in text else 5)


@pytest.mark.slow
@pytest.mark.parametrize(("block", "k", "rows"), MATRICES)
def test_windows_of_any_covariance(block, k, rows):
    compare(block, k, rows)


def test_equal_correlations_are_exact_for_any_number_of_positions():
    t = theory("dense >> maxpool(4, over=positions, rho=r)")
    assert t.second_moment.kind is Kind.EXACT
    assert float(t.mean.number(q=1, r="0.3")) == pytest.approx(0.86123722689102054, rel=1e-15)
    assert float(t.chi.number(q=1, sigma_w=1)) == 1
    # one correlation 0 is independent units, 1 is one position
    loose, tight = (theory(f"dense >> maxpool(3, over=positions, rho={r})").mean.number(q=2) for r in (0, 1))
    assert float(loose) == pytest.approx(float(theory("dense >> maxpool(3)").mean.number(q=2)), rel=1e-15)
    assert float(tight) == 0


def test_three_positions_of_any_covariance_are_closed():
    t = theory(Dense() >> MaxPool(3, over="positions", rho=MIXED))
    # E max of three: half the sum of sqrt((1 - r)/pi) over pairs
    want = sum(sqrt((1 - r) / pi) for r in (0.6, 0.1, 0.3)) / 2
    assert t.mean.kind is Kind.EXACT
    assert float(t.mean.number(q=1)) == pytest.approx(want, rel=1e-14)


def test_a_window_without_a_proof_has_an_estimate_with_its_error():
    t = theory(Dense() >> MaxPool(4, over="positions", rho=GRID))
    first = t.covariance_map.estimate(q1=1, q2=1, c="0.5", samples=1 << 14)
    again = t.covariance_map.estimate(q1=1, q2=1, c="0.5", samples=1 << 14)
    assert first == again  # seeded by the question
    assert first.kind is Kind.ESTIMATE
    assert 0 < first.error < 0.02
    proved = theory("dense >> maxpool(2)").covariance_map.estimate(q1=1, q2=1, c="0.5")
    assert proved.error == 0
    assert proved.mean == pytest.approx(0.608997781044229, rel=1e-14)


@pytest.mark.slow
def test_the_refusal_of_a_window_names_the_estimate():
    with pytest.raises(EocError, match="estimate") as refusal:
        theory("dense >> logsumexp(3)").mean.number(q=1)
    assert "GaussianE" not in str(refusal.value)


def test_small_pools_are_mirror_images():
    least, most = theory("dense >> relu >> minpool(3)"), theory("dense >> -relu(-x) >> maxpool(3)")
    assert float(least.mean.number(q=2)) == pytest.approx(-float(most.mean.number(q=2)), rel=1e-14)
    # the smaller and the larger of two ReLUs add up to both
    small, large = (theory(f"dense >> relu >> {pool}(2)") for pool in ("minpool", "maxpool"))
    for what, total in (("mean", 2 / sqrt(2 * pi)), ("second_moment", 1), ("chi", 1)):
        law = {"q": 1, "sigma_w": 1} if what == "chi" else {"q": 1}
        assert sum(float(getattr(t, what).number(**law)) for t in (small, large)) == pytest.approx(total, rel=1e-14)


def test_median_of_three():
    t = theory("dense >> medianpool(3)")
    assert float(t.second_moment.number(q=1)) == pytest.approx(1 - sqrt(3) / pi, rel=1e-14)
    assert float(t.chi.number(q=1, sigma_w=1)) == 1
    with pytest.raises(EocError, match="median of 4"):
        _ = theory("dense >> medianpool(4)").mean


@pytest.mark.slow
def test_one_input_is_the_end_of_a_pair_of_medians():
    t = theory("dense >> medianpool(3)")
    same = t.covariance_map.number(q1=1, q2=1, c=1)
    assert float(same) == pytest.approx(1 - sqrt(3) / pi, rel=1e-13)


def test_norms_and_smooth_maxima():
    assert float(theory("dense >> lppool(3)").mean.number(q=2)) == pytest.approx(sqrt(4) * 2 / sqrt(pi), rel=1e-14)
    assert float(theory("dense >> relu >> lppool(4)").second_moment.number(q=3)) == pytest.approx(6, rel=1e-14)
    sharp = theory("dense >> logsumexp(2, 200)").mean.number(q=1)
    assert float(sharp) == pytest.approx(1 / sqrt(pi), abs=1e-4)
    with pytest.raises(EocError, match="no norm"):
        _ = theory("dense >> lppool(2, 0.5)").mean
    with pytest.raises(EocError, match="nonnegative"):
        _ = theory("dense >> tanh >> stochasticpool(2)").mean


def test_what_pooling_over_positions_needs_is_said():
    with pytest.raises(EocError, match="correlation between the positions"):
        _ = theory("dense >> tanh >> maxpool(2, over=positions)").mean
    with pytest.raises(EocError, match="no matrix of correlations"):
        _ = theory(Dense() >> MaxPool(2, over="positions", rho=[[1, 2], [2, 1]])).mean
    with pytest.raises(EocError, match="cannot all have"):
        _ = theory("dense >> maxpool(3, over=positions, rho=-0.7)").mean
    with pytest.raises(EocError, match="pool over positions are not pooled"):
        _ = theory("dense >> maxpool(2, over=positions, rho=0.5) >> maxpool(2)").mean


@pytest.mark.slow
def test_reported_values_of_pooled_rectifiers():
    # a gain of sqrt(2) "irrespective of pooling" keeps none of these
    for pool, second, gain in (
        ("maxpool(2)", 0.909154943091895, 3 / 4),
        ("maxpool(4)", 1.5437850115857, 15 / 16),
        ("avgpool(2)", 0.329577471545948, 1 / 4),
        ("avgpool(4)", 0.244366207318922, 1 / 8),
    ):
        t = theory(f"dense >> relu >> {pool}")
        assert float(t.second_moment.number(q=1)) == pytest.approx(second, rel=1e-12)
        assert float(t.chi.number(q=1, sigma_w=1)) == pytest.approx(gain, rel=1e-14)
    assert float(theory("dense >> relu >> maxpool(3)").second_moment.number(q=1)) == pytest.approx(1.25156463849329)


def test_reported_values_of_maxima_and_a_softmax():
    t = theory(Dense() >> MaxPool(3))
    assert float(t.mean.number(q=1)) == pytest.approx(0.846284375321634, rel=1e-13)
    assert float(t.second_moment.number(q=1)) == pytest.approx(1.2756644477109, rel=1e-13)
    # one output of a softmax of two is the logistic function of their difference
    assert float(expect(Activation("sigmoid") ** 2).number(q=2)) == pytest.approx(0.318419076984185, rel=1e-14)


def four_dimensional(f, q: float, c: float) -> float:
    """E max(f(u1), f(u2)) max(f(v1), f(v2)) by a grid over sums and differences of both pairs, kinks on its lines."""
    across, weights = np.polynomial.hermite_e.hermegauss(24)
    weights = weights / sqrt(2 * pi)
    steps = np.linspace(-6.5, 6.5, 261)
    dense = np.exp(-(steps**2) / 2) / sqrt(2 * pi) * (steps[1] - steps[0])
    s, d = (np.sqrt(q) * g for g in np.meshgrid(across, steps, indexing="ij"))
    first = f((s + abs(d)) / sqrt(2)) * weights[:, None] * dense[None, :]
    noise = sqrt(1 - c * c) * sqrt(q)
    total = 0.0
    for t, w in zip(across, weights, strict=True):
        shifted = c * s + noise * t
        for y, v in zip(steps, dense, strict=True):
            total += w * v * float(np.sum(first * f((shifted + abs(c * d + noise * y)) / sqrt(2))))
    return total


POOLED = {"avgpool": lambda a, b: (a + b) / 2, "maxpool": np.maximum}


def direct(f, slope, pool: str, q: float) -> tuple[float, float]:
    """(E y^2, sum of the squared slopes of y in both units) of a pool of two, on a plane of midpoints."""
    edges = np.linspace(-9, 9, 721)
    z = (edges[1:] + edges[:-1]) / 2
    weights = np.exp(-(z**2) / 2) / sqrt(2 * pi) * (edges[1] - edges[0])
    a, b = np.meshgrid(sqrt(q) * z, sqrt(q) * z, indexing="ij")
    plane = weights[:, None] * weights[None, :]
    second = float(np.sum(plane * POOLED[pool](f(a), f(b)) ** 2))
    if pool == "avgpool":
        return second, float(np.sum(plane * (slope(a) ** 2 + slope(b) ** 2) / 4))
    return second, float(np.sum(plane * slope(np.where(f(a) > f(b), a, b)) ** 2))


@pytest.mark.parametrize("variance", [0, 0.05, 0.1, 0.2])
@pytest.mark.parametrize("pool", ["avgpool", "maxpool"])
def test_edges_of_pooled_tanh_against_a_direct_integral(pool, variance):
    edge = theory(f"dense >> tanh >> {pool}(2)").edge_of_chaos(sigma_b=sqrt(variance))
    gain, q = float(edge.sigma_w) ** 2, float(edge.q) or 1e-9  # the end of the curve at q -> 0
    second, slope = direct(np.tanh, lambda x: 1 / np.cosh(x) ** 2, pool, q)
    assert gain * slope == pytest.approx(1, rel=2e-5)
    assert gain * second + variance == pytest.approx(q, rel=2e-5, abs=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("variance", [0.05, 0.1, 0.2])
def test_two_inputs_of_pooled_tanh_against_a_direct_integral(variance):
    t = theory("dense >> tanh >> maxpool(2)")
    q = float(t.edge_of_chaos(sigma_b=sqrt(variance)).q)
    pair = float(t.covariance_map.number(q1=str(q), q2=str(q), c="0.6"))
    assert four_dimensional(np.tanh, q, 0.6) == pytest.approx(pair, rel=2e-4)


@pytest.mark.slow
def test_an_edge_ends_at_zero_where_both_conditions_meet_there():
    # E M^2 is 1 for the larger of two and 1.276 for the largest of three
    assert theory("dense >> gelu >> maxpool(2)").edge_of_chaos(sigma_b=0).sigma_w.mid == 2
    points = theory("dense >> tanh >> maxpool(3)").edge_of_chaos(sigma_b=0).points
    assert [float(point.q) > 1 for point in points] == [True]
    second, slope = direct(lambda x: x * special.ndtr(x), special.ndtr, "maxpool", 1e-8)  # to first order in sqrt(q)
    assert (second / 1e-8, slope) == (pytest.approx(0.25, rel=1e-3), pytest.approx(0.25, rel=1e-3))


def test_where_pooled_rectifiers_keep_variance_and_gradients():
    edge = theory("dense >> relu >> maxpool(2)").edge_of_chaos(sigma_b=sqrt(0.1))
    second, slope = direct(lambda x: np.maximum(x, 0), lambda x: (x > 0) * 1.0, "maxpool", 1.0)
    assert not edge.valid
    assert float(edge.gradient_critical.sigma_w) ** 2 == pytest.approx(1 / slope, rel=1e-3)
    assert float(edge.variance_critical.sigma_w) ** 2 == pytest.approx(1 / second, rel=1e-4)


@pytest.mark.slow
def test_pooled_rectifiers_have_no_edge_at_any_bias():
    t = theory("dense >> relu >> maxpool(2)")
    for variance in ("0", "0.1", "0.2"):
        assert not t.edge_of_chaos(sigma_b=str(float(variance) ** 0.5)).valid
    pair = float(t.covariance_map.number(q1=1, q2=1, c="0.6"))
    assert four_dimensional(lambda x: np.maximum(x, 0), 1.0, 0.6) == pytest.approx(pair, rel=2e-4)
