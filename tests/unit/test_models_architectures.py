"""Architectures people use, read and predicted: transformers, mixers, residual nets, sines, VGG."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from verify import diagnose, initialise_, read
from verify.models.trace import returned, run


class Attend(nn.Module):
    def __init__(self, width, heads, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.mix, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        inputs, places, width = x.shape
        split = (part.view(inputs, places, self.heads, -1).transpose(1, 2) for part in self.mix(x).chunk(3, -1))
        attended = F.scaled_dot_product_attention(*split, is_causal=self.causal)
        return self.out(attended.transpose(1, 2).reshape(inputs, places, width))


class Written(Attend):
    """The same with its softmax written out."""

    def forward(self, x):
        inputs, places, width = x.shape
        q, k, v = (part.view(inputs, places, self.heads, -1).transpose(1, 2) for part in self.mix(x).chunk(3, -1))
        scores = q @ k.transpose(-2, -1) / k.shape[-1] ** 0.5
        if self.causal:
            allowed = torch.tril(torch.ones(places, places))
            scores = scores.masked_fill(allowed == 0, float("-inf"))
        weights = F.dropout(scores.softmax(-1), 0.1, self.training)
        return self.out((weights @ v).transpose(1, 2).reshape(inputs, places, width))


class Transformer(nn.Module):
    """GPT-like: tokens, learned positions, pre-norm blocks."""

    def __init__(self, width=96, heads=6, tokens=40, places=10, attend=Attend):
        super().__init__()
        self.table = nn.Embedding(tokens, width)
        self.places = nn.Parameter(torch.randn(places, width))
        self.attend = attend(width, heads, True)
        self.first, self.second, self.last = (nn.LayerNorm(width) for _ in range(3))
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))
        self.head = nn.Linear(width, tokens)

    def forward(self, tokens):
        x = self.table(tokens) + self.places
        x = x + self.attend(self.first(x))
        return self.head(self.last(x + self.mlp(self.second(x))))


class Vision(nn.Module):
    """ViT-like: patches, a class token, attention that sees everything, the class token read out."""

    def __init__(self, width=96, attend=Attend):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 4, 4)
        self.cls, self.places = nn.Parameter(torch.randn(1, 1, width)), nn.Parameter(torch.randn(1, 10, width))
        self.norm, self.attend, self.head = nn.LayerNorm(width), attend(width, 6, False), nn.Linear(width, 10)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(len(x), -1, -1), x], 1) + self.places
        return self.head((x + self.attend(self.norm(x)))[:, 0])


class Mixer(nn.Module):
    def __init__(self, places=36, width=64):
        super().__init__()
        self.patches, self.head = nn.Conv2d(3, width, 2, 2), nn.Linear(width, 10)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.along = nn.Sequential(nn.Linear(places, 64), nn.ReLU(), nn.Linear(64, places))
        self.across = nn.Sequential(nn.Linear(width, 64), nn.ReLU(), nn.Linear(64, width))

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = x + self.along(self.first(x).transpose(1, 2)).transpose(1, 2)
        return self.head((x + self.across(self.second(x))).mean(1))


class Residual(nn.Module):
    """One block of either variant, its branch scaled by a parameter that may start at zero."""

    def __init__(self, after, channels=48, strength=0.7):
        super().__init__()
        self.after, self.strength = after, nn.Parameter(torch.tensor(strength))
        self.one, self.two = (nn.Conv2d(channels, channels, 3, padding=1) for _ in range(2))

    def forward(self, x):
        branch = self.two(F.relu(self.one(x if self.after else F.relu(x))))
        x = x + self.strength * branch
        return F.relu(x) if self.after else x


def residual(after, strength=0.7):
    blocks = [Residual(after, strength=strength) for _ in range(2)]
    return nn.Sequential(
        nn.Conv2d(3, 48, 3, padding=1), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(48, 10)
    )


def vgg():
    parts, channels = [], 3
    for wide in (32, "M", 64, 64, "M"):
        if wide == "M":
            parts.append(nn.MaxPool2d(2))
        else:
            parts += [nn.Conv2d(channels, wide, 3, padding=1), nn.ReLU(inplace=True)]
            channels = wide
    head = [nn.Flatten(), nn.Linear(64 * 9, 128), nn.ReLU(True), nn.Dropout(0.5), nn.Linear(128, 10)]
    return nn.Sequential(*parts, *head).eval()


class Sine(nn.Module):
    def forward(self, x):
        return torch.sin(30 * x)


def siren(width=128):
    net = nn.Sequential(nn.Linear(width, width), Sine(), nn.Linear(width, width), Sine(), nn.Linear(width, width))
    with torch.no_grad():
        net[0].weight.uniform_(-1 / width, 1 / width)
        for i in (2, 4):
            net[i].weight.uniform_(-((6 / width) ** 0.5) / 30, (6 / width) ** 0.5 / 30)
    return net


def images(size=12):
    return torch.randn(4, 3, size, size, generator=torch.Generator().manual_seed(1))


def tokens():
    return torch.randint(0, 40, (4, 10), generator=torch.Generator().manual_seed(1))


def vectors():
    return 2 * torch.rand(4, 128, generator=torch.Generator().manual_seed(1)) - 1


CASES = {
    "transformer": (Transformer, tokens),
    "vision": (Vision, images),
    "post-activation": (lambda: residual(True), images),
    "pre-activation": (lambda: residual(False), images),
    "siren": (siren, vectors),
    "mixer": (Mixer, images),
    "vgg": (vgg, images),
    "written": (lambda: Transformer(attend=Written), tokens),
    "written vision": (lambda: Vision(attend=Written).eval(), images),
}
QUICK = ("transformer", "siren")
PARAMS = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in CASES]


def made(name):
    torch.set_num_threads(1)
    torch.manual_seed(2)
    factory, batch = CASES[name]
    return factory(), batch()


@pytest.mark.parametrize("name", PARAMS)
def test_predicted_is_what_is_measured(name):
    model, batch = made(name)
    found = diagnose(model, batch, networks=8, seed=3)
    assert not found.network.unread
    assert not found.lost
    for row in found.rows[1:]:
        moment, gradient = row.measured.moment / row.predicted.moment, row.measured.gradient / row.predicted.gradient
        features = 10 if row is found.rows[-1] else 48
        assert abs(moment - 1) < 5 * (2 / (8 * features)) ** 0.5, row
        # the values of an attention share gradients that are taken as independent
        assert abs(gradient - 1) < (0.6 if "attend" in row.module or "first" in row.module else 0.3), row
        assert abs(row.measured.correlation - row.predicted.correlation) < 0.12, row


def test_queries_and_keys_have_gradients_of_their_own():
    """The paths through the softmax, apart from the values': off by a factor where one of them is left out."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    net = nn.Sequential(nn.LayerNorm(96), Attend(96, 6, False))
    batch = torch.randn(4, 10, 96, generator=torch.Generator().manual_seed(5))
    rows = {row.name: row for row in diagnose(net, batch, networks=12, seed=1).rows}
    parts = [row for name, row in rows.items() if name.startswith("getitem")]
    assert len(parts) == 3
    for row in parts:
        assert row.measured.gradient == pytest.approx(row.predicted.gradient, rel=0.15), row


