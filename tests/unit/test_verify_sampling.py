"""Samplers: unbiased with honest standard errors, exact in law, bounded blocks, singular covariances."""

import math

import pytest
import torch
from mpmath import mpf

from derive.records import Enclosure
from verify import conditional, control
from verify.checking import Point
from verify.judge import Verdict, judge, mean_and_error
from verify.networks import dense, layer
from verify.networks.laws import law_means
from verify.sampling import line_means, plane_means, strata
from verify.stream import stream
from verify.weights import laws

torch.set_num_threads(1)


def streams(seed, count):
    return [stream(seed, 0, k) for k in range(count)]


def relu_pair(c):
    return (math.sqrt(1 - c * c) + c * (math.pi - math.acos(c))) / (2 * math.pi)


def test_strata_cover_the_line_once_wherever_they_are_shifted():
    low, high = strata(64, torch.tensor([1e-9, 0.4, 0.999999], dtype=torch.float64))
    assert (high - low).sum(1).tolist() == pytest.approx([0.5] * 3, abs=1e-15)
    assert bool((low[:, -1] == 0).all()) and bool((high[:, 0] == 0.5).all()) and bool((high >= low).all())


def test_a_jump_is_sampled_without_bias_and_with_an_honest_error():
    """Jumps at many places: a stratum that is nearly always on one side must not look like certainty."""
    places = [0.31 + 0.0137 * k for k in range(60)]
    functions = [lambda x, a=a: (x > a).to(x) for a in places]
    draw = line_means(functions, [1.0] * 60, streams(3, 32), torch.float64)
    for column, a in zip(draw.values.T.tolist(), places, strict=True):
        mean, error = mean_and_error(column)
        assert abs(mean - 0.5 * math.erfc(a / math.sqrt(2))) < 6 * error


def test_moments_on_the_line():
    functions = [lambda x: x**2, lambda x: x**4, torch.relu, lambda x: torch.exp(2 * x), lambda x: (x > 0).to(x)]
    truth = [2.5, 3.0, math.sqrt(0.5 / math.pi), math.exp(2), 0.5]
    draw = line_means(functions, [2.5, 1.0, 1.0, 1.0, 3.0], streams(1, 32), torch.float64)
    assert draw.warning == ""
    for column, value in zip(draw.values.T.tolist(), truth, strict=True):
        judged = judge(column, value, 0.0, abs(value), 5)
        assert judged.verdict is Verdict.HOLDS and judged.resolution < 1e-3


def test_standard_errors_are_honest():
    """Means of independent groups of batches deviate by their standard error, not by more."""
    scores = []
    for seed in range(200):
        draw = line_means([torch.relu], [1.0], streams(seed, 16), torch.float64)
        mean, error = mean_and_error(draw.values[:, 0].tolist())
        scores.append((mean - 1 / math.sqrt(2 * math.pi)) / error)
    square = sum(s * s for s in scores) / 200  # E t^2 with 15 degrees of freedom is 15/13, its deviation is 0.15
    assert 0.7 < square < 1.8


@pytest.mark.parametrize("c", [-1.0, -0.6, 0.0, 0.9, 1.0])
def test_pairs_on_the_plane(c):
    draw = plane_means([lambda u, v: torch.relu(u) * torch.relu(v)], [(1.3, 0.4, c)], streams(2, 32), torch.float64)
    scale = math.sqrt(1.3 * 0.4)
    judged = judge(draw.values[:, 0].tolist(), scale * relu_pair(c), 0.0, scale / 2, 1)
    assert judged.verdict is Verdict.HOLDS and judged.resolution < 1e-3


