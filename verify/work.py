"""Claims on their way to a verdict: what is left to do for each, and the batches drawn so far."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from derive.records import EocError
from verify.checking import Claim, Exact, Sampled
from verify.judge import Verdict, judge, mean_and_error, thresholds
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

    def evidence(self, comparisons: int, reason: str) -> Evidence:
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

    def resolves(self, until: float, comparisons: int) -> bool:
        """Whether its coarsest point would have shown a relative error of `until`."""
        if self.warning:
            return False
        quantile, power = thresholds(len(self.batches), comparisons)
        columns = zip(*self.batches, strict=True)
        errors = [mean_and_error(column)[1] for column in columns]
        return until >= max((quantile + power) * e / p.scale for e, p in zip(errors, self.claim.points, strict=True))

    def evidence(self, comparisons: int, reason: str) -> Evidence:
        """The judgement of its batches, or that it had none for `reason`."""
        if not self.batches:
            return Evidence(self.witness.name, Verdict.UNDECIDED, (), note=reason)
        judgements = []
        warning = self.warning or self._large_correction()
        for column, point in zip(zip(*self.batches, strict=True), self.claim.points, strict=True):
            value, radius = float(point.predicted.mid), float(point.predicted.rad)
            judgements.append(judge(column, value, radius + 1e-15 * abs(value), point.scale, comparisons, warning))
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
    """A claim with its witnesses at work."""

    check: str
    claim: Claim
    runs: tuple[ExactRun | SampledRun, ...] = ()
    note: str = ""
    refused: bool = False

    def decided(self, comparisons: int) -> bool:
        """Whether some witness has held or refuted the claim."""
        asked = [run.evidence(comparisons, "").verdict for run in self.runs]
        return any(verdict is not Verdict.UNDECIDED for verdict in asked)


def weakest(judgements) -> Verdict:
    """The verdict of one witness over several points: every point has to hold."""
    verdicts = [j.verdict for j in judgements]
    for verdict in (Verdict.FAILS, Verdict.UNDECIDED):
        if verdict in verdicts or not verdicts:
            return verdict if verdicts else Verdict.UNDECIDED
    return Verdict.HOLDS
