"""Code of blocks: every map of every layer has code in a backend, or is refused by name; nothing else happens."""

from fractions import Fraction

import numpy as np
import pytest

from derive import Activation, expect, theory
from derive.emit.backend import backends
from derive.layers import layers
from derive.layers.nested import every_stage
from derive.records import EocError
from derive.surface.block_text import read_block

FEW = ("dense >> relu >> maxpool(4)", "dense >> rmsnorm >> tanh", "dense >> tanh >> avgpool(k)")
BLOCKS = (
    *FEW,
    "dense >> relu >> maxpool(2)",
    "dense >> relu >> maxpool(3)",
    "dense >> gelu >> maxpool(2)",
    "dense >> tanh >> maxpool(5)",
    "dense >> relu >> maxpool(10)",
    "dense >> x*tanh(softplus(x)) >> maxpool(2)",
    "dense >> maxpool(2) >> tanh",
    "dense >> silu >> avgpool(3)",
    "dense >> glu",
    "dense >> glu(x*tanh(softplus(x)))",
    "dense >> relu >> dropout(0.3)",
    "dense >> layernorm >> relu",
    "dense >> relu >> layernorm",
    "dense >> relu >> batchnorm",
    "residual(layernorm >> gelu >> dense, scale=1/sqrt(L), shortcut=0.8)",
    "residual(relu >> maxpool(2) >> dense(0.9, 0), scale=0.5)",
    "sum(relu >> dense, tanh >> dense(0.5, 0.2))",
    "dense >> concat(tanh, gelu)",
    "dense >> relu >> conv(kernel=3, groups=2) >> flatten",
    "dense >> noise(0.5, 0.25) >> dense >> relu",
    "dense >> embedding(0.5) >> gelu",
    "weightnorm >> relu",
    "weightstandard >> gelu",
    "orthogonal >> sin(x)",
    "dense >> relu >> minpool(2)",
    "dense >> tanh >> sumpool(2)",
    "dense >> medianpool(3)",
    "dense >> logsumexp(2)",
    "dense >> lppool(2, 2)",
    "dense >> relu >> stochasticpool(2)",
    "dense >> relu >> globalavgpool(4)",
    "dense >> noise(0.4) >> embedding(0.5, shared=0.7) >> tanh",
    "dense >> relu >> weightnorm(1.1, 0.2) >> identity",
    "dense >> relu >> weightstandard(1.1, 0.2) >> identity",
    "dense >> gelu >> orthogonal(1.1, 0.2) >> identity",
    "dense >> sign(x)",
    "dense >> elu",
)
NUMBERS = {"sigma_w": "1.25", "sigma_b": "0.5", "k": "2", "L": "5", "alpha": "0.75", "q": "1.25", "q1": "1.5"}
VALUES = {name: Fraction(text) for name, text in {**NUMBERS, "q2": "0.75", "c": "0.5"}.items()}
WHAT_IS_LAW = ("q", "q1", "q2", "c")


def written(result, backend):
    """The text, or the refusal."""
    try:
        return result.code(backend)
    except EocError as refusal:
        assert refusal.what and "\n" not in refusal.what
        return refusal


def agrees(result):
    """The NumPy function of a result gives its certified number."""
    names = (*result.arguments, *result.parameters)
    law = [float(VALUES[n]) for n in names if n in WHAT_IS_LAW]
    keywords = {n: float(VALUES[n]) for n in names if n not in WHAT_IS_LAW}
    value = float(result.compile("numpy")(*law, **keywords))
    return value == pytest.approx(float(result.number({n: VALUES[n] for n in names})), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize(("text", "name"), [("dense >> relu >> maxpool(4)", "chi_parallel"), (FEW[1], "second_moment")])
def test_maps_without_a_closed_form_in_numpy(text, name):
    assert agrees(getattr(theory(text), name))


@pytest.mark.slow
@pytest.mark.parametrize("text", BLOCKS)
def test_every_block_in_every_backend(text):
    for result in theory(text).results.values():
        for backend in backends():
            found = written(result, backend)
            if backend == "numpy" and not isinstance(found, EocError):
                assert agrees(result), (text, result.title)


def test_every_layer_is_asked_for():
    """A layer that is added is asked for code too."""
    stages = (stage for text in BLOCKS for stage in every_stage(read_block(text).stages))
    assert set(layers()) <= {type(stage).__name__.lower() for stage in stages}


def test_two_inputs_behind_a_large_pool_are_refused_by_name():
    with pytest.raises(EocError, match="two inputs behind a maximum over 4 units"):
        theory("dense >> relu >> maxpool(4)").covariance_map.compile("numpy")


def test_the_largest_of_many_units_by_order_statistics():
    """E max of k standard normal variables against its integral, on arrays and one at a time."""
    mean = theory("dense >> maxpool(7)").mean.compile("numpy")
    z = np.linspace(-12, 12, 4801)
    from scipy.special import ndtr

    truth = (7 * z * ndtr(z) ** 6 * np.exp(-z * z / 2)).sum() * (z[1] - z[0]) / np.sqrt(2 * np.pi)
    q = np.array([1e-6, 1.0, 400.0])
    np.testing.assert_allclose(mean(q), truth * np.sqrt(q), rtol=2e-13)
    assert mean(4.0) == pytest.approx(2 * truth, rel=1e-13)


def test_a_result_without_arguments_is_a_number():
    with pytest.raises(EocError, match="no arguments"):
        expect(Activation("relu")).subs(q=1).code("numpy")
    value = theory("tanh").variance_map.subs(q=1)
    assert float(value.compile("numpy")(sigma_w=1.5, sigma_b=0.25)) == pytest.approx(
        float(value.number(sigma_w="1.5", sigma_b="0.25")), rel=1e-13
    )