def test_tails_out_of_reach_are_seen():
    heavy = line_means([lambda x: torch.exp(0.45 * x**2)], [1.0], streams(0, 16), torch.float64)
    assert heavy.warning.startswith("heavy tail")
    infinite = line_means([lambda x: torch.exp(3 * x**2)], [1.0], streams(0, 16), torch.float64)
    assert infinite.warning
    overflow = line_means([lambda x: torch.exp(torch.exp(x))], [1.0], streams(0, 16), torch.float64)
    assert "overflows" in overflow.warning
    plane = plane_means([lambda u, v: torch.exp(0.45 * u * u) * v], [(1.0, 1.0, 0.5)], streams(0, 16), torch.float64)
    assert plane.warning.startswith("heavy tail")


def test_cholesky_takes_singular_matrices():
    matrices = torch.tensor([[[2.0, 1.0], [1.0, 0.5]], [[1.0, -1.0], [-1.0, 1.0]], [[0.0, 0.0], [0.0, 3.0]]])
    factor = conditional.cholesky(matrices)
    assert torch.allclose(factor @ factor.mT, matrices, atol=1e-6)


@pytest.mark.parametrize("tangent", [False, True])
def test_the_weight_free_sampler_has_the_law_of_sampled_weights(tangent):
    """Mean, variance and the product of neighbouring layers agree, layer by layer, within standard errors."""
    gram = torch.tensor([[1.2, 0.5], [0.5, 0.9]], dtype=torch.float64)
    slope = (lambda z: 1 - torch.tanh(z) ** 2) if tangent else None
    options = {"width": 12, "depth": 4, "networks": 4000, "sigma_w": 1.4, "sigma_b": 0.3, "slope": slope}
    free = conditional.kernels(torch.tanh, gram, generator=stream(0, 0, 0), **options)
    weights = dense.kernels(torch.tanh, gram, generator=stream(0, 1, 0), **options)
    assert torch.equal(free[:, 0], weights[:, 0])
    statistics = [lambda k: k[:, 1:], lambda k: k[:, 1:] ** 2, lambda k: k[:, 1:-1] * k[:, 2:]]
    for statistic in statistics:
        a, b = statistic(free).flatten(1), statistic(weights).flatten(1)
        error = torch.sqrt(a.var(0) / len(a) + b.var(0) / len(b))
        assert float(((a.mean(0) - b.mean(0)).abs() / error).max()) < 4.5


def test_blocks_bound_the_memory_and_leave_the_law_alone():
    gram = torch.ones(1, 1, dtype=torch.float64)
    options = {"width": 50, "depth": 3, "networks": 1000, "sigma_w": 1.0, "sigma_b": 0.0}
    small = conditional.kernels(torch.relu, gram, generator=stream(0, 0, 0), block=500, **options)
    large = conditional.kernels(torch.relu, gram, generator=stream(0, 0, 1), block=10**9, **options)
    assert small.shape == large.shape == (1000, 3, 1, 1)
    for sample in (small, large):  # E K^3 = 1/4 exactly: ReLU's mean kernel has no finite-width bias
        values = sample[:, 2, 0, 0]
        assert abs(float(values.mean()) - 0.25) < 4.5 * float(values.std()) / 1000**0.5


@pytest.mark.parametrize("inputs,tangent", [(1, False), (2, False), (2, True)])
def test_the_control_variate_has_mean_zero_and_takes_the_noise_away(inputs, tangent):
    gram = torch.tensor([[1.2, 0.5], [0.5, 0.9]], dtype=torch.float64)[:inputs, :inputs]
    slope = (lambda z: 1 - torch.tanh(z) ** 2) if tangent else None
    layer = control.Layer(torch.tanh, slope, 1.4, 0.3)

    def observe(kernels):
        return kernels[:, :, -1, -1] / (kernels[:, :, 0, 0] if inputs == 2 and not tangent else 1)

    sensitivity = control.sensitivities(layer, gram, 4, observe)
    sample = conditional.kernels(
        torch.tanh, gram, width=64, depth=4, networks=1000, sigma_w=1.4, sigma_b=0.3, generator=stream(0, 0, 0),
        slope=slope,
    )  # fmt: skip
    noise = control.control(layer, sample, sensitivity, stream(0, 1, 0))
    assert float((noise.mean(0).abs() / (noise.std(0) / 1000**0.5)).max()) < 4.5
    loud, quiet = observe(sample)[:, 1:], observe(sample)[:, 1:] - noise
    assert bool((quiet.std(0) < 0.5 * loud.std(0)).all())


DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")),
]


@pytest.mark.parametrize("device", DEVICES)
def test_every_sampler_runs_on_the_device_of_its_stream(device):
    generators = [stream(0, 0, k, device) for k in range(16)]
    line = line_means([torch.relu], [1.0], generators, torch.float64)
    plane = plane_means([lambda u, v: u * v], [(1.0, 1.0, 0.5)], generators, torch.float64)
    gram = torch.eye(2, dtype=torch.float64, device=device)
    options = {"width": 16, "depth": 3, "networks": 4, "sigma_w": 1.2, "sigma_b": 0.1, "generator": generators[0]}
    sample = conditional.kernels(torch.relu, gram, **options)
    relu = control.Layer(torch.relu, None, 1.2, 0.1)
    observe = lambda kernels: kernels[:, :, 0, 1]  # noqa: E731
    noise = control.control(relu, sample, control.sensitivities(relu, gram, 3, observe), generators[0])
    drawn = (line.values, plane.values, sample, dense.kernels(torch.relu, gram, **options), noise)
    assert {x.device.type for x in drawn} == {device} and all(torch.isfinite(x).all() for x in drawn)


class OnMeta(torch.Generator):
    """A stream that says it belongs to a device on which nothing is computed: a tensor left on the CPU is an error."""

    device = torch.device("meta")


def samplers_on(batches, device):
    """Every sampler up to its batch means, as functions without arguments."""
    gram = torch.eye(2, dtype=torch.float64, device=device)
    options = {"width": 16, "depth": 3, "networks": 4, "sigma_w": 1.2, "sigma_b": 0.1, "generator": batches[0]}
    points = [Point((("q", 1.0), ("sigma_w", 1.1)), Enclosure(mpf(0), mpf(0)), 1.0)]
    one, two = (lambda v: [[1.0]]), (lambda v: [[1.0, 0.5], [0.5, 1.0]])
    slope = lambda z: 1 - torch.tanh(z) ** 2  # noqa: E731
    found = {
        "line": lambda: line_means([torch.relu], [1.0], batches, torch.float64).values,
        "plane": lambda: plane_means([torch.mul], [(1.0, 1.0, 0.5)], batches, torch.float32).values,
        "conditional": lambda: conditional.kernels(torch.relu, gram, **options),
        "tangent": lambda: conditional.kernels(torch.tanh, gram, slope=slope, **options),
        "dense": lambda: dense.kernels(torch.relu, gram, **options),
        "layer": lambda: layer.layer_means(torch.float64, points, one, torch.relu).draw(batches).values,
        "gradients": lambda: layer.layer_gradients(torch.float64, points, torch.tanh, slope).draw(batches).values,
    }
    for name, law in laws().items():
        found[name] = law_means(law, torch.float64, points, two, torch.mul).draw
    return found


def test_samplers_leave_nothing_on_the_cpu(monkeypatch):
    """Judging tails needs numbers, which "meta" has none of."""
    monkeypatch.setattr("verify.sampling._tail_warning", lambda *_: "")
    batches = [OnMeta() for _ in range(2)]
    for name, sampler in samplers_on(batches, "meta").items():
        drawn = sampler(batches).values if name in laws() else sampler()
        assert drawn.device.type == "meta" and drawn.shape[0] in (2, 4), name


def test_a_tensor_that_is_left_on_the_cpu_is_seen(monkeypatch):
    monkeypatch.setattr("verify.sampling._tail_warning", lambda *_: "")
    with pytest.raises(RuntimeError, match="device"):
        line_means([lambda z: z * torch.ones(z.shape[-1])], [1.0], [OnMeta()], torch.float64)
