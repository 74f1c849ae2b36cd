"""torch modules and functions as formulas, compared with the modules themselves."""

import copy
import math
import subprocess
import sys
from functools import partial

import mpmath
import pytest

torch = pytest.importorskip("torch")

from derive import catalogue  # noqa: E402
from derive.formula import read, read_module, show_text  # noqa: E402
from derive.formula.checks import number  # noqa: E402
from derive.formula.floats import typed  # noqa: E402
from derive.records import FormulaError, SelfTestFailed  # noqa: E402

nn, F = torch.nn, torch.nn.functional

MODULES = [
    nn.Identity(), nn.ReLU(), nn.ReLU(inplace=True), nn.ReLU6(), nn.LeakyReLU(), nn.LeakyReLU(0.1), nn.LeakyReLU(-0.2),
    nn.PReLU(), nn.PReLU(init=0.1, dtype=torch.float64),
    nn.RReLU().eval(), nn.RReLU(0.1, 0.3).eval(), nn.ELU(), nn.ELU(0.7), nn.SELU(),
    nn.CELU(), nn.CELU(0.6), nn.GELU(), nn.GELU(approximate="tanh"), nn.SiLU(), nn.Mish(), nn.Softplus(),
    nn.Softplus(beta=2), nn.Softsign(), nn.Tanh(), nn.Sigmoid(), nn.LogSigmoid(), nn.Hardtanh(), nn.Hardtanh(-2, 0.5),
    nn.Hardsigmoid(), nn.Hardswish(), nn.Hardshrink(), nn.Hardshrink(0.3), nn.Softshrink(), nn.Softshrink(0.3),
    nn.Tanhshrink(), nn.Threshold(0.1, 20.0), nn.Threshold(-1, 0),
]  # fmt: skip
CANCELLING = {
    "GELU": "torch forms 1 + erf(x/sqrt(2)) (or 1 + tanh), which cancels far on the left",
    "Tanhshrink": "torch subtracts tanh(x) from x, which cancels near 0",
}
"""Modules whose own rounding is larger than 4 units in the last place of a small value, and why."""


def value(tree, x, mp=mpmath.mp):
    """The tree by its definition, at a number that the module was given."""
    return x if tree.head == "name" else number(tree, [value(arg, x, mp) for arg in tree.args], mp)


def grid(dtype):
    left = torch.linspace(-8, 8, 129, dtype=dtype)
    return torch.cat(
        [left, torch.tensor([-0.0, 1e-3, -1e-3, 0.12, -0.12, 0.29, 2.9999, -2.9999, 17.5, -17.5], dtype=dtype)]
    )


def worst(module, tree, dtype):
    """The largest deviation in units in the last place: of the value, and of max(|x|, |value|, 1)."""
    x = grid(dtype)
    with torch.no_grad():
        theirs = copy.deepcopy(module).to(dtype)(x.clone()).double().tolist()
    eps = torch.finfo(dtype).eps
    relative = absolute = 0.0
    with mpmath.workdps(40):
        for point, seen in zip(x.double().tolist(), theirs, strict=True):
            truth = value(tree, mpmath.mpf(point))
            unit = mpmath.mpf(2) ** (mpmath.floor(mpmath.log(abs(truth), 2)) if truth else -1000) * eps
            unit = max(unit, mpmath.mpf(torch.finfo(dtype).smallest_normal))
            error = abs(seen - truth)
            relative = max(relative, float(error / unit))
            absolute = max(absolute, float(error / (eps * max(abs(point), abs(truth), 1))))
    return relative, absolute


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_module_is_its_formula(module, dtype):
    relative, absolute = worst(module, read_module(module).tree, dtype)
    if type(module).__name__ in CANCELLING:
        # the module's rounding shows, and is no more than a unit in the last place of its largest term
        assert relative > 4
        assert absolute <= 1
    else:
        assert relative <= 4


@pytest.mark.parametrize("module", [nn.Hardshrink(0.3), nn.Threshold(0.1, 20.0)], ids=str)
def test_a_jump_stands_at_the_decimal_that_was_typed(module):
    """The module jumps at the rounded threshold, the formula at the decimal: they differ at that one number only."""
    cut = 0.3 if isinstance(module, nn.Hardshrink) else 0.1
    tree = read_module(module).tree
    for point in (math.nextafter(cut, 0), math.nextafter(cut, 1)):
        seen = module(torch.tensor(point, dtype=torch.float64)).item()
        assert abs(seen - value(tree, mpmath.mpf(point))) < 1e-16