def test_a_branch_that_starts_at_zero():
    torch.manual_seed(0)
    batch = images()
    network = read(residual(False, strength=0.0), batch)
    assert not network.unread
    (first, *_, last) = (r for r in diagnose(residual(False, strength=0.0), batch).rows if r.label in ("conv", "sum"))
    assert last.predicted.moment == pytest.approx(first.predicted.moment, rel=1e-6)
    assert last.predicted.gradient == pytest.approx(first.predicted.gradient, rel=1e-6)


def test_tied_tables_keep_their_numbers():
    torch.manual_seed(0)
    model = Transformer()
    model.head.weight = model.table.weight
    before = model.table.weight.detach().clone()
    changes = initialise_(model, tokens())
    assert torch.equal(model.table.weight, before)
    assert any("table of an embedding" in note for note in changes.notes)
    assert any("tied" in note for note in changes.notes)
    assert {c.weight for c in changes.changes} == {
        "attend.mix.weight",
        "attend.out.weight",
        "mlp.0.weight",
        "mlp.2.weight",
    }


def test_what_acts_on_heads_apart_is_named():
    class Odd(Attend):
        def forward(self, x):
            heads = self.mix(x).view(len(x), x.shape[1], 6, -1)
            return torch.cumsum(heads, 2).flatten(2)

    torch.manual_seed(0)
    unread = read(Odd(96, 6, False), torch.randn(3, 5, 96)).unread
    assert unread[0].operation == "cumsum"


def test_the_transformer_of_torch():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True, norm_first=True)
    batch = torch.randn(4, 10, 64, generator=torch.Generator().manual_seed(5))
    mask = nn.Transformer.generate_square_subsequent_mask(10)

    class Masked(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = layer

        def forward(self, x):
            return self.layer(x, src_mask=mask)

    for model in (layer, Masked()):
        with torch.no_grad():
            before = model(batch)
        found = diagnose(model, batch, networks=6)
        assert not found.network.unread
        assert {"attention", "norm over features"} <= {row.label for row in found.rows}
        for row in found.rows:
            assert row.measured.moment == pytest.approx(row.predicted.moment, rel=0.2), row
        with torch.no_grad():
            assert torch.equal(model(batch), before)  # the module is left as it is
        traced = found.network.traced
        assert torch.allclose(run(traced, model, batch)[returned(traced)], before, atol=1e-5)
