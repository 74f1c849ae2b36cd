"""Random networks against the predicted law of class fractions, and the bias of a torch model."""

import numpy as np
import pytest
import torch
from torch import nn

from derive import theory
from derive.depth.bias.dictionary import Guessing
from derive.depth.bias.guess import Classes
from verify import bias
from verify.guessing.ensemble import outputs, smooth_fractions
from verify.guessing.estimate import fraction_test, layer_bias
from verify.guessing.law import drawn_fractions, networks_needed, power, share_test
from verify.guessing.numbers import ASKED
from verify.stream import stream

NETWORKS = 2500
CASES = [
    ("relu", torch.relu, 1, 1, 2**0.5, 0.0),
    ("relu", torch.relu, 3, 1, 2**0.5, 0.0),
    ("tanh", torch.tanh, 5, 1, 2.5**0.5, 0.1**0.5),
    ("dense >> relu >> maxpool(2)", torch.relu, 1, 2, 1.0, 0.0),
]


def predicted(text, hidden, w, b):
    start = Guessing(b**2, w**2)
    return float(theory(text).guessing_bias.depth(hidden + 1, w, b, start=start).gamma[-1])


def drawn(phi, hidden, pool, w, b, classes, networks, seed):
    return outputs(
        phi,
        inputs=1000,
        width=400 * pool,
        hidden=hidden,
        classes=classes,
        networks=networks,
        sigma_w=w,
        sigma_b=b,
        generator=stream(seed, hidden, pool),
        pool=pool,
    )


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("text", "phi", "hidden", "pool", "w", "b"), CASES)
def test_fractions_follow_their_law(text, phi, hidden, pool, w, b):
    """Two classes and ten, from disjoint outputs of the same networks."""
    gamma = predicted(text, hidden, w, b)
    y = drawn(phi, hidden, pool, w, b, 12, NETWORKS, 3)
    test = fraction_test(smooth_fractions(y[..., :2]).numpy(), gamma)
    assert test.ks > 1e-3 and test.variance > 1e-3
    for wrong in (0.8, 1.2):
        assert power(NETWORKS, wrong) > 0.999
        assert fraction_test_of_wrong(test, gamma, wrong) < 1e-3
    share = torch.nn.functional.one_hot(y[..., 2:].argmax(-1), 10).double().mean(1)
    assert share_test(share[:, 0], gamma, 10, 1000).ks > 1e-3
    assert share_test(share[:, 0], 2 * gamma, 10, 1000).ks < 1e-3
    law = Classes(gamma, 10)
    largest, squares = share.max(1).values.numpy(), ((share**2).sum(1) - 1 / 1000).numpy() / (1 - 1 / 1000)
    for found, want in ((largest, law.mean_largest), (squares, law.same_class)):
        assert abs(found.mean() - want) < 4 * found.std() / NETWORKS**0.5 + 0.002


def fraction_test_of_wrong(test, gamma, factor):
    """The p-value of the variance test at a wrong gamma."""
    from scipy import stats

    tail = stats.chi2.cdf(test.gamma_hat * test.networks / (factor * gamma), test.networks)
    return 2 * min(tail, 1 - tail)


def test_how_many_networks_see_what():
    # one-sided at 1e-3, 1500 networks see a gamma 20 % too large with power 0.97; two-sided with 0.95
    assert power(1500, 1.2, 2e-3) == pytest.approx(0.97, abs=0.005)
    assert power(1500, 1.2) == pytest.approx(0.95, abs=0.005)
    needed = networks_needed(1.2, chance=0.999)
    assert power(needed, 1.2) >= 0.999 > power(needed - 1, 1.2) and needed <= NETWORKS
    rng = np.random.default_rng(3)
    seen = [(rng.standard_normal(400) ** 2).sum() for _ in range(1000)]
    from scipy import stats

    low, high = stats.chi2.ppf([5e-3, 1 - 5e-3], 400)
    hit = np.mean([(v / 1.3 < low) or (v / 1.3 > high) for v in seen])
    assert hit == pytest.approx(power(400, 1.3, 1e-2), abs=0.04)


@pytest.mark.parametrize(("gamma", "k"), [(0.5, 3), (30.0, 10)])
def test_fractions_drawn_from_the_law(gamma, k):
    share = drawn_fractions(gamma, k, 4000, stream(2, k, 0))
    law = Classes(gamma, k)
    assert share.sum(1) == pytest.approx(1, abs=1e-12)
    for found, want in ((share.max(1), law.mean_largest), ((share**2).sum(1), law.same_class)):
        assert abs(found.mean() - want) < 5 * found.std() / 4000**0.5
    counted = np.random.default_rng(0).binomial(500, np.clip(share[:600, 0], 0, 1)) / 500
    assert share_test(counted, gamma, k, 500, centres=20_000).ks > 1e-3
    assert share_test(counted, 2.5 * gamma, k, 500, centres=20_000).ks < 1e-3