@pytest.mark.parametrize("name", [n for n in catalogue.names() if catalogue.entry(n).torch is not None])
def test_a_catalogue_entry_is_its_counterpart(name):
    counterpart = catalogue.entry(name).torch
    arguments = {key: float(read_default(name, parameter)) for key, parameter in counterpart.arguments.items()}
    module = getattr(nn, counterpart.module)(**arguments, **counterpart.fixed)
    tree, ours = read_module(module).tree, read(f"{name}(x)").tree
    with mpmath.workdps(20):
        for point in ("-3.3", "-0.4", "0", "0.7", "5.5"):
            assert mpmath.almosteq(value(tree, mpmath.mpf(point)), value(ours, mpmath.mpf(point)), 1e-15, 1e-15)


def read_default(name, parameter):
    (found,) = [p for p in catalogue.entry(name).parameters if p.name == parameter]
    return read(f"x + {found.default}").tree.args[1].value


class Scaled(nn.Module):
    """A module with a parameter and two buffers of one element."""

    def __init__(self):
        super().__init__()
        self.slope = nn.Parameter(torch.tensor([1.5]))
        self.register_buffer("scale", torch.tensor(0.1))
        self.register_buffer("shift", torch.tensor(0.2), persistent=False)

    def forward(self, x):
        return self.scale * x * torch.sigmoid(self.slope * x) + self.shift


class Wide(nn.Module):
    """A module with a parameter for each unit."""

    def __init__(self):
        super().__init__()
        self.slopes = nn.Parameter(torch.ones(6))

    def forward(self, x):
        return self.slopes * x


def in_place(x):
    y = x.clone()
    y.mul_(2).add_(1)
    return y * torch.tensor(3.0)


FUNCTIONS = [
    (torch.sin, "sin(x)"),
    (F.gelu, "x*Phi(x)"),
    (partial(F.leaky_relu, negative_slope=0.2), "max(x, 0) + 0.2*min(x, 0)"),
    (lambda x: x.sigmoid() * x, "sigmoid(x)*x"),
    (lambda x: 0.5 * x * (1 + torch.erf(x / math.sqrt(2))), "x*0.5*(erf(x/sqrt(2)) + 1)"),
    (lambda x: torch.where(x > 0, x, 0.3 * torch.expm1(x)), "x if x > 0 else expm1(x)*0.3"),
    (lambda x: x.clamp(min=-1) ** 3 - x.abs(), "max(x, -1)**3 - abs(x)"),
    (lambda x: torch.clip(x, -1, 2.5), "min(max(x, -1), 2.5)"),
    (lambda x: (x > 0).to(x.dtype) * x + ((x > -1) & (x < 1)).float(), "(x > 0)*x + (x > -1 and x < 1)"),
    (lambda x: 2**x + 1 / x.exp() - (3 - x) + x**-2, "2**x + 1/exp(x) - (3 - x) + x**-2"),
    (lambda x: torch.maximum(x, torch.zeros_like(x)) + torch.full_like(x, 0.25), "max(x, 0) + 0.25"),
    (lambda x: torch.sinc(x), "sinc(pi*x)"),
    (lambda x: x * (1 / 3), "x*(1/3)"),
    (lambda x: torch.special.ndtr(x) * x, "Phi(x)*x"),
    (lambda x: torch.rsqrt(1 + x * x).reciprocal(), "1/(1/sqrt(x*x + 1))"),
    (lambda x: torch.add(x, x, alpha=2), "x + 2*x"),
    (lambda x: F.softplus(x, beta=3), "softplus(3*x)/3"),
    (lambda x: torch.tanh(x) * torch.tensor(2.0).expand(x.shape), "tanh(x)*2"),
    (in_place, "(x*2 + 1)*3"),
    (Scaled(), "0.1*x*sigmoid(1.5*x) + 0.2"),
    (nn.Sequential(nn.ReLU(), nn.Dropout(0.2), nn.Tanh()), "tanh(max(x, 0))"),
]


@pytest.mark.parametrize(("function", "text"), FUNCTIONS, ids=[text for _, text in FUNCTIONS])
def test_functions_are_read_operation_by_operation(function, text):
    formula = read_module(function)
    assert formula.text == show_text(formula.tree)
    assert formula.tree == read(text).tree


def test_what_was_assumed_is_said():
    assert "slope = 1.5 is read as its present value" in read_module(Scaled()).notes
    assert any("sqrt(2)" in note for note in read_module(lambda x: x / math.sqrt(2)).notes)
    assert any("> 20" in note for note in read_module(nn.Softplus()).notes)
    notes = " ".join(read_module(nn.RReLU(0.1, 0.3)).notes)
    assert "mean slope 1/5" in notes and "mean square 13/300" in notes and "evaluation mode" in notes


