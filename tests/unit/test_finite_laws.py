"""Laws beyond one expansion: fixed L/n, orthogonal weights, third cumulants, tangents; emitted recursions."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from sympy import Rational

from derive import Activation, theory
from derive.depth.finite import fixed_ratio, through
from derive.emit import load
from derive.records import DomainError, EocError, Unsupported
from verify.finite_width import TANGENT, measured
from verify.finite_width.chains import chains
from verify.judge import Verdict, judge
from verify.stream import stream

torch.set_num_threads(1)
ROOT2 = "1.4142135623730951"


@pytest.mark.parametrize(("s", "sigma"), [(2.0, 1.0), pytest.param(2.67, 0.5, marks=pytest.mark.slow)])
def test_fixed_ratio_against_the_expansion_and_against_paths(s, sigma):
    mean, variance = fixed_ratio.power_class(s, sigma, 1e-3)
    assert mean == pytest.approx(-(s * (1 + sigma) / 12 + s / 6) * 1e-3, rel=2e-3)
    assert variance == pytest.approx(s / 3 * 1e-3, rel=2e-3)
    t, steps, rng = 0.8, 1000, np.random.default_rng(2)
    noise = rng.standard_normal((8000, steps)) * math.sqrt(t / steps)
    at = (np.arange(steps) + 0.5) * t / steps
    path = np.exp(s * sigma * at / 2 + sigma * math.sqrt(s) * (np.cumsum(noise, 1) - noise / 2)).mean(1)
    log = -np.log(path) / sigma
    mean, variance = fixed_ratio.power_class(s, sigma, t)
    assert abs(log.mean() - mean) < 4.5 * log.std() / math.sqrt(len(log))
    assert abs(log.var() - variance) < 4.5 * ((log - log.mean()) ** 2).std() / math.sqrt(len(log))
    assert abs(path.mean() - fixed_ratio.inverse_power_mean(s, sigma, t)) < 5 * path.std() / math.sqrt(len(path))


def test_fixed_ratio_against_networks():
    """tanh at L/n = 1, n = 48: the expansion is off by a third, the law by the orders log(L)/L and 1/n."""
    law, n = theory("tanh").finite_width.criticality, 48
    g = chains(torch.tanh, 1.0, [n] * n, 1.0, 0.0, 4000, stream(8, 0, 0)).kernel[-1]
    k = theory("tanh").finite_width.depth(1, n + 1, n, 1).kernel[-1]
    mean, variance = law.at_ratio(1)
    found = np.log(g / k)
    assert found.mean() == pytest.approx(mean, rel=0.08)
    assert found.var() == pytest.approx(variance, rel=0.08)
    assert abs(found.var() - 2 / 3) > 0.05


def test_which_classes_have_a_law_at_fixed_ratio():
    assert theory("relu").finite_width.criticality.at_ratio("0.2") == pytest.approx((-0.5, 1.0))
    with pytest.raises(Unsupported, match="fixed L/n"):
        theory(Activation("hardtanh", a=-1, b=1)).finite_width.criticality.at_ratio(1)
    with pytest.raises(DomainError):
        theory("tanh").finite_width.criticality.at_ratio(0)


def test_orthogonal_rectifiers_are_exact():
    law, n = theory("relu").finite_width.exact.orthogonal(), 64
    assert law.s == 3 and law.moment(2, n) == 1 + Rational(3, n + 2)
    line = theory("x").finite_width.exact.orthogonal()
    assert line.moment(3, n) == 1 and line.vertex([n] * 5) == 0 and abs(float(line.log_variance(n))) < 1e-30
    rng, n = np.random.default_rng(5), 12
    z = rng.standard_normal((200_000, n))
    r = np.maximum(z * math.sqrt(n) / np.linalg.norm(z, axis=1)[:, None], 0)
    r = 2 * (r**2).mean(1)
    log = np.log(r[r > 0])
    for values, want in ((r, 1.0), (r**2, 1 + 3 / (n + 2)), (log, float(law.log_mean(n)))):
        assert abs(values.mean() - want) < 4.5 * values.std() / math.sqrt(len(values))
    spread = (log - log.mean()) ** 2
    assert abs(spread.mean() - float(law.log_variance(n))) < 4.5 * spread.std() / math.sqrt(len(log))


def test_the_norm_of_the_jacobian():
    """ReLU by its closed form, leaky ReLU against sampled weights."""
    relu, n, depth = theory("relu").finite_width.exact, 48, 6
    want = Rational(1, 3) * (1 + Rational(2, n)) * (1 + Rational(5, n)) ** depth
    want += Rational(2, 3) * (1 - Rational(1, n)) * (1 - Rational(1, n)) ** depth
    assert relu.jacobian(n, depth) == want
    n, depth, count, rng = 6, 3, 30_000, np.random.default_rng(8)
    law = theory(Activation("leaky_relu", a="1/2")).finite_width.exact
    j = np.broadcast_to(np.eye(n), (count, n, n))
    z = rng.standard_normal((count, n, 1))
    for _ in range(depth):
        weights = rng.standard_normal((count, n, n)) / math.sqrt(n * 0.625)
        slope = np.where(z > 0, 1.0, 0.5)
        z, j = weights @ (slope * z), weights @ (slope * j)
    t = (j**2).sum((1, 2)) / n
    assert abs(t.mean() - 1) < 4.5 * t.std() / math.sqrt(count)
    assert abs((t**2).mean() - float(law.jacobian(n, depth))) < 4.5 * (t**2).std() / math.sqrt(count)
    with pytest.raises(EocError, match="orthogonal"):
        relu.orthogonal().jacobian(6, 2)


def haar(n, networks, rng):
    q, r = np.linalg.qr(rng.standard_normal((networks, n, n)))
    return q * np.sign(np.einsum("bii->bi", r))[:, None, :]


def test_orthogonal_networks():
    """Networks with sampled orthogonal weights, n = 8, 16, extrapolated: V and K1 of layer 4 (tanh, biases)."""
    rng, found, w, b = np.random.default_rng(6), {}, 1.5, 0.3
    d = theory("tanh").finite_width.depth(1, 4, 16, "1.5", "0.3", weights="orthogonal")
    gaussian = theory("tanh").finite_width.depth(1, 4, 16, "1.5", "0.3")
    for n in (8, 16):
        x = rng.standard_normal((12_000, n))
        x *= math.sqrt(n) / np.linalg.norm(x, axis=1)[:, None]
        for layer in range(3):
            y = np.tanh(x)
            g = w**2 * (y**2).mean(1) + b**2
            if layer < 2:
                x = w * np.einsum("bij,bj->bi", haar(n, len(x), rng), y) + b * rng.standard_normal(y.shape)
        off = (g - g.mean()) ** 2
        found[n] = n * (g.mean() - d.kernel[-1]), n * g.std() / 110, n * off.mean(), n * off.std() / 110
    k1, v = (2 * found[16][i] - found[8][i] for i in (0, 2))
    errors = [math.hypot(2 * found[16][i], found[8][i]) for i in (1, 3)]
    assert abs(k1 - d.correction[-1]) < 4.5 * errors[0] + 0.02
    assert abs(v - d.vertex[-1]) < 4.5 * errors[1] + 0.02
    assert abs(k1 - gaussian.correction[-1]) > 9 * errors[0]


def test_orthogonal_tanh_does_not_spread_with_depth():
    """Day, Kahn, Roberts 2023 (arXiv 2310.07765): fluctuations of orthogonal tanh networks do not grow with depth."""
    d = theory("tanh").finite_width.depth(1, 200, 100, 1, weights="orthogonal")
    assert np.all(np.diff(d.log_variance[5:]) < 0) and d.log_variance[-1] < 2e-3
    assert theory("tanh").finite_width.depth(1, 200, 100, 1).log_variance[-1] > 1
    with pytest.raises(Unsupported, match="different widths"):
        theory("tanh").finite_width.depth(1, 4, [10, 20, 30], 1, weights="orthogonal")
    with pytest.raises(EocError, match="weights"):
        theory("tanh").finite_width.depth(1, 4, 10, 1, weights="sparse")
    certified = theory("sin").finite_width.depth(1, 3, 10, 1, weights="orthogonal", certified=True)
    plain = theory("sin").finite_width.depth(1, 3, 10, 1, weights="orthogonal")
    assert float(certified.gradient_spread[-1]) == pytest.approx(plain.gradient_spread[-1], rel=1e-10)


def test_the_third_cumulant_in_networks():
    """n^2 kappa_3(G) of layer 3: ReLU exactly in the limit; GELU at n = 24, 48, extrapolated."""
    n, law = 10**9, theory("relu").finite_width.exact
    m1, m2, m3 = (law.moment(k, n) ** 2 for k in (1, 2, 3))
    relu = theory("relu").finite_width.depth(1, 3, n, ROOT2).third[-1]
    assert relu == pytest.approx(float(n**2 * (m3 - 3 * m2 * m1 + 2 * m1**3)), rel=1e-6)
    d, found = theory("gelu").finite_width.depth(1, 3, 24, "1.4", "0.2"), {}
    for n in (24, 48):
        g = chains(torch.nn.functional.gelu, 1.0, [n, n], 1.4, 0.2, 40_000, stream(9, n, 0)).kernel[-1]
        cubes = n**2 * (g - g.mean()) ** 3
        found[n] = cubes.mean(), cubes.std() / math.sqrt(len(g))
    error = math.hypot(2 * found[48][1], found[24][1])
    assert abs(2 * found[48][0] - found[24][0] - d.third[-1]) < 4.5 * error
    assert abs(d.third[-1]) > 4.5 * error


WRONG = {
    "slope for the gain": lambda at: replace(at, gain=at.transport),
    "gain for the slope": lambda at: replace(at, transport=at.gain),
    "one fourth moment for three": lambda at: replace(at, norm_source=at.gain_source),
    "mixed source without its second term": lambda at: replace(at, mixed_source=at.cross_source),
    "overlap with a second term": lambda at: replace(at, cross_source=at.mixed_source),
}
FINE = {
    "no coupling to the kernel": lambda at: replace(at, gain_slope=0.0),
    "norm source 10 % off": lambda at: replace(at, norm_source=1.1 * at.norm_source),
    "overlap 10 % off": lambda at: replace(at, cross_source=1.1 * at.cross_source),
}
RIGHT = through.gradient_step
DEPTH, WIDTHS, NETWORKS = 4, (64, 128), 9600


@pytest.fixture(scope="module")
def tangents():
    return measured(theory("tanh"), {}, (1.3, 0.2, 0.8), DEPTH, WIDTHS, NETWORKS, 3, True)


def verdicts(tangents):
    d = theory("tanh").finite_width.depth("0.8", DEPTH, 64, "1.3", "0.2")
    found = []
    for name, attribute in TANGENT.items():
        want = float(getattr(d, attribute)[-1])
        found.append(judge(tangents[name][:, -1].tolist(), want, 0.01 * abs(want), abs(want), 4).verdict)
    return found


def test_tangents_agree(tangents):
    assert Verdict.FAILS not in verdicts(tangents)


def with_mistake(change):
    return lambda state, tangent, at, ratio=1: RIGHT(state, tangent, change(at), ratio)


@pytest.mark.parametrize("how", WRONG)
def test_wrong_tangents_are_refuted(monkeypatch, tangents, how):
    monkeypatch.setattr(through, "gradient_step", with_mistake(WRONG[how]))
    assert Verdict.FAILS in verdicts(tangents)


@pytest.mark.slow
def test_tangents_that_are_a_little_wrong(monkeypatch):
    recorded = measured(theory("tanh"), {}, (1.3, 0.2, 0.8), DEPTH, (128, 256), 240_000, 4, True)
    assert Verdict.FAILS not in verdicts(recorded)
    for change in FINE.values():
        monkeypatch.setattr(through, "gradient_step", with_mistake(change))
        assert Verdict.FAILS in verdicts(recorded)


@pytest.mark.parametrize(
    ("source", "given", "backend"),
    [
        ("tanh", {}, "numpy"),
        (Activation("leaky_relu"), {"a": 0.1}, "torch"),
        pytest.param("tanh", {}, "torch", marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_emitted_recursions(source, given, backend):
    fw = theory(source).finite_width
    start = 1.0 if backend == "numpy" else torch.tensor(1.0, dtype=torch.float64)
    rows = load(fw.code(backend)).finite_width_recursion(start, [30, 60, 20], sigma_w=1.3, sigma_b=0.1, **given)
    d = fw.depth(1, 4, [30, 60, 20], "1.3", "0.1", **given)
    found = np.array([[float(x) for x in row] for row in rows]).T
    np.testing.assert_allclose(found, [d.kernel, d.vertex, d.correction], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("shortcut", [0.0, 0.8], ids=["plain", "residual"])
def test_networks_with_sampled_weights_have_the_law_of_those_without(shortcut):
    """Mean and variance of the last kernel of two inputs, and of a residual stream, at width 6."""
    from verify.finite_width.residual import residual_streams
    from verify.finite_width.several import kernels

    rng, n, count, w = np.random.default_rng(7), 6, 20_000, 1.3
    start = np.array([[1.0, 0.3], [0.3, 0.6]])
    if shortcut:
        x = rng.standard_normal((count, n))
        for _ in range(3):
            weights = w / math.sqrt(n) * rng.standard_normal((count, n, n))
            x = shortcut * x + 0.6 * np.einsum("bij,bj->bi", weights, np.tanh(x))
        g = (x**2).mean(1)
        limits = [(1.0, 0.0)] * 3  # the control is not used
        drawn = residual_streams(torch.tanh, 1.0, n, limits, shortcut, 0.6, w**2, 0.0, count, stream(3, 0, 0))
        other = drawn[0][0][-1]
    else:
        z = rng.standard_normal((count, n, 2)) @ np.linalg.cholesky(start).T
        for _ in range(2):
            x = np.tanh(z)
            z = np.einsum("bij,bjp->bip", w / math.sqrt(n) * rng.standard_normal((count, n, n)), x)
        g = z[:, 0, 0] * z[:, 0, 1]
        last = kernels(torch.tanh, start, [n, n], w**2, 0.0, count, stream(3, 1, 0))[-1]
        rows = np.einsum("bpq,bq->bp", np.linalg.cholesky(last), rng.standard_normal((count, 2)))
        other = rows[:, 0] * rows[:, 1]
    for f in (lambda v: v, lambda v: v**2):
        gap = f(g).mean() - f(other).mean()
        assert abs(gap) < 4.5 * math.hypot(f(g).std(), f(other).std()) / math.sqrt(count)
