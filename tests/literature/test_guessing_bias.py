"""Published and earlier computed numbers of guessing bias, to the digits printed, from our own derivations."""

import math

import numpy as np
import pytest

from derive import theory
from derive.depth.bias.dictionary import Guessing
from derive.depth.bias.guess import Classes, TwoClasses


def printed(value, text):
    """Whether a value rounds to a printed number; one unit of its last place is allowed."""
    digits = len(text.split("e")[0].split(".")[1]) if "." in text else 0
    power = int(text.split("e")[1]) if "e" in text else 0
    return abs(value - float(text)) <= 1.01 * 10.0 ** (power - digits)


RELU = {2: "0.466942", 3: "0.975235", 4: "1.530529", 5: "2.134340", 6: "2.787109", 8: "4.239664", 10: "5.887491",
        20: "17.0157", 50: "78.6128", 100: "273.510", 200: "1005.281", 1000: "23139.1"}  # fmt: skip


@pytest.mark.parametrize("sigma_w", [0.7, 3])
def test_relu_sequence_without_biases_whatever_sigma_w(sigma_w):
    gamma = theory("relu").guessing_bias.depth(1000, sigma_w).gamma
    assert gamma[0] == 0
    assert all(printed(gamma[layer - 1], text) for layer, text in RELU.items())


def test_relu_with_biases_at_depth_100():
    w2 = np.array([1.5, 1.9, 2, 2.5, 3])
    found = theory("relu").guessing_bias.depth(100, np.sqrt(w2), math.sqrt(0.1))
    for got, text in zip(found.gamma[-1], ["4.93e12", "7.5e3", "603", "278", "275"], strict=True):
        assert printed(got, text)
    assert printed(found.c[10, 0], "0.9659") and printed(found.c[10, 3], "0.8819")
    assert printed(found.e[99, 0], "2.03e-13") and printed(found.e[99, 3], "3.58e-3")


ONE_LAYER = {"relu": ".46694", "gelu": ".23023", "silu": ".13636", "elu": ".04161", "sigmoid": "5.76315",
             "softplus": "2.39299", "abs(x)": "1.75194"}  # fmt: skip


@pytest.mark.parametrize("name", ONE_LAYER)
def test_one_layer_from_centred_data(name):
    given = {key: 1 for key, _ in theory(name).domains}
    assert printed(float(theory(name).guessing_bias.amplification.number(q=1, **given)), ONE_LAYER[name])


@pytest.mark.parametrize(("a", "text"), [("0.01", ".45337"), ("0.1", ".34278"), ("0.2", ".24360"), ("0.5", ".06799")])
def test_one_layer_of_leaky_relu(a, text):
    value = float(theory("leaky_relu").guessing_bias.amplification.number(q=1, a=a))
    assert printed(value, text)
    s = (1 - float(a)) ** 2 / (2 * math.pi)
    assert value == pytest.approx(s / ((1 + float(a) ** 2) / 2 - s), rel=1e-13)


def test_relu_from_a_given_bias():
    ratio = theory("relu").guessing_bias.ratio_map
    for gamma, text in (("1/10", ".57500"), ("1/2", "1.01138"), ("1", "1.55753"), ("2", "2.64220")):
        c = {"1/10": "1/11", "1/2": "1/3", "1": "1/2", "2": "2/3"}[gamma]
        assert printed(float(ratio.number(q=1, c=c, sigma_w=1, sigma_b=0)), text)


TANH = [("0.01", "1.424205", ".273301", "1.68467"), ("0.1", "1.986073", ".805799", "2.92477")]
MORE = [("0.05", "1.760955", ".570048", "2.37827"), ("0.15", "2.150475", ".996582", "3.36851"),
        ("0.2", "2.285152", "1.164496", "3.76110"), ("0.001", "1.189190", ".107292", "1.28117")]  # fmt: skip


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("b2", "edge", "q", "neutral"), TANH + MORE)
def test_tanh_edge_of_chaos_and_neutrality(b2, edge, q, neutral):
    t = theory("tanh")
    b = math.sqrt(float(b2))
    point = t.edge_of_chaos(sigma_b=b)
    assert printed(float(point.sigma_w) ** 2, edge) and printed(float(point.q), q)
    (line,) = t.guessing_bias.neutrality(b)
    assert printed(float(line.sigma_w2), neutral)


