"""Blocks: what a turn round them does to the state, as expressions."""

import pytest
from sympy import Integer, Rational, tanh

from derive import Activation, Dense, theory
from derive.gaussian.node import GaussianE, single
from derive.layers import layers
from derive.layers.block import Block, maps
from derive.program.symbols import Q1, SIGMA_B, SIGMA_W, X
from derive.records import EocError, Undefined


def test_the_folder_is_the_registry():
    assert layers()["dense"] is Dense
    assert all(layer.__name__.lower() == name for name, layer in layers().items())


def test_one_turn_of_a_dense_tanh_block():
    block = maps(Dense() >> Activation("tanh(x)"))
    second = single(tanh(X) ** 2, Q1)
    assert block.cycle.second1 == SIGMA_W**2 * second + SIGMA_B**2
    assert block.output.second1 == second
    assert block.output.mean1 == single(tanh(X), Q1)
    assert block.cycle.mean1 == 0


def test_given_sigmas_are_exact_decimals():
    block = maps(Dense(sigma_w=1.5, sigma_b=0.1) >> Activation("tanh(x)"))
    assert block.cycle.second1.coeff(single(tanh(X) ** 2, Q1)) == Rational(9, 4)
    assert block.cycle.second1.subs(single(tanh(X) ** 2, Q1), 0) == Rational(1, 100)


def test_two_activations_in_a_row_are_their_composition():
    block = Dense() >> Activation("max(x, 0)") >> Activation("cos(x)")
    assert len(block.stages) == 2
    assert block.stages[1].phi.subs(X, -3) == 1


def test_two_dense_layers_nest_the_expectations():
    block = Dense() >> Activation("tanh(x)") >> Dense() >> Activation("erf(x)")
    variance = maps(block).cycle.second1
    inner = [e for e in variance.atoms(GaussianE) if e.cov[0, 0] == Q1]
    outer = [e for e in variance.atoms(GaussianE) if e.cov[0, 0].has(GaussianE)]
    assert len(inner) == 1
    assert len(outer) == 1
    assert maps(block).backward.subs(SIGMA_W, 0) == Integer(0)


def test_what_is_no_layer_is_refused():
    with pytest.raises(EocError, match="no layer"):
        Dense() >> 3
    with pytest.raises(EocError, match="negative"):
        maps(Block((Dense(sigma_w=-1), Activation("tanh(x)").layer)))


@pytest.mark.parametrize(
    "text",
    [
        "dense >> 0*x >> rmsnorm",
        "dense >> 3+0*x >> layernorm",
        "dense >> max(x, 0) - x - max(-x, 0) + 2 >> batchnorm",
        "dense >> 0*x >> avgpool(2) >> layernorm",
    ],
)
def test_norms_of_a_constant_signal_are_refused(text):
    with pytest.raises(Undefined, match="behind a constant signal"):
        theory(text).variance_map.number(q=1, sigma_w=1, sigma_b=0)


def test_the_root_mean_square_of_a_constant_that_is_not_zero():
    assert theory("dense >> 3+0*x >> rmsnorm").second_moment.number(q=1).mid == 1
