"""Confidence sequences: intervals that cover the truth at all times at once, so that one may look and stop at will.

For normal batch means of unknown variance, the t statistics of growing samples are tested against a mixture of normal
effects: with delta = mu/sigma ~ N(0, 1/rho) and the right Haar prior of sigma, the mixture's likelihood ratio

    B_n = sqrt(rho/(n + rho)) ((1 + x)/(1 + rho/(n + rho) x))^(n/2),    x = t_n^2/(n - 1),

is a martingale of mean 1 where mu is the truth, whatever sigma, so that P(some B_n >= 1/alpha) <= alpha (Ville). The
interval at time n are the means with B_n < 1/alpha. Normal mixtures: Robbins 1970, Ann. Math. Statist. 41, 1397; with
unknown variance: Lai 1976, Ann. Statist. 4, 265, and Wang and Ramdas 2023, arXiv:2310.03722.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from verify.judge import FAMILY_ERROR, FEWEST_BATCHES, ROUNDING, Judgement, Verdict, doubts, mean_and_error

RHO = 1.0
"""Of the mixture over effects; sequences are narrowest, relative to their time, at some forty batches."""


def boundary(batches: int, error: float, rho: float = RHO) -> float:
    """How many standard errors the interval of a confidence sequence reaches: |t_n| with B_n = 1/error.

    error   probability that the truth is ever left out. Infinite where so few batches exclude nothing.
    """
    share = rho / (batches + rho)
    log_level = (2 / batches) * (-math.log(error) - 0.5 * math.log(share))
    if log_level + math.log(share) >= 0:
        return math.inf
    level = math.exp(log_level)
    return math.sqrt((batches - 1) * (level - 1) / (1 - level * share))


def judge_within(
    batches: Sequence[float], predicted: float, radius: float, scale: float, comparisons: int, accuracy: float,
    warning: str = "",
) -> Judgement:  # fmt: skip
    """Whether a number is within a relative accuracy of its prediction, by a confidence sequence.

    FAILS as soon as the interval leaves out [predicted - radius, predicted + radius]; HOLDS as soon as all of it is
    within `accuracy * scale` of the prediction; until then UNDECIDED. Asked after every batch, both are true together
    with probability 1 - 1e-6 over all comparisons of a report. The resolution is the error beyond which nothing is
    left of the interval, in units of scale.
    """
    if len(batches) < FEWEST_BATCHES or not all(map(math.isfinite, batches)):
        return Judgement(Verdict.UNDECIDED, math.nan, math.nan, math.nan, math.inf, warning or "too few batches")
    mean, error = mean_and_error(batches)
    if not (math.isfinite(predicted) and math.isfinite(radius)):
        return Judgement(Verdict.UNDECIDED, mean, error, math.nan, math.inf, warning or "the prediction is not finite")
    floor = ROUNDING * max(scale, abs(mean)) + radius
    reach = boundary(len(batches), FAMILY_ERROR / comparisons) * error
    gap = abs(mean - predicted)
    deviation, resolution = gap / scale, (gap + reach + floor) / scale
    warning = warning or doubts(batches, mean, floor)
    if warning:
        return Judgement(Verdict.UNDECIDED, mean, error, deviation, resolution, warning)
    if gap > reach + floor:
        return Judgement(Verdict.FAILS, mean, error, deviation, resolution, "outside the confidence sequence")
    if resolution <= accuracy:
        return Judgement(Verdict.HOLDS, mean, error, deviation, resolution, f"within {100 * accuracy:g} %")
    return Judgement(Verdict.UNDECIDED, mean, error, deviation, resolution, "not decided yet")
