"""The reference walk: values to many digits, dtype of torch tensors, branches not taken, indicators."""

from fractions import Fraction

import mpmath
import pytest
import torch

from derive.records import EocError, Formula, Node, Unsupported
from verify.reference import exact_function, slope_function, torch_function
from verify.reference_heads import exact_heads, torch_heads


def num(value):
    return Node("num", value=Fraction(value))


X = Node("name", value="x")
LOGIC = {"lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not"}


def formula(tree, parameters=()):
    return Formula("", tree, parameters)


def mish():
    softplus = Node("log", (Node("add", (num(1), Node("exp", (X,)))),))
    return formula(Node("mul", (X, Node("tanh", (softplus,)))))


def elu():
    negative = Node("mul", (Node("name", value="a"), Node("sub", (Node("exp", (X,)), num(1)))))
    return formula(Node("cond", (Node("gt", (X, num(0))), X, negative)), ("a",))


def test_values_to_the_precision_of_the_context():
    mp = mpmath.mp.clone()
    mp.dps = 40
    value = exact_function(mish(), {}, mp)(mp.mpf(1))
    assert abs(value - mp.tanh(mp.log(1 + mp.e))) < mp.mpf(10) ** -39
    assert mpmath.mp.dps == 15


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_torch_agrees_with_the_module_and_keeps_the_dtype(dtype):
    x = torch.linspace(-5, 5, 1001, dtype=dtype)
    y = torch_function(mish(), {})(x)
    assert y.dtype == dtype
    assert torch.allclose(y, torch.nn.functional.mish(x), rtol=0, atol=8 * torch.finfo(dtype).eps)


def test_a_branch_not_taken_does_not_leak():
    phi = torch_function(elu(), {"a": Fraction(1, 3)})
    x = torch.tensor([-1e3, -1.0, 2.0, 1e3], dtype=torch.float64)
    assert torch.isfinite(phi(x)).all()
    assert slope_function(phi)(x).tolist() == pytest.approx([0.0, torch.exp(torch.tensor(-1.0)).item() / 3, 1, 1])
    mp = mpmath.mp.clone()
    guarded = formula(Node("cond", (Node("gt", (X, num(0))), Node("log", (X,)), num(0))))
    assert exact_function(guarded, {}, mp)(-1) == 0


def test_comparisons_are_indicators_and_constants_keep_the_shape():
    indicator = formula(Node("mul", (Node("gt", (X, num(0))), Node("pow", (X, num(2))))))
    x = torch.tensor([-2.0, 3.0])
    assert torch_function(indicator, {})(x).tolist() == [0.0, 9.0]
    assert torch_function(formula(Node("sqrt", (num(2),))), {})(x).shape == x.shape
    mp = mpmath.mp.clone()
    assert exact_function(indicator, {}, mp)(3) == 9


def test_missing_parameters_and_unknown_heads_are_named():
    with pytest.raises(EocError, match="no value for a"):
        torch_function(elu(), {})
    with pytest.raises(Unsupported, match="frobnicate"):
        torch_function(formula(Node("frobnicate", (X,))), {})(torch.ones(1))


@pytest.mark.parametrize("head", sorted(set(exact_heads(mpmath.mp)) - LOGIC))
def test_both_tables_define_the_same_function(head):
    exact, fast = exact_heads(mpmath.mp)[head], torch_heads()[head]
    arity = {"clip": 3}.get(head, 2 if head in {"add", "sub", "mul", "div", "pow", "atan2", "max", "min"} else 1)
    start = 1.1 if head == "acosh" else 0.15
    for shift in (0.0, 0.3, 0.61):
        args = [start + shift / (i + 1) + 0.1 * i for i in range(arity)]
        expected = exact(*map(mpmath.mpf, args))
        got = fast(*(torch.tensor(a, dtype=torch.float64) for a in args)).item()
        assert got == pytest.approx(float(expected), rel=1e-14)


def test_every_operation_of_a_formula_has_an_independent_definition():
    from derive.program.registry import operations

    typed = {name for name, operation in operations().items() if operation.spellings} - {"select"}
    structure = {"add", "sub", "mul", "div", "pow", "neg"} | LOGIC
    assert typed | structure == set(exact_heads(mpmath.mp)) == set(torch_heads())


def test_what_the_reader_makes_of_text_is_what_it_says():
    from derive.formula import read

    cases = {
        "x*Phi(x)": lambda x: x * mpmath.ncdf(x),
        "sin(x)/x": mpmath.sinc,
        "x if x > 0 else expm1(x)": lambda x: x if x > 0 else mpmath.expm1(x),
        "max(x, 0, -1) + clip(x, -1, 2)**2": lambda x: max(x, 0) + min(max(x, -1), 2) ** 2,
    }
    points = [-3.0, -0.5, 0.25, 2.5]
    for text, truth in cases.items():
        expected = [float(truth(x)) for x in points]
        assert [float(exact_function(read(text), {}, mpmath.mp)(x)) for x in points] == pytest.approx(expected)
        got = torch_function(read(text), {})(torch.tensor(points, dtype=torch.float64)).tolist()
        assert got == pytest.approx(expected, rel=1e-14)
