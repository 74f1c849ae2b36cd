"""Laws of composition, by generated blocks: associativity, identity, scale; and what is refused, by name."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Rational

from derive import Activation, Dense, theory
from derive.gaussian.numbers import number
from derive.layers import layers
from derive.layers.attention import attend, with_skip
from derive.layers.block import Block, maps
from derive.layers.parametrisations import PARAMETRISATIONS, output_size, parametrised
from derive.records import EocError, Unsupported
from derive.surface.block_text import read_block

AT = {"q1": Fraction(3, 2), "q2": Fraction(4, 5), "c": Fraction(1, 3)}
VALUES = {**AT, "sigma_w": Fraction(6, 5), "sigma_b": Fraction(1, 4)}
ACTIVE = ("relu", "sin(x)", "x*Phi(x)", "abs(x)", "erf(x)")
LINEAR = ("dense(0.9, 0.3)", "conv(kernel=3)", "weightnorm(1.2, 0)", "orthogonal", "weightstandard(1.1, 0.1)")
PASSIVE = ("avgpool(2)", "dropout(0.25)", "rmsnorm", "layernorm", "embedding(0.5)", "noise(0.2, 0.1)", "flatten")
NAMES = ("mean1", "second1", "second2", "cross", "gain", "tangent")

turns = st.tuples(st.sampled_from(LINEAR), st.sampled_from(ACTIVE), st.sampled_from(("", *PASSIVE)))
lists = st.lists(turns, min_size=1, max_size=2)


def parts(turns):
    return [read_block(text) for turn in turns for text in turn if text]


def valued(expr, values=VALUES):
    used = {s.name for s in expr.free_symbols}
    return float(number(expr, {k: v for k, v in values.items() if k in used or k in AT}).mid)


def numbers(state):
    return [valued(getattr(state, name)) for name in NAMES]


@settings(max_examples=6)
@given(lists, st.data())
def test_joining_is_associative(turns, data):
    blocks = parts(turns)
    cut = data.draw(st.integers(1, len(blocks) - 1))
    left, right = blocks[0], blocks[cut]
    for block in blocks[1:cut]:
        left = left >> block
    for block in blocks[cut + 1 :]:
        right = right >> block
    straight = blocks[0]
    for block in blocks[1:]:
        straight = straight >> block
    assert (left >> right) == straight
    assert maps(left >> right).cycle == maps(straight).cycle


@settings(max_examples=3)
@given(lists)
def test_an_identity_changes_nothing(turns):
    plain = parts(turns)
    block = plain[0]
    for part in plain[1:]:
        block = block >> part
    same = [block >> read_block("flatten"), Block((*block.stages, *read_block("dropout(0)").stages))]
    want = numbers(maps(block).output)
    for other in (*same, block >> read_block("noise")):
        assert numbers(maps(other).output) == pytest.approx(want, rel=1e-12)


@settings(max_examples=4)
@given(
    st.sampled_from(ACTIVE), st.integers(1, 6), st.sampled_from(("dense", "conv(kernel=3)", "orthogonal", "weightnorm"))
)
def test_a_scale_moves_from_the_activation_into_the_weights(active, size, linear):
    """s phi behind weights of sigma_w is phi behind s sigma_w."""
    scaled = maps(read_block(f"{linear} >> {size}*({Activation(active).formula.text})")).cycle
    plain = maps(read_block(f"{linear} >> {active}")).cycle
    grown = {**VALUES, "sigma_w": size * VALUES["sigma_w"]}
    for name in ("second1", "cross", "gain", "tangent"):
        first, second = valued(getattr(scaled, name)), valued(getattr(plain, name), grown)
        assert first == pytest.approx(second, rel=1e-12)


def test_both_sides_of_a_join_are_named():
    with pytest.raises(EocError) as error:
        _ = theory("dense >> relu >> layernorm >> maxpool(2)").second_moment
    assert "layernorm >> maxpool(2)" in error.value.what
    assert "layernorm >> dense >> maxpool(2)" in error.value.instead
    with pytest.raises(EocError, match=r"dropout\(1/2\) >> sin\(x\)"):
        _ = theory("residual(dropout(0.5) >> sin(x) >> dense)").chi


@pytest.mark.parametrize(
    "name", ["attention", "MultiheadAttention", "softmax", "GroupNorm", "lstm(64)", "spectral_norm"]
)
def test_a_layer_that_is_absent_is_refused_by_name(name):
    with pytest.raises(Unsupported, match="no layer of a block") as error:
        theory(f"dense >> {name}")
    assert error.value.instead


def test_noise_and_criticality():
    """Multiplied noise moves the critical gain of a ReLU, added noise takes its fixed points."""
    for strength in (Fraction(1, 2), Fraction(2, 3)):
        block = read_block(f"dense(sigma_b=0) >> relu >> noise(0, {strength})")
        want = 2 / (1 + strength**2)
        sigma_w = Rational(*want.as_integer_ratio()) ** Rational(1, 2)
        assert float(theory(block).chi.number(q=1, sigma_w=sigma_w)) == pytest.approx(1)
        assert float(theory(block).variance_map.number(q=3, sigma_w=sigma_w)) == pytest.approx(3)
    added = theory("dense >> relu >> noise(0.5)").at(sigma_w="1.3", sigma_b=0)
    assert float(added.q) == pytest.approx(1.69 * 0.25 / (1 - 1.69 / 2), rel=1e-9)
    assert added.geometry == "c -> c* < 1, exponentially"


def test_centred_weights_keep_a_relu_and_let_its_gradient_grow():
    """Brock et al. 2021: the variance is kept at sigma_w^2 = 2/(1 - 1/pi), where gradients grow by pi/(pi - 1)."""
    t = theory("weightstandard >> relu")
    gain = (2 / (1 - 1 / np.pi)) ** 0.5
    assert float(t.variance_map.number(q="1.7", sigma_w=repr(gain), sigma_b=0)) == pytest.approx(1.7)
    assert float(t.chi.number(q="1.7", sigma_w=repr(gain))) == pytest.approx(np.pi / (np.pi - 1))


def softmax_rows(scores):
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


@pytest.mark.parametrize(("second", "cross", "t"), [(1.0, 0.0, 0.5), (1.5, 0.6, 0.4)])
def test_attention_to_first_order_in_the_number_of_positions(second, cross, t):
    """Scores with the covariance t M_ii' M_jj', as wide heads have, in numbers of positions that double."""
    rng, off = np.random.default_rng(7), []
    for n in (64, 128):
        rows = []
        for _ in range(60):
            root = np.linalg.cholesky((second - cross) * np.eye(n) + cross + 1e-12 * np.eye(n))
            scores = t**0.5 * root @ rng.standard_normal((n, n)) @ root.T
            a = softmax_rows(scores)
            size = cross * np.ones((n, n)) + (second - cross) * np.eye(n)
            out = a @ size @ a.T
            rows.append((np.trace(out) / n, (out.sum() - np.trace(out)) / (n * (n - 1))))
        want = attend(second, cross, n, t)
        mean = np.mean(rows, 0)
        off.append((mean - cross) / (np.array([float(want.second), float(want.cross)]) - cross) - 1)
        assert np.abs(off[-1]).max() < 10 / n
    assert np.abs(off[1]).max() < np.abs(off[0]).max()


def test_the_collapse_of_rank():
    assert attend(1, "0.4", 10**9).correlation > 1 - 1e-8
    for branch in ("0.5", "0.25"):
        m, r = with_skip(1, "0.4", branch)
        assert (m / r - 1) * (1 + Rational(branch)) == Rational(1, Rational("0.4")) - 1
    with pytest.raises(EocError, match="cross"):
        attend(1, 2, 8)


def test_parametrisations_are_views_of_one_layer():
    for role in ("input", "hidden", "output"):
        for name in PARAMETRISATIONS:
            if (name, role) == ("mean-field", "hidden"):
                continue
            layer = parametrised(name, role, 64, "1.5")
            small = role == "output" and name in ("mean-field", "mup")
            assert layer.sigma_w2 == Rational(9, 4) / (64 if small else 1)
            for theta in ("0.5", "-0.25"):
                assert layer.shifted(theta).sigma_w2 == layer.sigma_w2
    standard, ntk = (parametrised(name, "hidden", 256) for name in ("standard", "ntk"))
    assert standard.shifted("-0.5") == ntk
    assert output_size("mup", 400) == Rational(1, 20)
    assert output_size("ntk", 400) == 1
    with pytest.raises(EocError, match="one hidden layer"):
        parametrised("mean-field", "hidden", 8)
    with pytest.raises(EocError, match="unknown"):
        parametrised("sp", "hidden", 8)


def test_learning_rates_and_shifts_train_the_same_network():
    """One step of SGD on w times a multiplier: the function after it is the same for every shift."""
    torch = pytest.importorskip("torch")
    n, base = 50, parametrised("ntk", "hidden", 50)
    outs = []
    for theta in (0, 1, "-0.5"):
        layer = base.shifted(theta) if theta else base
        torch.manual_seed(0)
        w = (float(layer.std) * torch.randn(n, n, dtype=torch.float64)).requires_grad_()
        x = torch.randn(3, n, dtype=torch.float64)
        out = lambda: (float(layer.multiplier) * x @ w).tanh().sum(1)  # noqa: B023, E731
        out().square().sum().backward()
        with torch.no_grad():
            w -= 0.1 * float(n ** (layer.sgd - base.sgd)) * w.grad
            outs.append(out())
    assert torch.allclose(outs[0], outs[1])
    assert torch.allclose(outs[0], outs[2])


def conv(**options):
    return layers()["conv"](kernel=3, **options)


@pytest.mark.parametrize("padding", ["circular", "zeros", "valid", "reflect"])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("taps_of", ["all", "centre"])
def test_positions_behind_a_convolution(padding, stride, taps_of):
    """Against torch's convolution of unit impulses: E over weights of products is a sum over taps."""
    import torch
    from torch.nn import functional as F

    wide = 7
    layer = conv(padding=padding, stride=stride, dims=1, taps_of=taps_of)
    rng = np.random.default_rng(3)
    root = rng.standard_normal((wide, wide))
    second = root @ root.T / wide
    mode = {"circular": "circular", "zeros": "constant", "reflect": "reflect"}.get(padding)
    x = torch.as_tensor(np.linalg.cholesky(second + 1e-12 * np.eye(wide)).T[:, None])
    x = x if mode is None else F.pad(x, (1, 1), mode)
    want, used = 0, [1] if taps_of == "centre" else [0, 1, 2]
    for tap in used:
        kernel = torch.zeros(1, 1, 3, dtype=torch.float64)
        kernel[0, 0, tap] = 1
        y = F.conv1d(x, kernel, stride=stride)[:, 0].numpy()
        want = want + y.T @ y / len(used)
    found = layer.position_covariance(second, 1.3, 0.4)
    assert found == pytest.approx(1.69 * want + 0.16, abs=1e-9)
    outer = rng.standard_normal((len(want), len(want)))
    outer = outer @ outer.T
    back = layer.position_gradient(outer, 1.3, (wide,))
    # <outer, forward(second)> = <backward(outer), second>
    assert np.sum(outer * (found - 0.16)) == pytest.approx(np.sum(back * second))


