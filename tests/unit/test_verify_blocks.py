"""Blocks under test: the truth survives, wrong maps do not, layers with implicit weights are those with all weights."""

import pytest
import torch

from derive.records import EocError
from verify.blocks.subject import block_subject
from verify.blocks.units import Units
from verify.blocks.weights import ImplicitWeights
from verify.checking import checks
from verify.engine import run
from verify.judge import Verdict
from verify.mutants import kills
from verify.subject import subject

torch.set_num_threads(1)
BLOCKS = [
    "dense >> relu >> maxpool(2)",
    "residual(relu >> dense, scale=0.5)",
    "dense >> glu(silu)",
    "dense >> relu >> dropout(0.3)",
    "dense >> tanh >> layernorm",
    "dense >> tanh >> dense >> relu",
]
SINGLE = ("block_moments", "block_maps", "block_gain")


def some(*names):
    return {name: check for name, check in checks("block").items() if name in names}


def test_a_block_holds_and_its_wrong_maps_do_not():
    outcomes = list(kills(subject("dense >> relu >> dropout(0.3)"), some("block_moments", "block_gain")))
    survivors = [f"{m.attribute} {m.name}" for m, _, witness in outcomes if not witness]
    assert survivors == [] and len(outcomes) > 25
    report = run(subject("dense >> relu >> dropout(0.3)"), some("block_moments", "block_gain"), budget=0)
    held = [c for c in report.claims if c.check]
    assert all(c.verdict is not Verdict.FAILS for c in held) and len(held) == 4


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("block", BLOCKS)
def test_every_block_holds(block):
    report = run(subject(block, seed=1), checks("block"), budget=20)
    assert report.passed, [c.counterexample() for c in report.claims if c.verdict is Verdict.FAILS]


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("block", BLOCKS)
def test_every_wrong_map_of_a_block_is_refuted(block):
    found = some(*SINGLE)
    outcomes = list(kills(subject(block), found))
    survivors = [
        f"{m.attribute} {m.name}" for m, check, w in outcomes if not w and m.name not in found[check].unseeable
    ]
    assert survivors == []


def test_batch_normalisation_is_refused_and_counts_against_the_report():
    report = run(subject("dense >> batchnorm >> relu"), some(*SINGLE, "block_points", "block_depth"), budget=0)
    assert not report.passed and {c.verdict for c in report.claims} == {Verdict.REFUSED}
    assert "large batch" in report.claims[0].note


def test_weights_drawn_where_needed_have_the_law_of_all_weights():
    generator = torch.Generator().manual_seed(3)
    units = Units(generator, spread=False)
    x = torch.randn((2, 5), generator=generator, dtype=torch.float64).requires_grad_()
    probe = torch.randn(40, generator=generator, dtype=torch.float64)
    assert isinstance(units.normal((5, 40)), ImplicitWeights)
    outputs, gradients = [], []
    for _ in range(600):
        y = x @ units.normal((5, 40))
        outputs.append(y.detach())
        gradients.append(torch.autograd.grad(y[0] @ probe, x)[0][0])
    y, g = torch.stack(outputs), torch.stack(gradients)
    gram, one = (x @ x.T).detach(), torch.eye(5, dtype=torch.float64)
    assert torch.allclose((y @ y.mT).mean(0) / 40, gram, atol=0.05 * float(gram.max()))
    assert torch.allclose(g.T @ g / len(g) / (probe @ probe), one, atol=0.25)
    # the gradient belongs to the same weights: g . x = y . probe, in every draw
    assert torch.allclose(g @ x[0].detach(), y[:, 0] @ probe)


def test_spread_units_have_the_moments_of_independent_ones():
    units = Units(torch.Generator().manual_seed(1), group=2, halves=True)
    z = units.normal((2, 4096))
    assert float(z.mean().abs()) < 2e-3 and float((z**2).mean()) == pytest.approx(1, abs=5e-3)
    for other in (z[0] * z[1], z[0, ::2] * z[0, 1::2], z[0, :2048] * z[0, 2048:], z[1, :2048] * z[1, 2048:]):
        assert float(other.mean().abs()) < 2e-2


def test_parameters_of_blocks_are_checked_and_drawn():
    from derive import theory

    made = block_subject(theory("dense >> leaky_relu >> avgpool(k)"), 0, {"a": "1/4"})
    assert made.parameters["a"] == 0.25 and made.parameters["k"] in (2, 3)
    with pytest.raises(EocError, match="no parameter b"):
        block_subject(theory("dense >> relu >> maxpool(2)"), 0, {"b": 1})
