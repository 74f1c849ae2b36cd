"""Branches that pass the stream itself on: their moment with it counts, or they are refused."""

from fractions import Fraction

import numpy as np
import pytest

from derive import theory
from derive.gaussian.numbers import number
from derive.layers.block import start
from derive.layers.finite import Finite
from derive.layers.nested import act, run
from derive.records import EocError
from derive.surface.block_text import read_block

AT = {"q1": Fraction(13, 10), "q2": Fraction(7, 10), "c": Fraction(2, 5)}
VALUES = {"sigma_w": Fraction(6, 5), "sigma_b": Fraction(3, 10)}
PASSING = [
    "residual(residual(relu >> dense))",
    "residual(residual(relu >> dense), scale=1/2, shortcut=1/2)",
    "residual(residual(relu >> dense), shortcut=-1)",
    "residual(residual(relu))",
    "residual(residual(relu >> dense, scale=0.5) >> 2*x >> dropout(0.25))",
    "residual(noise(0.3, 0.5) >> embedding(0.4, shared=1))",
    "sum(identity, relu >> dense)",
    "sum(identity, dropout(0.3), residual(relu >> dense))",
    "residual(sum(identity, relu >> dense), scale=0.7)",
    "residual(concat(relu >> dense, tanh >> dense))",
    "relu >> residual(residual(dense(1, 0)), scale=0.5)",
    "residual(dense >> relu)",
    "concat(identity, relu >> dense)",
]


def measured(stages, width=400, networks=12):
    """(second moment 1 and 2, cross moment) of the block's output, one row a network."""
    rng, rows = np.random.default_rng(5), []
    q1, q2, c = (float(AT[name]) for name in ("q1", "q2", "c"))

    def value(expr):
        return float(expr.subs({s: float(VALUES[s.name]) for s in expr.free_symbols}))

    tools = Finite(
        width, np, rng.standard_normal, lambda shape: rng.random(shape), value, lambda s: s.source.compile("numpy")
    )
    for _ in range(networks):
        u, v = rng.standard_normal((2, width))
        y = act(stages, np.stack([q1**0.5 * u, q2**0.5 * (c * u + (1 - c * c) ** 0.5 * v)]), tools)
        rows.append([np.mean(y[0] ** 2), np.mean(y[1] ** 2), np.mean(y[0] * y[1])])
    return np.array(rows)


@pytest.mark.parametrize("text", PASSING)
def test_the_moments_of_a_branch_that_passes_the_stream_on(text):
    stages = read_block(text).stages
    state = run(stages, start())
    want = []
    for name in ("second1", "second2", "cross"):
        expr = getattr(state, name)
        used = {s.name for s in expr.free_symbols}
        want.append(float(number(expr, {k: v for k, v in {**AT, **VALUES}.items() if k in used or k in AT}).mid))
    rows = measured(stages)
    error, natural = rows.std(0) / len(rows) ** 0.5, np.array([want[0], want[1], want[0]])
    assert (np.abs(rows.mean(0) - want) < 6 * error + 0.01 * natural).all(), (rows.mean(0), want, error)


def test_nested_shortcuts_are_amplitudes():
    """y = 2x + F, and y = x + F/2."""
    t = theory("residual(residual(relu >> dense))")
    given = {"q": "1.7", "sigma_w": "1.2", "sigma_b": "0.3"}
    assert float(t.variance_map.number(**given)) == pytest.approx(4 * 1.7 + 1.44 * 1.7 / 2 + 0.09)
    assert float(t.chi.number(q=1, sigma_w="1.2")) == pytest.approx(4 + 0.72)
    half = theory("residual(residual(relu >> dense), scale=1/2, shortcut=1/2)")
    assert float(half.variance_map.number(**{**given, "sigma_b": 0})) == pytest.approx(1.7 + 1.44 * 1.7 / 8)
    assert float(half.chi.number(q=1, sigma_w="1.2")) == pytest.approx(1 + 1.44 / 8)
    noisy = theory("residual(dropout(0.5))")
    assert float(noisy.chi.number(q=1, sigma_w=1)) == pytest.approx(1 + 2 + 2)


@pytest.mark.parametrize(
    "text",
    [
        "residual(layernorm)",
        "residual(rmsnorm)",
        "residual(batchnorm)",
        "residual(residual(relu >> dense) >> layernorm)",
        "residual(relu >> dropout(0.5))",
        "residual(relu >> residual(relu >> dense))",
        "residual(concat(identity, relu >> dense))",
        "residual(concat(relu, tanh))",
        "residual(avgpool(5))",
        "residual(dense >> relu >> avgpool(5))",
        "sum(identity, layernorm)",
        "sum(relu, relu >> dense)",
    ],
)
def test_what_a_branch_shares_with_the_stream_is_refused_where_it_is_not_known(text):
    with pytest.raises(EocError, match=r"depends on the coordinate|width of the stream|end in a Dense") as error:
        _ = theory(text).variance_map
    assert "ense" in error.value.instead


@pytest.mark.parametrize("text", ["conv(3) >> relu", "conv(3, sigma_w=2) >> relu"])
def test_a_bare_number_is_no_kernel_and_no_sigma(text):
    with pytest.raises(EocError, match="has no name") as error:
        read_block(text)
    assert error.value.instead == "write conv(kernel=3) or conv(sigma_w=3)"
    assert read_block("conv(kernel=5, sigma_w=1)").stages[0].kernel == 5
