"""What `bias` says of models and data it cannot take: one clear message each."""

import numpy as np
import pytest
import torch
from torch import nn

from derive import theory
from derive.records import EocError
from verify.guessing.model import bias

X = torch.randn(40, 8, generator=torch.Generator().manual_seed(0))


def net():
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = net()

    def forward(self, x):
        return self.inner(x), x


@pytest.mark.parametrize(
    ("model", "loader", "words"),
    [
        (net(), X[:0], "fewer than two inputs"),
        (net(), X[:1], "fewer than two inputs"),
        (net(), [], "fewer than two inputs"),
        (net(), torch.randn(20, 9), "does not take inputs of shape"),
        (net(), list(X), "does not take inputs of shape"),
        (net(), [X[:10], torch.randn(10, 7)], "batches of inputs of shapes"),
        (net(), [{"x": X}], "a batch is a dict"),
        (net(), "abc", "str is no data"),
        (net(), 3, "int is no data"),
        (net(), X * torch.nan, "not finite"),
        (net(), torch.ones(40, 8), "same outputs"),
        (Pair(), X, "returns a tuple"),
        (nn.Sequential(nn.Linear(8, 1)), X, "no class scores"),
        (nn.Identity(), X, "no linear or convolutional layer"),
        ("relu", X, "no torch module"),
    ],
)
def test_refusals(model, loader, words):
    with pytest.raises(EocError, match=words):
        bias(model, loader, initialisations=2)


@pytest.mark.parametrize(
    "counts", [{"initialisations": 0}, {"initialisations": 1.5}, {"inputs": -1}, {"inputs": "a"}, {"seed": None}]
)
def test_counts(counts):
    with pytest.raises(EocError, match=next(iter(counts))):
        bias(net(), X, **counts)


def test_frozen_models_arrays_and_tokens_are_taken():
    frozen = net().requires_grad_(False)
    assert bias(frozen, X, initialisations=2).inputs == 40
    assert not any(p.requires_grad for p in frozen.parameters())
    assert bias(net(), np.asarray(X), initialisations=2).inputs == 40
    tokens = nn.Sequential(nn.Embedding(11, 4), nn.Flatten(), nn.Linear(12, 3))
    assert bias(tokens, torch.arange(60).reshape(20, 3) % 11, initialisations=2).inputs == 20


def test_no_signal_has_a_phase_without_a_power():
    point = theory("(x>0)").guessing_bias.at(0, "0.3")
    assert point.exponent is None


@pytest.mark.parametrize("sigmas", [(float("nan"), 1), (1, float("inf")), (0, 1)])
def test_depth_asks_for_deviations(sigmas):
    with pytest.raises(EocError, match="standard deviations"):
        theory("relu").guessing_bias.depth(3, *sigmas)
