"""Confidence sequences cover the truth at all times together; runs that stop by them decide; forecasts are right."""

import math

import numpy as np
import pytest
import torch

from verify import claim
from verify.confidence import boundary, judge_within
from verify.judge import Verdict, thresholds
from verify.plan import batches, choose, forecast
from verify.work import SampledRun

torch.set_num_threads(1)


def crossings(draws, mean, error):
    """The share of sequences (rows) whose intervals ever leave the mean out."""
    n = np.arange(1, draws.shape[1] + 1)
    means = draws.cumsum(1) / n
    spread = np.sqrt(np.maximum((draws**2).cumsum(1) - n * means**2, 0) / np.maximum(n - 1, 1))
    reach = np.array([math.inf, *(boundary(k, error) for k in n[1:].tolist())])
    with np.errstate(invalid="ignore"):
        outside = np.abs(means - mean) > reach * spread / np.sqrt(n)
    return float(outside[:, 1:].any(1).mean())


@pytest.mark.parametrize("error", [0.05, 0.01])
def test_normal_batches_are_covered_at_all_times(error):
    draws = np.random.default_rng(0).normal(2.0, 3.0, (2000, 400))
    assert crossings(draws, 2.0, error) < error + 3 * math.sqrt(error / 2000)


def test_means_of_skewed_draws_are_covered():
    draws = np.random.default_rng(1).exponential(1.0, (1000, 200, 32)).mean(2)
    assert crossings(draws, 1.0, 0.05) < 0.05 + 3 * math.sqrt(0.05 / 1000)


def test_looking_again_and_again_with_a_fixed_quantile_is_not_covered():
    draws = np.random.default_rng(2).normal(0.0, 1.0, (1000, 600))
    n = np.arange(1, 601)
    scores = np.abs(draws.cumsum(1)) / np.sqrt(n)
    assert float((scores[:, 20:] > 1.96).any(1).mean()) > 0.2  # which is why there is a boundary


def test_the_boundary_costs_little():
    assert boundary(200, 1e-8) < 1.3 * thresholds(200, 50)[0]
    assert boundary(2, 1e-8) == math.inf


def test_inside_outside_and_open():
    rng = np.random.default_rng(3)
    sample = list(rng.normal(1.0, 0.01, 200))
    assert judge_within(sample, 1.0, 0.0, 1.0, 10, 0.01).verdict is Verdict.HOLDS
    assert judge_within(sample, 1.02, 0.0, 1.0, 10, 0.01).verdict is Verdict.FAILS
    assert judge_within(sample, 1.0, 0.0, 1.0, 10, 0.001).verdict is Verdict.UNDECIDED
    assert judge_within(sample, 1.02, 0.03, 1.0, 10, 0.1).verdict is Verdict.HOLDS
    assert judge_within([math.nan] * 40, 1.0, 0.0, 1.0, 10, 0.1).verdict is Verdict.UNDECIDED


def test_statements_are_sampled_until_decided():
    texts = ("E(max(u, v)) = 0.5642 at c = 0", "E(max(u, v)) = 0.57 at c = 0")
    right, wrong = claim(*texts, until="0.2%").claims
    sampled = right.evidence[-1]
    assert right.verdict is Verdict.HOLDS and sampled.resolution <= 2e-3 and "within 0.2 %" in sampled.note
    assert wrong.verdict is Verdict.FAILS


class _Point:
    scale = 2.0


class _Claim:
    points = (_Point(),)


def pilot(spread, seconds, index=0, count=200):
    made = SampledRun(_Claim(), None, index)
    made.batches = [[x] for x in np.random.default_rng(index).normal(1.0, spread, count)]
    made.seconds = seconds
    return made


def test_forecasts_follow_the_spread():
    fine, coarse = forecast(pilot(0.02, 1.0), 1e-3, 50), forecast(pilot(0.2, 1.0), 1e-3, 50)
    assert fine == pytest.approx((7.1 * 0.01 / 1e-3) ** 2 / 200, rel=0.25)
    assert coarse == math.inf or 80 < coarse / fine < 130
    assert forecast(pilot(1e-9, 1.0), 1e-3, 50) == 0.0
    assert batches(pilot(0.02, 1.0), 1e-3, 50) % 20 == 0


def test_seconds_go_first_to_what_can_be_reached_then_to_the_worst():
    cheap, dear, hopeless = pilot(0.02, 1.0, 0), pilot(0.02, 2.0, 1), pilot(5.0, 0.5, 2)
    live, nothing = [hopeless, dear, cheap], dict.fromkeys(range(3), False)
    every = dict.fromkeys(range(3), True)
    assert choose(live, every, nothing, 1e-3, 50, 1000.0) is cheap
    assert choose([hopeless, dear], every, nothing, 1e-3, 50, 1000.0) is dear
    assert choose([hopeless, dear], every, nothing, 1e-3, 50, 1.0) is hopeless
    assert choose(live, {**every, 2: False}, nothing, 1e-3, 50, 1000.0) is hopeless
    assert choose(live, every, nothing, 1e-3, 50, 0.0) is None
