"""Laws of weights: drawn as the theory states them; maps hold for each; a wrong second moment is refuted."""

from dataclasses import replace

import pytest
import torch
from sympy import Rational

from verify.checking import checks
from verify.checks.covariance_map import gram_of
from verify.judge import Verdict, judge
from verify.networks.laws import coefficients, law_means, units
from verify.stream import stream
from verify.subject import subject
from verify.weights import laws

torch.set_num_threads(1)
BATCHES = 60


@pytest.mark.parametrize("name", laws())
def test_weights_have_the_moments_that_the_theory_states(name):
    law, count = laws()[name], 400
    drawn = law.weights(stream(1, 2, 3), count, 16, torch.float64)
    assert drawn.shape == (count, 16, 16) and drawn.dtype == torch.float64
    assert float(law.stated(16).mean) == 0
    squares = 16 * (drawn**2).mean((1, 2))
    assert float(squares.mean()) == pytest.approx(1, abs=max(6 * float(squares.std()) / count**0.5, 1e-12))
    assert float(drawn.mean()) == pytest.approx(0, abs=6 / (count * 16**3) ** 0.5)
    assert float((drawn[:, :, :-1] * drawn[:, :, 1:]).mean()) == pytest.approx(0, abs=6 / 16 / (count * 240) ** 0.5)


def test_laws_are_four_different_ones():
    """Fourth cumulants: -6/5 of a uniform law, -2 of one with two values; orthogonal columns have one length."""
    found = {name: law.weights(stream(1, 2, 4), 200, 32, torch.float64) for name, law in laws().items()}
    kurtosis = {name: float((w**4).mean() / (w**2).mean() ** 2) - 3 for name, w in found.items()}
    assert kurtosis["uniform"] == pytest.approx(-1.2, abs=0.03)
    assert kurtosis["rademacher"] == pytest.approx(-2, abs=1e-9)
    assert kurtosis["truncated"] == pytest.approx(-0.6344, abs=0.05)
    eye = torch.eye(32, dtype=torch.float64)
    assert torch.allclose(found["orthogonal"].mT @ found["orthogonal"], eye.expand(200, 32, 32), atol=1e-12)


def test_coefficients_are_those_of_known_expansions():
    """u^2 v^2 = (H_2(u) sqrt 2 + 1)(H_2(v) sqrt 2 + 1): sqrt 2 at (2, 0) and (0, 2), 2 at (2, 2)."""
    found = coefficients(lambda u, v: u**2 * v**2, torch.eye(2, dtype=torch.float64)[None])[0]
    want = torch.zeros_like(found)
    want[[2, 4]], want[2 + 3 + 4 + 2] = 2**0.5, 2.0
    assert torch.allclose(found, want, atol=1e-10)  # the rule ends at 9 standard deviations


def test_units_of_a_layer_have_the_covariance_of_its_inputs():
    for law in laws().values():
        found = torch.stack([units(law, stream(0, 1, k), torch.float64)[0] for k in range(40)])
        means = torch.stack([found[:, 0] ** 2, found[:, 1] ** 2, found[:, 0] * found[:, 1]]).mean(2)
        error = means.std(1) / 40**0.5
        assert torch.all((means.mean(1) - torch.tensor([1.0, 1.0, 0.0])).abs() < 6 * error + 1e-12)


def verdicts(claim, batches=BATCHES, index=0):
    (witness,) = claim.witnesses
    columns = witness.draw([stream(0, index, k) for k in range(batches)]).values.T.tolist()
    return [
        judge(column, float(p.predicted.mid), float(p.predicted.rad), p.scale, 100)
        for column, p in zip(columns, claim.points, strict=True)
    ]


def test_the_covariance_map_holds_for_every_law():
    claims = list(checks()["weight_laws"].claims(subject("gelu", seed=0)))
    assert len(claims) == len(laws())
    for index, claim in enumerate(claims):
        found = verdicts(claim, 20, index)
        assert all(j.verdict is not Verdict.FAILS for j in found)
        assert max(j.resolution for j in found) < 0.05


WRONG = {
    "uniform": Rational(1, 2),
    "truncated": Rational(1),
    "rademacher": Rational(1, 2),
    "orthogonal": Rational(1, 68),
}
"""Wrong second moments: bound^2/2, the normal law's before it is cut, a half, 1/(n + 4) of 64 units."""


@pytest.mark.parametrize("name", laws())
def test_a_wrong_second_moment_of_a_law_is_refuted(name):
    law, made, number = laws()[name], subject("relu", seed=0), list(laws()).index(name)
    wrong = replace(law, stated=lambda n: replace(law.stated(n), second=WRONG[name]))
    claim = list(checks()["weight_laws"].claims(made))[number]
    witness = law_means(wrong, made.dtype, claim.points, gram_of, lambda u, v: made.phi(u) * made.phi(v))
    found = verdicts(replace(claim, witnesses=(witness,)), index=number)
    assert any(j.verdict is Verdict.FAILS for j in found)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["relu", "gelu", "tanh", "sin(2*x)", "Heaviside(x)", "elu"])
def test_no_bias_is_left_at_a_thousand_batches(name):
    for index, claim in enumerate(checks()["weight_laws"].claims(subject(name, seed=3))):
        assert all(j.verdict is Verdict.HOLDS for j in verdicts(claim, 1000, index))
