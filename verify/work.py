"""Claims on their way to a verdict: what is left to do for each, and the batches drawn so far."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from derive.records import EocError
from verify.checking import Claim, Exact, Sampled
from verify.confidence import judge_within
from verify.judge import Verdict, combine, judge, mean_and_error, thresholds
from verify.report.record import Evidence
from verify.stream import stream

PILOT = 20
"""Batches that a sampled witness draws at a time."""
MOST_BATCHES = 1 << 14
MOST_CORRECTION = 0.02
"""The largest relative finite-width correction at which an extrapolation is trusted."""
NO_TURN = "the budget ended before its turn"
INTERRUPTED = "interrupted before its turn"

Progress = Callable[[int, int, str], None]


@dataclass
class Clock:
    """The time of a run, counted from `started` (of `time.perf_counter`)."""

    budget: float
    started: float

    @property
    def left(self) -> float:
        """Seconds of the budget that are left."""
        return self.budget - (time.perf_counter() - self.started)


@dataclass
class ExactRun:
    """A witness without chance, at work."""

    witness: Exact
    found: Evidence | None = None

    def work(self) -> None:
        """Ask it."""
        started = time.perf_counter()
        try:
            judgements = tuple(self.witness.decide())
            note = next((j.note for j in judgements if j.note), "")
            verdict = weakest(judgements)
        except EocError as error:
            judgements, verdict, note = (), Verdict.UNDECIDED, str(error)
        seconds = time.perf_counter() - started
        self.found = Evidence(self.witness.name, verdict, judgements, seconds=seconds, note=note)

    def evidence(self, comparisons: int, reason: str, until: float | None = None) -> Evidence:
        """What it said, or that it was not asked for `reason`."""
        return self.found or Evidence(self.witness.name, Verdict.UNDECIDED, (), note=reason)


@dataclass
class SampledRun:
    """A sampled witness at work: the batch means so far, in the order of their streams."""

    claim: Claim
    witness: Sampled
    index: int
    batches: list[list[float]] = field(default_factory=list)
    corrections: list[list[float]] = field(default_factory=list)
    draws: int = 0
    seconds: float = 0.0
    warning: str = ""
    _spread: float = 0.0
    _seen: int = 0

    def extend(self, seed: int, count: int, device: str) -> None:
        """Draw the next `count` batches."""
        started = time.perf_counter()
        first = len(self.batches)
        draw = self.witness.draw([stream(seed, self.index, k, device) for k in range(first, first + count)])
        self.batches += draw.values.tolist()
        if draw.correction is not None:
            self.corrections += draw.correction.tolist()
        self.draws += draw.draws * count
        self.warning = self.warning or draw.warning
        self.seconds += time.perf_counter() - started

    def spread(self) -> float:
        """The largest standard deviation of a batch among the points, in units of their scale."""
        import numpy as np

        if len(self.batches) != self._seen:
            scales = np.array([p.scale for p in self.claim.points])
            with np.errstate(all="ignore"):
                spread = (np.std(np.array(self.batches), axis=0, ddof=1) / scales).max(initial=0.0)
            self._spread, self._seen = float(spread) if np.isfinite(spread) else float("inf"), len(self.batches)
        return self._spread

    def resolution(self, comparisons: int) -> float:
        """The relative error that its coarsest point would have shown."""
        if self.warning:
            return float("inf")
        return sum(thresholds(len(self.batches), comparisons)) * self.spread() / len(self.batches) ** 0.5

    def resolves(self, until: float, comparisons: int) -> bool:
        """Whether its coarsest point would have shown a relative error of `until`."""
        return self.resolution(comparisons) <= until

    def evidence(self, comparisons: int, reason: str, until: float | None = None) -> Evidence:
        """The judgement of its batches, or that it had none for `reason`.

        until   judge by confidence sequences, whether the claim is within this relative accuracy
        """
        if not self.batches:
            return Evidence(self.witness.name, Verdict.UNDECIDED, (), note=reason)
        judgements = []
        warning = self.warning or self._large_correction()
        for column, point in zip(zip(*self.batches, strict=True), self.claim.points, strict=True):
            value, radius = float(point.predicted.mid), float(point.predicted.rad)
            given = (column, value, radius + 1e-15 * abs(value), point.scale, comparisons)
            judgements.append(judge(*given, warning) if until is None else judge_within(*given, until, warning))
        verdict = weakest(judgements)
        note = next((j.note for j in judgements if j.note), "")
        return Evidence(
            self.witness.name, verdict, tuple(judgements), len(self.batches), self.draws, self.seconds, note
        )

    def _large_correction(self) -> str:
        """Extrapolation removes the order 1/n; the next is its square, and must stay below the sampling error."""
        for column, point in zip(zip(*self.corrections, strict=True), self.claim.points, strict=False):
            mean, error = mean_and_error(column)
            if abs(mean) - 3 * error > MOST_CORRECTION * point.scale:
                return f"finite-width corrections of {100 * abs(mean) / point.scale:.2g} % are too large to extrapolate"
        return ""


@dataclass
class Entry:
    """A claim with its witnesses at work; `key` names it in reports and checkpoints."""

    check: str
    claim: Claim
    runs: tuple[ExactRun | SampledRun, ...] = ()
    note: str = ""
    refused: bool = False
    key: str = ""

    def decided(self, comparisons: int, until: float | None = None) -> bool:
        """Whether some witness has held or refuted the claim; for `until`, some sampled one if there is any."""
        sampled = [run for run in self.runs if isinstance(run, SampledRun)]
        asked = [run.evidence(comparisons, "", until).verdict for run in (self.runs if until is None else sampled)]
        return any(verdict is not Verdict.UNDECIDED for verdict in asked)

    def verdict(self, comparisons: int) -> Verdict:
        """The verdict so far."""
        if self.refused:
            return Verdict.REFUSED
        return combine([run.evidence(comparisons, "").verdict for run in self.runs])


def weakest(judgements) -> Verdict:
    """The verdict of one witness over several points: every point has to hold."""
    verdicts = [j.verdict for j in judgements]
    for verdict in (Verdict.FAILS, Verdict.UNDECIDED):
        if verdict in verdicts or not verdicts:
            return verdict if verdicts else Verdict.UNDECIDED
    return Verdict.HOLDS
