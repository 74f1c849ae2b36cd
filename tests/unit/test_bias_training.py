"""Gradients by class of untrained networks, digits as data, and how training takes a bias away."""

import math

import mpmath
import numpy as np
import pytest
import torch
from torch import nn

from derive import theory
from derive.depth.bias.dictionary import of_activations
from derive.depth.bias.gradients import mean_ratio, ratio
from derive.records import EocError
from verify import bias
from verify.guessing.data import digits
from verify.guessing.gradients import class_gradients
from verify.guessing.training import Start, absorb, starts

torch.set_num_threads(1)


def mlp(depth, width, w2, b2, seed, inputs=40):
    torch.manual_seed(seed)
    parts = []
    for i in range(depth):
        layer = nn.Linear(inputs if i == 0 else width, 2 if i == depth - 1 else width)
        nn.init.normal_(layer.weight, std=(w2 / layer.in_features) ** 0.5)
        nn.init.normal_(layer.bias, std=max(b2, 1e-30) ** 0.5)
        parts += [layer, nn.ReLU()]
    return nn.Sequential(*parts[:-1])


X = torch.randn(100, 40, generator=torch.Generator().manual_seed(5))


def test_the_mean_over_inputs_by_quadrature():
    for centre, spread in ((0.0, 1.0), (1.3, 0.4), (5.0, 3.0)):

        def mean(sign, centre=centre, spread=spread):
            return mpmath.quad(
                lambda z: mpmath.npdf(z) / (1 + mpmath.exp(sign * (centre + spread * z))) ** 2, [-12, -3, 0, 3, 12]
            )

        assert mean_ratio(centre, spread) == pytest.approx(float(mean(1) / mean(-1)), rel=1e-11)
    assert mean_ratio(2.0, 0.0) == pytest.approx(math.exp(-4), rel=1e-12)
    assert mean_ratio(0.0, 7.0) == pytest.approx(1, rel=1e-12)
    with pytest.raises(EocError):
        mean_ratio(-1, 1)


def test_ordered_networks_pull_by_the_ratio_of_one_difference():
    net = mlp(25, 100, 1.0, 0.1, 1)
    found = class_gradients(net, X)
    y = net(X).detach().double()
    delta = float((y[:, 0] - y[:, 1]).mean())
    assert found.share.max() == 1 and found.favoured == int(delta < 0)
    assert found.ratio == pytest.approx(float(ratio(delta)), rel=1e-3)  # at every layer
    assert found.right / found.wrong == pytest.approx(float(ratio(delta)), rel=1e-3)


def test_a_spread_over_inputs_weakens_the_ratio():
    net = mlp(12, 150, 2.0, 0.1, 3)
    found, y = class_gradients(net, X), net(X).detach().double()
    delta = y[:, 0] - y[:, 1]
    centre, spread = abs(float(delta.mean())), float(delta.std())
    assert found.predicted_ratio == pytest.approx(mean_ratio(centre, spread), rel=0.1)
    assert found.ratio[-1] == pytest.approx(found.predicted_ratio, rel=1e-5)
    assert found.ratio == pytest.approx(found.predicted_ratio, rel=0.3)


def test_chaotic_networks_underflow_where_an_input_is_predicted_as_its_label():
    # a softmax keeps exp(-Delta) at the other class's score down to the smallest float32
    net = mlp(40, 100, 3.0, 0.1, 1)
    found, y = class_gradients(net, X), net(X).detach().double()
    margin = (y[:, 0] - y[:, 1]).numpy()
    for k, own in ((0, margin), (1, -margin)):
        assert found.zero[:, k] == pytest.approx((own > 149 * math.log(2)).mean(), abs=0.03)
    assert found.mean[0].min() > 1e3 * found.mean[-1].min()  # towards the inputs gradients explode


def test_gradients_one_input_at_a_time():
    net, labels = mlp(3, 20, 2.0, 0.1, 4), torch.arange(100) % 2
    found = class_gradients(net, X, labels)
    want = []
    for x, label in zip(X, labels, strict=True):
        hidden = net[:3](x[None]).detach().requires_grad_()
        (gradient,) = torch.autograd.grad(nn.functional.cross_entropy(net[3:](hidden), label[None]), hidden)
        want.append(float(gradient.square().sum()))
    want = np.array(want)
    assert found.layers == ("0", "2", "4")
    assert found.mean[1] == pytest.approx([want[::2].mean(), want[1::2].mean()], rel=1e-5)
    assert "favoured class" in str(found)
    with pytest.raises(EocError, match="classes"):
        class_gradients(net, X, labels + 1)


