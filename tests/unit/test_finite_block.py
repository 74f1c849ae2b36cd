"""The law of a residual block at width n: formulas, exact cases, and blocks that refute wrong ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from sympy import Rational, symbols

from derive import theory
from derive.records import EocError, Kind, Unsupported
from verify.finite_width.blocks import verify_block

torch.set_num_threads(1)
GRAM = [[1, 0.3], [0.3, 0.6]]


def test_relu_by_hand():
    """Q = s q/2 with s = sigma_w^2: 4 q b^2 Q + b^4 (2 Q^2 + s^2 (5 - 2) q^2/4); the shift of one input is 0."""
    law = theory("residual(relu >> dense(sigma_b=0), scale=beta)").finite_width.block_law
    q, w, b = symbols("q sigma_w beta", positive=True)
    assert law.noise.kind is Kind.EXACT
    assert (law.noise.closed - (2 * q**2 * w**2 * b**2 + b**4 * q**2 * w**4 * Rational(5, 4))).expand() == 0
    assert law.drift.closed.expand() == b**2 * w**2 * q / 2 and law.shift.closed.expand() == 0
    assert "q" in law.noise.latex() and law.noise.proof()


def test_rows_on_a_sphere():
    """E tanh^2 of one coordinate of a sphere of radius sqrt(n q), by quadrature in the angle: shift at large n."""
    law, q = theory("residual(tanh >> dense)").finite_width.block_law, 1.3

    def mean(n):
        x = np.linspace(-1, 1, 200_001)[1:-1]
        weight = (1 - x**2) ** ((n - 3) / 2)
        return (np.tanh(np.sqrt(n * q) * x) ** 2 @ weight) / weight.sum()

    drift = float(law.drift.number(q="1.3", sigma_w=1, sigma_b=0))
    first, second = (n * (mean(n) - drift) for n in (2000, 4000))
    assert float(law.shift.number(q="1.3", sigma_w=1)) == pytest.approx(2 * second - first, rel=1e-4)


def test_formulas_and_numbers_agree():
    law = theory("residual(relu >> dense, scale=0.5, shortcut=0.9)").finite_width.block_law
    found, at = law.at(GRAM, "1.2", "0.1"), {"q1": 1, "q2": "0.6", "c": "0.3872983346207417"}
    both = {**at, "sigma_w": "1.2", "sigma_b": "0.1"}
    assert float(law.pair_drift().number(**both)) == pytest.approx(found.drift[0, 1], rel=1e-9)
    assert float(law.pair_shift().number(**at, sigma_w="1.2")) == pytest.approx(found.shift[0, 1], rel=1e-9)
    assert float(law.pair_noise("11", "12").number(**both)) == pytest.approx(found.noise[0, 0, 0, 1], rel=1e-9)
    one = {"q": 1, "sigma_w": "1.2", "sigma_b": "0.1"}
    assert float(law.noise.number(**one)) == pytest.approx(found.noise[0, 0, 0, 0], rel=1e-9)


def test_a_dense_in_front_leaves_no_shift():
    law = theory("residual(dense >> tanh >> dense)").finite_width.block_law
    found = law.at(GRAM, "1.2", "0.1", ratio=2)
    assert np.abs(found.shift).max() == 0 and law.pair_shift().closed == 0
    noise = float(law.noise.number(q=1, sigma_w="1.2", sigma_b="0.1", r_n=2))
    assert noise == pytest.approx(found.noise[0, 0, 0, 0], rel=1e-9)
    given = {"q1": 1, "q2": "0.6", "c": "0.3872983346207417", "sigma_w": "1.2", "sigma_b": "0.1", "r_n": 2}
    assert float(law.pair_noise().number(**given)) == pytest.approx(found.noise[0, 1, 0, 1], rel=1e-9)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("residual(tanh >> dense, scale=0.7, shortcut=0.8)", {}),
        ("residual(dense >> relu >> dense, scale=0.5)", {"ratio": 2}),
    ],
)
def test_blocks_agree_and_refute(text, options):
    t = theory(text)
    right = t.finite_width.block_law.at(GRAM, "1.2", "0.1", **options)
    setting = {"networks": 9600, "widths": (24, 48), **options}
    assert verify_block(t, GRAM, "1.2", "0.1", **setting).passed
    wrong = [replace(right, noise=1.5 * right.noise), replace(right, drift=right.drift + 0.03)]
    wrong += [replace(right, shift=right.shift + 1)]
    for mutant in wrong:
        assert not verify_block(t, GRAM, "1.2", "0.1", predicted=mutant, **setting).passed


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["residual(tanh >> dense)", "residual(sin >> dense, scale=0.8)", "residual(tanh >> dense >> relu >> dense)"],
)
def test_the_shift_is_resolved(text):
    report = verify_block(theory(text), GRAM, "1.2", "0.1", networks=480_000)
    assert report.passed, report.table
    first = report.rows[0]
    assert abs(first.judgement.estimate) > 5 * first.judgement.standard_error


def test_what_is_refused():
    with pytest.raises(Unsupported, match="no residual block"):
        _ = theory("tanh").finite_width.block_law.drift
    with pytest.raises(Unsupported, match="branch"):
        _ = theory("residual(relu >> maxpool(2) >> dense)").finite_width.block_law.drift
    with pytest.raises(EocError, match="definite"):
        theory("residual(relu >> dense)").finite_width.block_law.at([[1, 2], [2, 1]], 1)
