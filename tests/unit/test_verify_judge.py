"""Verdicts: error rate, resolution, heavy tails, and independence of batches from the order they are drawn in."""

import math

import numpy as np
import pytest
from scipy.stats import norm, t

from verify.judge import Verdict, combine, compare, judge, mean_and_error, thresholds
from verify.stream import choices, stream


def batches(mean, count=64, spread=0.1, seed=0):
    return list(np.random.default_rng(seed).normal(mean, spread, count))


def test_truth_holds_and_a_shift_of_the_stated_resolution_fails():
    truth = judge(batches(2.0), 2.0, 0.0, 2.0, 50)
    assert truth.verdict is Verdict.HOLDS
    shifted = [judge(batches(2.0 * (1 + truth.resolution), seed=s), 2.0, 0.0, 2.0, 50).verdict for s in range(40)]
    assert shifted.count(Verdict.FAILS) >= 34  # power 95 %: fewer than 34 of 40 has probability 2e-3


def test_the_threshold_is_bonferroni_over_two_sides():
    quantile, power = thresholds(33, 70)
    assert 2 * 70 * t.sf(quantile, 32) == pytest.approx(1e-6, rel=1e-9)
    assert t.sf(power, 32) == pytest.approx(0.05, rel=1e-9)
    assert thresholds(10**6, 1)[0] == pytest.approx(norm.isf(5e-7), rel=1e-4)


def test_a_prediction_with_a_radius_is_given_its_radius():
    assert judge(batches(2.0, spread=1e-4), 2.05, 0.0, 2.0, 50).verdict is Verdict.FAILS
    assert judge(batches(2.0, spread=1e-4), 2.05, 0.06, 2.0, 50).verdict is Verdict.HOLDS


def test_constant_batches_are_judged_up_to_rounding_only():
    constant = [1.0 + 2e-16 * (k % 2) for k in range(32)]
    assert judge(constant, 1.0, 0.0, 1.0, 10).verdict is Verdict.HOLDS
    assert judge(constant, 1.0 + 1e-9, 0.0, 1.0, 10).verdict is Verdict.UNDECIDED
    assert judge(constant, 1.01, 0.0, 1.0, 10).verdict is Verdict.FAILS


def test_counts_are_not_judged_by_a_spread_they_have_not_shown():
    # 4096 evenly spread points beyond a kink with probability 0.7: 2867 or, one batch in five, 2868 of them
    count = 2867 / 4096
    assert judge([count] * 20, 0.7, 0.0, 0.7, 80).verdict is Verdict.UNDECIDED
    mixed = [count, count + 1 / 4096] * 10
    assert judge(mixed, 0.7, 0.0, 0.7, 80).verdict is not Verdict.FAILS
    assert judge(mixed, 0.707, 0.0, 0.7, 80).verdict is Verdict.FAILS


def test_heavy_tails_coarse_evidence_and_infinities_decide_nothing():
    cauchy = list(np.random.default_rng(1).standard_cauchy(64))
    cauchy[7] = 1e4
    assert judge(cauchy, 5.0, 0.0, 1.0, 1).note.startswith("heavy tail")
    assert judge(batches(2.0, spread=3.0), 2.0, 0.0, 2.0, 1).verdict is Verdict.UNDECIDED
    assert judge(batches(2.0), math.inf, 0.0, 2.0, 1).verdict is Verdict.UNDECIDED
    assert judge([1.0] * 40 + [math.nan], 1.0, 0.0, 1.0, 1).verdict is Verdict.UNDECIDED
    assert judge(batches(2.0), 9.0, 0.0, 2.0, 1, warning="infinite variance").verdict is Verdict.UNDECIDED
    assert judge([1.0, 1.0], 5.0, 0.0, 1.0, 1).verdict is Verdict.UNDECIDED


def test_deterministic_evidence():
    assert compare(1.0, 1.0 + 1e-15, 1e-14, 1.0).verdict is Verdict.HOLDS
    assert compare(1.0, 1.0 + 1e-12, 1e-14, 1.0).verdict is Verdict.FAILS
    assert compare(1.0, 2.0, 5.0, 1.0).verdict is Verdict.UNDECIDED
    assert compare(math.inf, math.inf, 0.0, 1.0).verdict is Verdict.HOLDS
    assert compare(3.0, math.inf, 0.0, 1.0).verdict is Verdict.FAILS
    assert compare(math.nan, 1.0, 1.0, 1.0).verdict is Verdict.UNDECIDED


def test_one_refutation_refutes():
    assert combine([Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED]) is Verdict.FAILS
    assert combine([Verdict.UNDECIDED, Verdict.HOLDS]) is Verdict.HOLDS
    assert combine([]) is Verdict.UNDECIDED


def test_the_mean_is_exactly_rounded():
    assert mean_and_error([1e16, 1.0, -1e16, 1.0])[0] == 0.5


def test_streams_depend_on_seed_index_and_batch_alone():
    import torch

    def numbers(*key):
        return torch.rand(3, generator=stream(*key)).tolist()

    assert numbers(0, 1, 2) == numbers(0, 1, 2)
    keys = [(0, 1, 2), (0, 2, 1), (1, 1, 2), (0, 1, 3), (0, 0, 2)]
    assert len({tuple(numbers(*key)) for key in keys}) == len(keys)
    assert choices(3, "a").random() == choices(3, "a").random() != choices(3, "b").random()