def test_a_random_slope_has_the_mean_square_that_is_said():
    torch.manual_seed(0)
    slopes = nn.RReLU(0.1, 0.3)(-torch.ones(400_000, dtype=torch.float64)).neg()
    error = slopes.square().std() / slopes.numel() ** 0.5
    assert abs(slopes.square().mean() - 13 / 300) < 5 * error
    assert abs(slopes.mean() - 1 / 5) < 5 * slopes.std() / slopes.numel() ** 0.5


def test_softplus_differs_from_its_module_only_behind_the_threshold():
    module = nn.Softplus(beta=1, threshold=10)
    tree = read_module(module).tree
    for point, equal in ((9.5, True), (10.5, False)):
        seen = module(torch.tensor(point, dtype=torch.float64)).item()
        difference = abs(seen - float(value(tree, mpmath.mpf(point))))
        assert (difference < 4e-15) is equal
        assert difference < math.exp(-10)


def test_a_module_is_left_as_it_was():
    module = nn.RReLU()
    read_module(module)
    assert module.training


REFUSED = [
    (nn.Softmax(0), "Softmax is not elementwise"),
    (nn.GLU(0), "GLU is not elementwise"),
    (nn.MultiheadAttention(4, 2), "MultiheadAttention is not elementwise"),
    (nn.LayerNorm(6), "LayerNorm is not elementwise"),
    (nn.BatchNorm1d(3), "BatchNorm1d is not elementwise"),
    (nn.Linear(3, 3), "Linear is not elementwise"),
    (nn.MaxPool1d(2), "MaxPool1d is not elementwise"),
    (nn.Dropout(0.5), "Dropout is not elementwise"),
    (nn.PReLU(3), "PReLU with 3 slopes"),
    (nn.ReLU, "ReLU is a class"),
    (Wide(), "slopes of Wide has 6 elements"),
    (lambda x: x - x.mean(), "aten.mean"),
    (lambda x: torch.softmax(x, 0), "aten.softmax"),
    (lambda x: torch.floor(x), "aten.floor"),
    (lambda x: x * x.shape[0], "no function of one number"),
    (lambda x: x * x.numel(), "no function of one number"),
    (lambda x: x * x.dim(), "no function of one number"),
    (lambda x: torch.heaviside(x, torch.tensor(0.5)), "cannot be called"),
    (lambda x: nn.functional.dropout(x), "aten.dropout"),
    (lambda x: nn.functional.rrelu(x, training=True), "aten.rrelu"),
    (lambda x: x + torch.randn_like(x), "aten.randn_like"),
    (lambda x: x.flip(0), "aten.flip"),
    (lambda x: x.mean().expand(x.shape), "aten.mean"),
    (lambda x: torch.relu(x).expand(2, *x.shape), "changes the shape"),
    (lambda x: x.max(), "aten.max"),
    (lambda x: x.to(torch.int32), "aten.to"),
    (lambda x: (x, x), "returns 2 values"),
    (lambda x: torch.zeros_like(x), "no x"),
    (lambda x: x if x > 0 else 0 * x, "decides in Python"),
    (lambda x: math.exp(x) * x, "decides in Python"),
    (lambda x, y: x, "cannot be traced"),
    (3, "int is no torch module"),
]


@pytest.mark.parametrize(("thing", "what"), REFUSED, ids=[what for _, what in REFUSED])
def test_what_is_no_activation_is_refused_by_name(thing, what):
    with pytest.raises(FormulaError) as caught:
        read_module(thing)
    assert what in caught.value.what
    assert caught.value.why or caught.value.instead


def test_a_constant_of_another_shape_is_refused_without_pages_of_log(capfd):
    with pytest.raises(FormulaError, match="cannot be traced"):
        read_module(lambda x: x * torch.tensor([1.0, 2.0, 3.0]))
    assert capfd.readouterr().err == ""


def test_a_wrong_table_is_an_internal_error(monkeypatch):
    from derive.formula import written as room

    monkeypatch.setattr(room, "_template", lambda name: read("x + 1").tree)
    with pytest.raises(SelfTestFailed, match="another function"):
        read_module(torch.sin)


@pytest.mark.parametrize(
    ("number_", "text"),
    [(0.1, "0.1"), (-0.25, "-0.25"), (1e-5, "0.00001"), (3, "3"), (math.pi, "pi"), (-1 / math.sqrt(2), "-(1/sqrt(2))"),
     (1 / 3, "1/3"), (0.7978845608, "0.7978845608"), (math.sqrt(2 / math.pi), "sqrt(2/pi)")],
)  # fmt: skip
def test_floats_are_the_numbers_that_were_meant(number_, text):
    assert show_text(typed(number_)[0]) == text


def test_the_reader_imports_no_torch():
    code = "import derive.formula, sys; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
