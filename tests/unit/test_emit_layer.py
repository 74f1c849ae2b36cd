"""The emitted layer and its `init_`: gradients of parameters, laws and fans of weights, critical gains."""

import math

import pytest
import torch

from derive import Activation, theory
from derive.commands._code import theory_code
from derive.emit import load
from derive.emit.layer import TAKEN, init_source, layer_source
from derive.layers.weights import conv_fans
from derive.program.init_source import LAWS, MODES, draw_source

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def leaky():
    return load(theory_code(theory("leaky_relu"), "torch"))


def drawing():
    """The functions that draw weights, as a user's module has them."""
    scope = {"torch": torch, "math": math}
    exec(compile(draw_source(), "<init>", "exec"), scope)
    return scope


def test_parameters_are_learned_on_request(leaky):
    fixed, learned = leaky.Activation(a=0.25), leaky.Activation(a=0.25, learnable=True)
    assert not list(fixed.parameters()) and list(fixed.state_dict()) == ["a"]
    assert [name for name, _ in learned.named_parameters()] == ["a"]
    x = torch.tensor([-2.0, 3.0, -1.0])
    torch.testing.assert_close(learned(x), torch.tensor([-0.5, 3.0, -0.25]))
    learned(x).sum().backward()
    assert float(learned.a.grad) == -3.0
    channels = leaky.Activation(a=[0.5, 0.25, 0.0], learnable=True)
    assert channels(x).tolist() == [-1.0, 3.0, 0.0]


def test_a_trained_layer_finds_its_parameter(leaky):
    """The layer in a model: a falls to the slope that made the data."""
    layer, x = leaky.Activation(a=0.9, learnable=True), torch.linspace(-2, 2, 41)
    target = torch.where(x > 0, x, 0.2 * x)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
    for _ in range(60):
        optimizer.zero_grad()
        ((layer(x) - target) ** 2).mean().backward()
        optimizer.step()
    assert float(layer.a.detach()) == pytest.approx(0.2, abs=1e-5)


def test_phi_alone_is_a_layer_too():
    made = load(Activation("x*Phi(x)").code("torch"))
    x = torch.linspace(-3, 3, 7)
    torch.testing.assert_close(made.Activation()(x), torch.nn.functional.gelu(x))
    back = Activation(made.Activation())  # what was written is read again, operation by operation
    assert back.formula.text == "x*(erfc(x*-0.7071067811865476)*0.5)"


def test_a_parameter_may_bear_the_name_of_an_attribute():
    name = sorted(TAKEN)[0]
    scope = {"torch": torch, "phi": lambda x, **given: x * given[name]}
    exec(compile(layer_source((name,), "x"), "<layer>", "exec"), scope)
    assert scope["Activation"](**{name: 2.0}).double()(torch.tensor(3.0, dtype=torch.float64)) == 6
    assert set(TAKEN) <= set(dir(torch.nn.Module())) | {"training"}


def test_critical_gains_are_those_of_the_theory(leaky):
    point = theory("leaky_relu").edge_of_chaos(a="0.25")
    assert leaky.critical_gains(a=0.25) == (pytest.approx(float(point.sigma_w), rel=1e-14), 0.0)
    source = init_source(((), ()))
    scope = {"torch": torch, "math": math, "chi": lambda q, sigma_w: 0.5 * sigma_w**2 * q**0}
    scope["variance_map"] = lambda q, sigma_w, sigma_b: sigma_w**2 * q
    exec(compile(source, "<init>", "exec"), scope)
    with pytest.raises(ValueError, match="sigma_b"):
        scope["critical_gains"]()
    assert scope["init_"](torch.nn.Linear(2, 3), sigma_w=1.0).bias.tolist() == [0, 0, 0]


@pytest.mark.parametrize("law", LAWS)
def test_laws_have_the_variance_they_are_asked_for(leaky, law):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(300, 500), torch.nn.Linear(500, 200))
    leaky.init_(model, a=0.25, law=law, sigma_w=1.3, sigma_b=0.2)
    for layer, fan in ((model[0], 300), (model[1], 500)):
        found = float((layer.weight.detach() ** 2).mean()) * fan
        assert found == pytest.approx(1.69, rel=5 * math.sqrt(2 / layer.weight.numel())), law
    assert float(model[0].bias.detach().std()) == pytest.approx(0.2, rel=0.2)
    with pytest.raises(ValueError, match="orthogonal"):
        leaky.init_(model, a=0.25, law="cauchy", sigma_w=1.0)


@pytest.mark.parametrize("transposed", [False, True])
def test_fans_are_those_of_the_theory(transposed):
    kind = torch.nn.ConvTranspose2d if transposed else torch.nn.Conv2d
    layer = kind(6, 4, (3, 5), stride=(1, 2), groups=2)
    fans = conv_fans(6, 4, (3, 5), groups=2, stride=(1, 2), transposed=transposed)
    for mode in MODES:
        assert drawing()["_fan"](layer, mode) == float(fans.of(mode)), mode
    with pytest.raises(ValueError, match="fan_avg"):
        drawing()["_fan"](layer, "fan")


def test_init_keeps_variances_and_repeats_with_a_generator(leaky):
    def run(seed):
        model = torch.nn.Sequential(*(torch.nn.Linear(400, 400) for _ in range(8)))
        leaky.init_(model, a=0.25, generator=torch.Generator().manual_seed(seed))
        x, act = torch.ones(1, 400), leaky.Activation(a=0.25)
        for layer in model:
            x = act(layer(x))
        return float((x * x).mean().detach())

    assert run(1) == run(1)
    gain = leaky.critical_gains(a=0.25)[0]
    second = (1 + 0.25**2) / 2
    assert run(1) == pytest.approx((gain**2 * second) ** 8, rel=0.6)