def test_tanh_at_its_fixed_points():
    w2 = [2, 13 / 6, 7 / 3, 2.5, 8 / 3, 17 / 6, 3]
    b = theory("tanh").guessing_bias
    want_c = [".9880", ".8587", ".7523", ".6644", ".5911", ".5296", ".4775"]
    want_gamma = ["82.3", "6.08", "3.04", "1.98", "1.45", "1.13", ".914"]
    for w, c, gamma in zip(w2, want_c, want_gamma, strict=True):
        point = b.at(math.sqrt(w), math.sqrt(0.1))
        assert printed(point.c, c) and printed(point.gamma, gamma)
    gamma = b.depth(400, math.sqrt(1.986073), math.sqrt(0.1)).gamma
    for layer, text in ((10, "1.468"), (50, "10.35"), (100, "22.30"), (200, "46.72"), (400, "96.09")):
        assert printed(gamma[layer - 1], text)


def test_average_pooling():
    b = theory("dense >> relu >> avgpool(k)").guessing_bias
    for k, text in ((2, "0.93388"), (3, "1.40083"), (4, "1.86777"), (9, "4.20248")):
        value = float(b.amplification.number(q=1, k=k))
        assert printed(value, text) and value == pytest.approx(k / (math.pi - 1), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "values"),
    [("x", ["0.46694", "1.28014", "2.15493", "6.17110"]), ("relu", ["1.04147", "1.70457", "2.42926", "6.18692"])],
)
def test_max_pooling(text, values):
    for k, want in zip((2, 3, 4, 9), values, strict=True):
        b = theory(f"dense >> {text} >> maxpool({k})").guessing_bias
        exact = float(b.amplification.number(q=1))
        assert printed(exact, want)
        assert b.depth(2, 1.1).gamma[1] == pytest.approx(exact, rel=1e-10)


def test_residual_streams():
    b = theory("residual(relu >> dense, scale=1/sqrt(L))").guessing_bias
    start = Guessing(0.0, 1.0)
    for w2, text in ((1, "0.165"), (2, "0.340"), (3, "0.527"), (10, "2.147")):
        coarse, fine = (b.depth(n + 1, math.sqrt(w2), start=start, L=n).gamma[-1] for n in (500, 1000))
        assert printed(2 * fine - coarse, text)  # the limit L -> oo, corrections of order 1/L removed
    gamma = theory("residual(relu >> dense)").guessing_bias.depth(101, math.sqrt(2), start=start).gamma
    for layer, text in ((10, "2.42"), (50, "23.8"), (100, "76.5")):
        assert printed(gamma[layer], text)


def test_two_classes():
    for gamma, density, largest, above, variance in (
        (0.05, "4.472", ".570", "0.0000", ".00758"),
        (1, "1.000", ".750", ".2000", ".08333"),
        (10, ".3162", ".9025", ".6853", ".18161"),
    ):
        law = TwoClasses(gamma)
        values = (float(law.density(0.5)), law.mean_largest, law.exceeds(0.9), law.variance)
        for got, text in zip(values, (density, largest, above, variance), strict=True):
            assert printed(got, text)


SAMPLED = {3: [(0.571, 0.461), (0.644, 0.535), (0.719, 0.620), (0.857, 0.800)],
           10: [(0.339, 0.213), (0.431, 0.294), (0.536, 0.400), (0.751, 0.661)],
           100: [(0.143, 0.056), (0.226, 0.109), (0.347, 0.199), (0.617, 0.498)]}  # fmt: skip


@pytest.mark.parametrize("k", SAMPLED)
def test_more_classes(k):
    """E max G was sampled there (errors up to 0.005); the sum of squares was integrated, to its digits."""
    for gamma, (largest, squares) in zip((0.5, 1, 2, 10), SAMPLED[k], strict=True):
        law = Classes(gamma, k)
        assert abs(law.same_class - squares) <= 1.01e-3
        assert abs(law.mean_largest - largest) <= 5e-3