def test_positions_of_images_and_delta_orthogonal_convolutions():
    second = np.einsum("ij,kl->ikjl", np.eye(5), np.eye(4))
    flat = conv(padding="zeros").position_covariance(second, 1.0, 0.0)
    assert np.einsum("ijij->ij", flat)[0, 0] == pytest.approx(4 / 9)
    assert np.einsum("ijij->ij", flat)[0, 1] == pytest.approx(2 / 3)
    assert np.einsum("ijij->ij", flat)[2, 2] == pytest.approx(1)
    still = conv(taps_of="centre").position_covariance(second, 1.0, 0.0)
    assert still == pytest.approx(second)
    assert conv(taps_of="centre").fans(8, 8) == (8, 8)
    with pytest.raises(EocError, match="taps_of"):
        conv(taps_of="edge")


def test_dense_is_one_of_the_layers_with_fresh_weights():
    assert repr(Dense(1, 0)) == "dense(sigma_w=1, sigma_b=0)"
    assert repr(read_block("weightnorm(1.5) >> orthogonal")) == "weightnorm(sigma_w=3/2) >> orthogonal"


def test_the_share_of_each_branch():
    from derive.layers.block import start

    branches = read_block("sum(relu >> dense(2, 0), relu >> dense(1, 0), relu >> dense(1, 0))").stages[0]
    assert [valued(share) for share in branches.budget(start())] == pytest.approx([4 / 6, 1 / 6, 1 / 6])
    beside = layers()["concat"](Activation("relu"), Activation("identity"), widths=(3, 1))
    assert [valued(share) for share in beside.budget(start())] == pytest.approx([3 / 5, 2 / 5])


