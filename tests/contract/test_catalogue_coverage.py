"""Every elementwise function of torch.nn and jax.nn has an entry, or a reason why it has none."""

from __future__ import annotations

import inspect

import pytest

from derive import catalogue

ENTRIES = tuple(catalogue.entry(name) for name in catalogue.names())
COUPLED = "couples the entries of an axis: no function of one number"
TORCH_REASONS = {
    **dict.fromkeys(("Softmax", "Softmax2d", "LogSoftmax", "Softmin"), COUPLED),
    "MultiheadAttention": "a layer with weights",
}
JAX_REASONS = {
    **dict.fromkeys(("softmax", "log_softmax", "logsumexp", "logmeanexp", "standardize"), COUPLED),
    **dict.fromkeys(("dot_product_attention", "scaled_dot_general", "scaled_matmul"), "a product of tensors"),
    "get_scaled_dot_general_config": "a configuration",
    "one_hot": "a function of an integer",
    "log1mexp": "defined on x > 0 only",
}
TWO_INPUTS = {"GLU": "glu"}


def test_every_activation_module_of_torch():
    activation = pytest.importorskip("torch.nn.modules.activation")
    known = {entry.torch.module for entry in ENTRIES if entry.torch}
    missing = set(activation.__all__) - known - set(TORCH_REASONS) - set(TWO_INPUTS)
    assert not missing
    assert not set(TORCH_REASONS) & known
    assert all(len(catalogue.entry(name).variables) == 2 for name in TWO_INPUTS.values())


def test_every_activation_function_of_torch():
    """By their names in torch.nn.functional: what has an in-place twin (relu_) is an elementwise activation."""
    functional = pytest.importorskip("torch.nn.functional")
    twins = {name for name in dir(functional) if hasattr(functional, f"{name}_")}
    assert {"relu", "elu", "hardtanh"} <= twins
    missing = {name for name in twins if catalogue.entry(name) is None} - {"embedding_renorm", "threshold", "rrelu"}
    assert not missing


def test_every_function_of_jax():
    module = pytest.importorskip("jax.nn")
    public = {name for name, value in vars(module).items() if callable(value) and not name.startswith("_")}
    public -= {name for name in public if inspect.isclass(getattr(module, name))}
    known = {entry.jax.removeprefix("jax.nn.") for entry in ENTRIES if entry.jax}
    missing = {name for name in public - known if catalogue.entry(name) is None} - set(JAX_REASONS)
    assert not missing
    assert not set(JAX_REASONS) & known
    assert not known - public - {"tanh"}


def test_there_are_enough():
    assert len(ENTRIES) >= 70
    assert {entry.name for entry in ENTRIES if len(entry.variables) == 2} == {
        "glu", "geglu", "swiglu", "reglu", "bilinear",
    }  # fmt: skip
