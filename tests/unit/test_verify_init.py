"""Torch models read, diagnosed and initialised: `verify.read`, `diagnose`, `initialise_`, and `eoc init`."""

import json
import math

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from torch import nn

from derive.records import EocError
from verify import diagnose, initialise_, read
from verify.commands.init import COMMAND
from verify.models.angles import products
from verify.models.moments import moments_of

DEPTH, WIDTH = 24, 160


def deep(activation, depth=DEPTH, width=WIDTH):
    torch.manual_seed(3)
    layers = [part for _ in range(depth) for part in (nn.Linear(width, width), activation())]
    return nn.Sequential(*layers, nn.Linear(width, 10))


def batch(width=WIDTH):
    return torch.randn(6, width, generator=torch.Generator().manual_seed(4))


def convolutional():
    torch.manual_seed(3)
    return nn.Sequential(
        nn.Conv2d(3, 48, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(48, 48, 3, padding=1), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(48, 10),
    )  # fmt: skip


@pytest.mark.parametrize("activation", [nn.Tanh, nn.GELU])
def test_a_deep_network_that_dies_lives_after_it_is_initialised(activation):
    model, inputs = deep(activation), batch()
    with torch.no_grad():
        first = model[0](inputs)
        late = model[: 2 * DEPTH - 1](inputs)
        assert late.var(0).mean() < 1e-3 * first.var(0).mean()  # torch's default forgets the input
    changes = initialise_(model, inputs)
    assert len(changes.changes) == DEPTH + 1
    found = diagnose(model, inputs, networks=8, seed=1)
    for row in found.rows:
        if row.sigma_w is None:
            continue
        off = abs(math.log(row.measured.moment / row.predicted.moment))
        assert off < 4 * (row.predicted.moment_spread / 8) ** 0.5 + 0.02, row.name
    hidden = [row.measured.moment for row in found.rows if row.sigma_w is not None][1:-1]
    assert max(hidden) < 4 * min(hidden)


def test_sigmas_are_those_of_the_weights():
    network = read(deep(nn.ReLU, depth=2), batch())
    assert not network.unread
    for layer in network.layers:
        assert layer.sigma_w**2 == pytest.approx(1 / 3, rel=0.1)


def test_a_wrong_prediction_would_be_seen():
    model, inputs = deep(nn.ReLU, depth=6), batch()
    rows = [row for row in diagnose(model, inputs, networks=8).rows if row.sigma_w is not None]
    last = rows[-2]
    assert last.measured.moment == pytest.approx(last.predicted.moment, rel=0.3)
    with torch.no_grad():
        for part in model:
            if isinstance(part, nn.Linear):
                part.weight.mul_(1.3)
    again = [row for row in diagnose(model, inputs, networks=8).rows if row.sigma_w is not None][-2]
    assert again.measured.moment > 1.35 * last.predicted.moment  # outside what the tests accept


def test_convolutions_and_pooling_are_read():
    inputs = torch.randn(4, 3, 16, 16, generator=torch.Generator().manual_seed(1))
    found = diagnose(convolutional(), inputs)
    assert not found.network.unread
    for row in found.rows:
        assert row.measured.moment == pytest.approx(row.predicted.moment, rel=0.35), row.name


def test_what_cannot_be_read_is_named():
    class Odd(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = nn.Linear(32, 32), nn.Linear(32, 32)

        def forward(self, x):
            return self.last(torch.cumsum(self.first(x), -1))

    torch.manual_seed(0)
    (unread,) = read(Odd(), batch(32)).unread
    assert "cumsum" in unread.operation


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.py").write_text(
        "import torch\nfrom torch import nn\n\n\ndef make():\n"
        "    return nn.Sequential(nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 8))\n"
    )
    done = CliRunner().invoke(COMMAND, ["net.py:make", "--input", "64", "--apply", "w.pt", "--json", "found.json"])
    assert done.exit_code == 0, done.output
    assert len(json.loads((tmp_path / "found.json").read_text())["advice"]) == 3
    assert len(torch.load(tmp_path / "w.pt")) == 6
    (tmp_path / "words.py").write_text(
        "import torch\nfrom torch import nn\n\n\ndef make():\n"
        "    return nn.Sequential(nn.Embedding(30, 32), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 30))\n"
    )
    done = CliRunner().invoke(COMMAND, ["words.py:make", "--input", "6", "--tokens", "30"])
    assert done.exit_code == 0, done.output
    assert "embedding" in done.output
    with pytest.raises(EocError, match="--tokens 30"):
        COMMAND.main(["words.py:make", "--input", "6"], standalone_mode=False)
    with pytest.raises(EocError, match="no shape"):
        COMMAND.main(["net.py:make", "--input", "6a"], standalone_mode=False)


class Sine(nn.Module):
    def forward(self, x):
        return torch.sin(30 * x)


FIFTY = [nn.GELU, nn.SiLU, nn.Mish, nn.Tanh, nn.SELU, nn.Hardswish, nn.Softplus, Sine]


@pytest.mark.slow
@pytest.mark.parametrize("activation", FIFTY, ids=lambda kind: kind.__name__)
def test_fifty_layers(activation):
    """Dead or exploding as torch makes them; alive and inside the predicted band afterwards, at a stable point."""
    torch.set_num_threads(1)
    model, inputs = deep(activation, depth=50, width=256), batch(256)
    before = [row for row in diagnose(model, inputs).rows if row.sigma_w is not None][:-1]
    grown = before[0].measured.gradient / before[-1].measured.gradient
    apart = 1 - before[-1].measured.correlation
    assert not 1e-3 < grown < 1e3 or apart < 1e-6
    changes = initialise_(model, inputs)
    (point,) = changes.points
    assert point.chi_parallel <= 1 + 1e-9
    assert point.reason
    networks = 12
    rows = [row for row in diagnose(model, inputs, networks=networks, seed=1).rows if row.sigma_w is not None][:-1]
    for what in ("moment", "gradient"):
        inside = 0
        for row in rows:
            low, high = row.predicted.band(what, networks)
            inside += low <= getattr(row.measured, what) <= high
        assert inside >= 0.8 * len(rows), what
        ends = [getattr(rows[i].measured, what) for i in (0, -1)]
        assert 0.2 < ends[0] / ends[1] < 5
    assert 1 - rows[-1].measured.correlation > 1e-3


@pytest.mark.slow
def test_the_mean_of_many_networks_is_what_was_predicted():
    """Within 10 % in all fifty layers, with so many networks that chance leaves no more than that (95 %)."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    inputs = torch.randn(8, 512)
    model = deep(nn.GELU, depth=50, width=512)
    initialise_(model, inputs)
    rows = [row for row in diagnose(model, inputs, networks=350, seed=1).rows if row.sigma_w is not None][:-1]
    for what in ("moment", "gradient"):
        for row in rows:
            predicted, (low, high) = getattr(row.predicted, what), row.predicted.band(what, 350)
            assert 1 / 1.12 < low / predicted < high / predicted < 1.12
            assert low < getattr(row.measured, what) < high
            assert getattr(row.measured, what) == pytest.approx(predicted, rel=0.1)


def test_weights_share_no_numbers_with_a_batch_of_the_same_seed():
    torch.manual_seed(0)
    inputs = torch.randn(8, 128)
    model = deep(nn.Tanh, depth=3, width=128)
    changes = initialise_(model, inputs, seed=0)
    rows = model[0].weight.detach()[:8]
    cosines = torch.nn.functional.cosine_similarity(rows, inputs)
    assert cosines.abs().max() < 0.4
    with torch.no_grad():
        assert float(model[0](inputs).square().mean()) == pytest.approx(changes.points[0].q, rel=0.2)


@pytest.mark.slow
def test_products_at_large_variances_follow_the_angle():
    softplus = moments_of("log(1 + exp(x))")
    rng = np.random.default_rng(3)
    q1, q2, c = rng.uniform(380, 480, 24), rng.uniform(380, 480, 24), rng.uniform(0.7, 0.999, 24)
    few = slice(0, 3)
    found = products(softplus, q1, q2, c)
    scale = np.sqrt(softplus.second(q1) * softplus.second(q2))
    assert not softplus.quick
    assert np.max(np.abs(found[few] - softplus.pair(q1[few], q2[few], c[few])) / scale[few]) < 1e-3


def test_products_that_do_not_follow_the_angle_are_integrated():
    # variances a thousand times apart: the curve at their mean misses, and every pair is its own integral
    softplus = moments_of("log(1 + exp(x))")
    q1, q2, c = np.full(18, 200.0), np.geomspace(1, 300, 18), np.linspace(-0.9, 0.9, 18)
    expected = softplus.pair(q1, q2, c)
    np.testing.assert_allclose(products(softplus, q1, q2, c), expected, rtol=1e-3)
