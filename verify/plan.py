"""Where the next seconds go: forecasts, from the batches so far, of what each witness needs to see a given error."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from verify.judge import thresholds
from verify.work import MOST_BATCHES, PILOT, SampledRun

STEP_SECONDS = 1.0
"""A witness is asked for about so long at a time, so that an interrupt and the budget are heard."""


def forecast(run: SampledRun, until: float, comparisons: int) -> float:
    """Seconds until the coarsest point of a run would show a relative error of `until` with power 95 %.

    Its standard error falls as 1/sqrt(batches), and Student's quantiles with it; infinite where no number of batches
    that is ever drawn would do.
    """
    spread, have = run.spread(), len(run.batches)
    if not spread < math.inf or run.warning:
        return math.inf
    need = float(have)
    for _ in range(4):
        need = (sum(thresholds(round(min(max(need, have), 1e9)), comparisons)) * spread / until) ** 2
    return math.inf if need > MOST_BATCHES else max(0.0, need - have) * run.seconds / have


def choose(
    live: Sequence[SampledRun],
    decided: Mapping[int, bool],
    resolved: Mapping[int, bool],
    until: float,
    comparisons: int,
    left: float,
) -> SampledRun | None:
    """The run that is drawn next; None where none fits the time that is left.

    First claims that nothing has decided. Then whatever can still reach `until` in the time left, the cheapest first:
    that resolves most. What is left then goes to where the resolution is worst, unresolved claims before others.
    decided, resolved   by the index of a run: whether its claim is decided, whether some witness of it resolves `until`
    """
    fitting = [run for run in live if run.seconds / len(run.batches) * PILOT <= left]
    if not fitting:
        return None
    open_ = [run for run in fitting if not decided[run.index]]
    if open_:
        return min(open_, key=lambda run: run.seconds)
    needs = {run.index: forecast(run, until, comparisons) for run in fitting}
    reached = [run for run in fitting if needs[run.index] <= left]
    if reached:
        return min(reached, key=lambda run: needs[run.index])
    return max(fitting, key=lambda run: (not resolved[run.index], run.resolution(comparisons)))


def batches(run: SampledRun, until: float, comparisons: int) -> int:
    """How many batches to draw at once: what is still needed, about STEP_SECONDS at most, in multiples of PILOT."""
    each = max(run.seconds / len(run.batches), 1e-6)
    wanted = min(forecast(run, until, comparisons), STEP_SECONDS) / each
    return min(max(1, math.ceil(wanted / PILOT)) * PILOT, MOST_BATCHES - len(run.batches))