def test_the_sampled_fractions_in_small():
    gamma = predicted("relu", 1, 2**0.5, 0.0)
    found = outputs(
        torch.relu,
        inputs=200,
        width=200,
        hidden=1,
        classes=2,
        networks=150,
        sigma_w=2**0.5,
        sigma_b=0.0,
        generator=stream(1, 0, 0),
    )
    test = fraction_test(smooth_fractions(found).numpy(), gamma)
    assert test.ks > 1e-3 and test.variance > 1e-3
    assert fraction_test_of_wrong(test, gamma, 3) < 1e-6


def test_the_tests_see_what_they_should():
    z = np.random.default_rng(0).normal(size=NETWORKS)
    from scipy.special import ndtr

    fractions = ndtr(1.3 * z)
    right, wrong = fraction_test(fractions, 1.69), fraction_test(fractions, 1.69 * 1.2)
    assert right.ks > 1e-2 and right.variance > 1e-2
    assert wrong.variance < 1e-3


def test_errors_of_a_layer_cover_the_truth():
    rng = np.random.default_rng(4)
    misses = 0
    for _ in range(60):
        y = rng.normal(size=(100, 400)) + 0.7 * rng.normal(size=400)
        found = layer_bias("", y)
        misses += abs(found.gamma - 0.49) > 2.09 * found.gamma_error
    assert misses <= 10  # five per cent are expected


def model(seed):
    torch.manual_seed(seed)
    layers = nn.Sequential(nn.Linear(50, 300), nn.ReLU(), nn.Linear(300, 300), nn.ReLU(), nn.Linear(300, 2))
    for part in layers:
        if isinstance(part, nn.Linear):
            nn.init.normal_(part.weight, std=(2 / part.in_features) ** 0.5)
            nn.init.zeros_(part.bias)
    return layers


def test_a_model_and_its_data():
    net, x = model(0), torch.randn(600, 50, generator=torch.Generator().manual_seed(1))
    before = [p.clone() for p in net.parameters()]
    state = torch.random.get_rng_state()
    found = bias(net, [(x[:300], None), (x[300:], None)], initialisations=5)
    assert torch.equal(state, torch.random.get_rng_state())
    assert all(torch.equal(a, b) for a, b in zip(before, net.parameters(), strict=True))
    assert [layer.name for layer in found.layers] == ["0", "2", "4"] and found.inputs == 600
    want = theory("relu").guessing_bias.depth(2, 2**0.5).gamma
    assert found.layers[0].gamma == pytest.approx(want[0], abs=0.01)
    assert abs(found.layers[1].gamma - want[1]) < 4 * found.layers[1].gamma_error
    assert found.fractions.shape == (5, 2) and found.fractions.sum(1) == pytest.approx(1)
    assert bias(net, x, initialisations=5).fractions == pytest.approx(found.fractions)


def wrong_ratios(w2, b2, layers):
    """gamma at a layer of ReLU by recursions that people write down wrongly, and by the right one."""
    import math

    def kernel(q, k):
        theta = math.acos(k / q)
        return q * (math.sin(theta) + (math.pi - theta) * math.cos(theta)) / (2 * math.pi)

    rules = {
        "right": lambda v, c: (w2 * c + b2, w2 * (v - c)),
        "biases in the spread": lambda v, c: (w2 * c + b2, w2 * (v - c) + b2),
        "no biases in the centre": lambda v, c: (w2 * c, w2 * (v - c)),
        "sigma_w for its square": lambda v, c: (w2**0.5 * c + b2, w2**0.5 * (v - c)),
        "the total for the spread": lambda v, c: (w2 * c + b2, w2 * v),
        "the mean squared for the centre": lambda v, c: (w2 * v / math.pi + b2, w2 * v * (1 - 1 / math.pi)),
    }
    found = {}
    for name, rule in rules.items():
        mu, spread = b2, w2
        for _ in range(layers - 1):
            mu, spread = rule((mu + spread) / 2, kernel(mu + spread, mu))
        found[name] = mu / spread
    return found


@pytest.mark.slow
def test_networks_refute_wrong_recursions():
    value, error = ASKED["depth"].measured(text="relu", layer=4, w2=1.5, b2=0.3)
    found = wrong_ratios(1.5, 0.3, 4)
    bias = theory("relu").guessing_bias
    assert bias.depth(4, 1.5**0.5, 0.3**0.5).gamma[-1] == pytest.approx(found["right"], rel=1e-10)
    right = found.pop("right")
    assert abs(value - right) < 4 * error
    assert all(abs(value - wrong) > 5 * error for wrong in found.values())


def test_the_ratio_is_written_and_emitted():
    ratio = theory("relu").guessing_bias.ratio_map
    code = ratio.compile("numpy")
    for c in (0.0, 0.3, 0.9):
        want = float(ratio.number(q=2, c=str(c), sigma_w="1.4", sigma_b="0.3"))
        assert float(code(2.0, c, sigma_w=1.4, sigma_b=0.3)) == pytest.approx(want, rel=1e-13)
    assert ratio.latex().startswith(r"\gamma'")
    assert "sigma_w" in ratio.code("torch")