def test_a_stream_that_does_not_stay_gaussian_is_said():
    after = theory("residual(dense(1, 0) >> relu >> dense(1, 0)) >> relu")
    assert any("not Gaussian" in note for note in after.variance_map.notes)
    for text in (
        "residual(relu >> dense)",
        "dense >> residual(relu >> dense) >> relu",
        "residual(relu >> dense) >> rmsnorm",
    ):
        assert not any("not Gaussian" in note for note in theory(text).notes)


@pytest.mark.parametrize("text", ["residual(layernorm >> relu >> dense, scale=0)", "residual(relu >> dense(0, 0))",
                                  "residual(dense >> batchnorm >> relu >> dense(0, 0))"])  # fmt: skip
def test_branches_that_start_at_zero_are_isometries(text):
    """ReZero and SkipInit, Fixup's last layer, a zero last weight behind a batch normalisation."""
    t = theory(text)
    used = {"q": "1.7"}
    assert float(t.variance_map.number(**used)) == pytest.approx(1.7)
    assert float(t.chi.number(**used)) == 1
    assert float(t.correlation_map.number(q1=1, q2=2, c="0.3")) == pytest.approx(0.3)


@pytest.mark.parametrize("behind", ["relu", "tanh", "maxpool(2)", pytest.param("maxpool(4)", marks=pytest.mark.slow)])
def test_a_layer_that_adds_variance_changes_the_correlation(behind):
    """Noise of variance 1 on q = 1, c = 1/2 is a pair with q = 2, c = 1/4; a shared embedding adds to K."""
    half, quarter, plain = Fraction(1, 2), Fraction(1, 4), theory(f"dense >> {behind}").covariance_map
    noisy = theory(f"dense >> noise(1) >> {behind}").covariance_map.number(q1=1, q2=1, c=half)
    assert float(noisy) == pytest.approx(float(plain.number(q1=2, q2=2, c=quarter)), rel=1e-12)
    shared = theory(f"dense >> embedding(1) >> {behind}").covariance_map.number(q1=1, q2=1, c=half)
    assert float(shared) == pytest.approx(float(plain.number(q1=2, q2=2, c=3 * quarter)), rel=1e-12)