def test_digits_are_centred_and_make_a_bias_where_they_are_not():
    pytest.importorskip("sklearn")
    x, y = digits()
    assert x.shape == (1797, 64) and y.max() == 9 and float(x.square().mean()) == pytest.approx(1, rel=1e-5)
    assert abs(of_activations(x.numpy()).gamma) < 1e-3
    assert of_activations(digits(centred=False)[0].numpy()).gamma == pytest.approx(2.2, abs=0.02)
    report = bias(nn.Sequential(nn.Linear(64, 50), nn.ReLU(), nn.Linear(50, 10)), initialisations=3, inputs=300)
    assert report.inputs == 300 and report.gradients.mean.shape == (2, 10) and math.isnan(report.ks)
    with pytest.raises(EocError, match="64 pixels"):
        bias(nn.Linear(3, 4))


def test_without_scikit_learn_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sklearn.datasets", None)
    with pytest.raises(EocError, match=r"eoc\[data\]"):
        digits()


class SmallTransformer(nn.Module):
    """Images of 8 x 8 pixels in 16 patches; two encoder layers; the mean over patches."""

    def __init__(self):
        super().__init__()
        self.patches = nn.Linear(4, 16)
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(16, 10)

    def forward(self, x):
        tokens = x.reshape(-1, 4, 2, 4, 2).transpose(2, 3).reshape(len(x), 16, 4)
        return self.head(self.layers(self.patches(tokens)).mean(1))


def test_a_vision_transformer_is_measured():
    torch.manual_seed(0)
    x = torch.randn(60, 64)
    found = bias(SmallTransformer(), x, initialisations=3)
    inside = {f"layers.layers.{i}.linear{j}" for i in (0, 1) for j in (1, 2)}
    assert {layer.name for layer in found.layers} >= inside | {"patches", "head"}
    assert np.isfinite([layer.gamma for layer in found.layers]).all()
    assert set(found.gradients.layers) >= inside and np.isfinite(found.gradients.ratio).all()
    assert torch.backends.mha.get_fastpath_enabled()


def toy():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(200, 8, generator=generator)
    return x, (x[:, 0] > 0).long()


def test_networks_trained_side_by_side_share_nothing():
    a, b = (Start(n, w, 0.1, "", 1.0, 1.0) for n, w in (("a", 1.0), ("b", 2.0)))
    given = {"depth": 3, "width": 16, "steps": 20, "rate": 1e-2, "networks": 2}
    both, alone = absorb(torch.tanh, [a, b], toy(), **given), absorb(torch.tanh, [b], toy(), **given)
    for name in ("largest", "accuracy", "loss", "by_class"):
        assert getattr(both.runs[1], name) == pytest.approx(getattr(alone.runs[0], name), abs=1e-5)
    assert both.runs[0].loss[:, -1].mean() < both.runs[0].loss[:, 0].mean()
    assert both.runs[0].accuracy[:, -1].mean() > 0.8 and both.runs[0].reached(0.8) <= 20
    assert both.runs[0].by_class.shape == (2, len(both.runs[0].steps), 2)
    assert "twice chance" in str(both)


@pytest.mark.slow
def test_the_four_starts_have_the_phases_they_are_named_for():
    found = starts(theory("tanh"), 20, 0.1**0.5)
    want = ["ordered-deep prejudice", "transient-deep prejudice", "prejudice", "neutrality"]
    assert [s.phase for s in found] == want
    assert np.diff([s.gamma for s in found]).max() < 0


@pytest.mark.slow
def test_deep_networks_lose_their_bias_at_the_edge_of_chaos():
    pytest.importorskip("sklearn")
    begin = starts(theory("tanh"), 100, 0.1**0.5)
    found = absorb(torch.tanh, begin, digits(), depth=100, width=128, steps=300, rate=3e-5, networks=2)
    ordered, edge, prejudiced, neutral = found.runs
    assert ordered.largest[:, 0].min() == 1 and edge.largest[:, 0].mean() > 0.5
    assert edge.absorbed(found.fair) < ordered.absorbed(found.fair)
    assert edge.reached(0.2) < ordered.reached(0.2) < prejudiced.reached(0.2)
    assert edge.accuracy[:, -1].mean() > ordered.accuracy[:, -1].mean() + 0.05
    assert neutral.accuracy.max() < 0.2
