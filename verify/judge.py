"""Verdicts from batch means: HOLDS, FAILS or UNDECIDED, with a stated error rate and resolution.

Student's t on independent batch means, two-sided, at a family-wise error of 1e-6 over all comparisons of a report
(Bonferroni): a correct theory is refuted in fewer than one of 10^6 reports. Nothing is retried.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

FAMILY_ERROR = 1e-6
POWER = 0.95
ROUNDING = 1e-12
"""Relative rounding of float64 sums over a batch; the floor of every resolution."""
COARSE = 0.1
"""A comparison that could not have seen an error of 10 % decides nothing."""
DOMINATED = 0.75
"""One batch with more than this share of all squared deviations means that the law has no usable variance."""
FEWEST_BATCHES = 16
COUNTED = "the batches take few values, one point more or less would explain the difference"
FEW_VALUES = 6
"""Batches that take fewer values are counts on a lattice: their spread says little of a value not yet seen."""
STEP = 2e-3
"""A step of such a lattice, relative, where the batches have shown none: one point of a batch of at least 500."""


class Verdict(Enum):
    """HOLDS: compared and in agreement; FAILS: refuted; UNDECIDED: evidence too weak; REFUSED: no check exists."""

    HOLDS = "HOLDS"
    FAILS = "FAILS"
    UNDECIDED = "UNDECIDED"
    REFUSED = "REFUSED"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Judgement:
    """One comparison of a prediction with evidence.

    estimate, standard_error   what was measured (standard error 0 for rigorous or deterministic evidence)
    deviation                  its distance from the prediction, in units of `scale`
    resolution                 the smallest error, in units of `scale`, that would have been seen (power 95 %)
    """

    verdict: Verdict
    estimate: float
    standard_error: float
    deviation: float
    resolution: float
    note: str = ""


def mean_and_error(batches: Sequence[float]) -> tuple[float, float]:
    """The mean of independent batch means and its standard error, with exactly rounded sums."""
    n = len(batches)
    mean = math.fsum(batches) / n
    return mean, math.sqrt(math.fsum((b - mean) ** 2 for b in batches) / (n * (n - 1)))


def thresholds(batches: int, comparisons: int) -> tuple[float, float]:
    """The two-sided quantile for one of so many comparisons, and the one-sided quantile of the power."""
    from scipy.special import stdtrit  # scipy.stats takes two seconds to load

    degrees = batches - 1
    return -float(stdtrit(degrees, FAMILY_ERROR / (2 * comparisons))), -float(stdtrit(degrees, 1 - POWER))


def judge(
    batches: Sequence[float], predicted: float, radius: float, scale: float, comparisons: int, warning: str = ""
) -> Judgement:
    """Compare batch means with a prediction in [predicted - radius, predicted + radius].

    batches      independent estimates of the predicted number, at least 16
    scale        the size against which errors are relative (positive)
    comparisons  how many comparisons the whole report makes
    warning      why the sample mean cannot be trusted (a heavy tail); then the verdict is UNDECIDED
    """
    if len(batches) < FEWEST_BATCHES:
        return Judgement(Verdict.UNDECIDED, math.nan, math.nan, math.nan, math.inf, "too few batches")
    if not all(map(math.isfinite, batches)):
        return Judgement(Verdict.UNDECIDED, math.nan, math.inf, math.nan, math.inf, warning or "a batch is not finite")
    mean, error = mean_and_error(batches)
    if not math.isfinite(predicted) or not math.isfinite(radius):
        return Judgement(Verdict.UNDECIDED, mean, error, math.nan, math.inf, warning or "the prediction is not finite")
    quantile, power = thresholds(len(batches), comparisons)
    floor = ROUNDING * max(scale, abs(mean)) + radius
    deviation = abs(mean - predicted) / scale
    resolution = ((quantile + power) * error + floor) / scale
    warning = warning or doubts(batches, mean, floor)
    if warning:
        return Judgement(Verdict.UNDECIDED, mean, error, deviation, resolution, warning)
    beyond = abs(mean - predicted) - quantile * error - floor
    if beyond > _lattice(batches, max(scale, abs(mean)), comparisons):
        return Judgement(Verdict.FAILS, mean, error, deviation, resolution)
    if beyond > 0:
        return Judgement(Verdict.UNDECIDED, mean, error, deviation, resolution, COUNTED)
    if resolution > COARSE:
        return Judgement(Verdict.UNDECIDED, mean, error, deviation, resolution, "the budget resolves no 10 % error")
    return Judgement(Verdict.HOLDS, mean, error, deviation, resolution)


def _lattice(batches: Sequence[float], size: float, comparisons: int) -> float:
    """How far the mean of batches on few values may be from the truth; 0 where they take many.

    Evenly spread points count what lies beyond a kink to one point more or less. The mean of n such counts within a
    range r leaves the truth by more than r sqrt(log(2/alpha)/(2 n)) with a probability below alpha (Hoeffding 1963,
    theorem 2); the range is what was seen and one step more.
    """
    values = sorted(batches)
    gaps = [b - a for a, b in itertools.pairwise(values) if b - a > ROUNDING * size]
    if len(gaps) + 1 >= FEW_VALUES:
        return 0.0
    step = min(gaps) if gaps else STEP * size
    reach = math.sqrt(math.log(2 * comparisons / FAMILY_ERROR) / (2 * len(batches)))
    return (values[-1] - values[0] + step) * min(reach, 1.0)


def compare(measured: float, predicted: float, allowed: float, scale: float, note: str = "") -> Judgement:
    """Compare deterministic evidence: both numbers may differ by `allowed` (radii or rounding)."""
    if not math.isfinite(allowed) or math.isnan(measured) or math.isnan(predicted):
        return Judgement(Verdict.UNDECIDED, measured, 0.0, math.nan, math.inf, note or "not a finite number")
    if math.isinf(measured) or math.isinf(predicted):
        agree = measured == predicted
        return Judgement(
            Verdict.HOLDS if agree else Verdict.FAILS, measured, 0.0, 0.0 if agree else math.inf, 0.0, note
        )
    gap = abs(measured - predicted)
    verdict = Verdict.FAILS if gap > allowed else Verdict.UNDECIDED if allowed > COARSE * scale else Verdict.HOLDS
    return Judgement(verdict, measured, 0.0, gap / scale, allowed / scale, note)


def combine(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict of several comparisons of one claim: one refutation refutes, else one agreement suffices."""
    for verdict in (Verdict.REFUSED, Verdict.FAILS, Verdict.HOLDS):
        if verdict in verdicts:
            return verdict
    return Verdict.UNDECIDED


def doubts(batches: Sequence[float], mean: float, floor: float) -> str:
    """Why the spread of the batches says nothing: one of them holds most of it; else empty."""
    squares = [(b - mean) ** 2 for b in batches]
    total = math.fsum(squares)
    if total > len(batches) * floor * floor and max(squares) > DOMINATED * total:
        return "heavy tail: one batch holds most of the variance"
    return ""
