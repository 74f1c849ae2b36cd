"""Runs the checks on a subject: rigorous evidence first, then sampling within the budget, then the verdicts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from derive.records import EocError
from verify.claim import Check, Claim, Exact, Sampled
from verify.judge import Verdict, combine, judge, mean_and_error, thresholds
from verify.report.record import Evidence, Report, TestedClaim, TestedPoint
from verify.stream import stream
from verify.subject import Subject

PILOT = 32
"""Batches drawn for every sampled witness before the rest of the budget is allotted."""
MOST_BATCHES = 1 << 14
MOST_CORRECTION = 0.02
"""The largest relative finite-width correction at which an extrapolation is trusted."""

Progress = Callable[[int, int, str], None]


@dataclass
class _Entry:
    """A claim on its way to a verdict."""

    check: str
    claim: Claim
    note: str = ""
    evidence: list[Evidence] = field(default_factory=list)


@dataclass
class _Run:
    """A sampled witness at work: the batch means so far, in the order of their streams."""

    entry: _Entry
    witness: Sampled
    index: int
    batches: list[list[float]] = field(default_factory=list)
    corrections: list[list[float]] = field(default_factory=list)
    draws: int = 0
    seconds: float = 0.0
    warning: str = ""

    def extend(self, seed: int, count: int, device: str) -> None:
        started = time.perf_counter()
        first = len(self.batches)
        draw = self.witness.draw([stream(seed, self.index, k, device) for k in range(first, first + count)])
        self.batches += draw.values.tolist()
        if draw.correction is not None:
            self.corrections += draw.correction.tolist()
        self.draws += draw.draws * count
        self.warning = self.warning or draw.warning
        self.seconds += time.perf_counter() - started

    def resolution(self, comparisons: int) -> float:
        quantile, power = thresholds(len(self.batches), comparisons)
        columns = zip(*self.batches, strict=True)
        errors = [mean_and_error(column)[1] for column in columns]
        return max((quantile + power) * e / p.scale for e, p in zip(errors, self.entry.claim.points, strict=True))

    def evidence(self, comparisons: int) -> Evidence:
        judgements = []
        warning = self.warning or self._large_correction()
        for column, point in zip(zip(*self.batches, strict=True), self.entry.claim.points, strict=True):
            value, radius = float(point.predicted.mid), float(point.predicted.rad)
            judgements.append(judge(column, value, radius + 1e-15 * abs(value), point.scale, comparisons, warning))
        verdict = _weakest(judgements)
        note = next((j.note for j in judgements if j.note), "")
        return Evidence(
            self.witness.name, verdict, tuple(judgements), len(self.batches), self.draws, self.seconds, note
        )

    def nothing(self) -> Evidence:
        return Evidence(self.witness.name, Verdict.UNDECIDED, (), note="the budget ended before its turn")

    def _large_correction(self) -> str:
        """Extrapolation removes the order 1/n; the next is its square, and must stay below the sampling error."""
        for column, point in zip(zip(*self.corrections, strict=True), self.entry.claim.points, strict=False):
            mean, error = mean_and_error(column)
            if abs(mean) - 3 * error > MOST_CORRECTION * point.scale:
                return f"finite-width corrections of {100 * abs(mean) / point.scale:.2g} % are too large to extrapolate"
        return ""


def run(
    subject: Subject,
    checks: Mapping[str, Check],
    *,
    budget: float,
    device: str = "cpu",
    until: float = 1e-3,
    progress: Progress | None = None,
) -> Report:
    """Test every claim of the subject.

    budget  seconds of sampling; cheap witnesses draw 32 batches even if that takes longer
    until   relative resolution at which a witness draws no more
    A keyboard interrupt ends the run with the evidence at hand (`interrupted` is then true).
    """
    started = time.perf_counter()
    tell = progress or (lambda done, total, text: None)
    entries: list[_Entry] = []
    runs: list[_Run] = []
    interrupted = False
    try:
        _enumerate(subject, checks, entries, runs, tell)
        _exact(entries, tell)
        comparisons = _comparisons(runs)
        _sample(runs, subject.seed, comparisons, budget, device, until, tell)
    except KeyboardInterrupt:
        interrupted = True
    comparisons = _comparisons(runs)
    for item in runs:
        item.entry.evidence.append(item.evidence(comparisons) if item.batches else item.nothing())
    claims = tuple(_tested(entry) for entry in entries) + tuple(_refused(subject, checks, interrupted))
    seconds = time.perf_counter() - started
    return subject.report(claims, device, budget, seconds, comparisons, interrupted)


def _comparisons(runs: list[_Run]) -> int:
    return max(1, sum(len(item.entry.claim.points) for item in runs))


def _enumerate(subject, checks, entries, runs, tell) -> None:
    for position, (name, check) in enumerate(checks.items()):
        tell(position, len(checks), f"deriving what {name.replace('_', ' ')} tests")
        try:
            for claim in check.claims(subject):
                entry = _Entry(name, claim)
                entries.append(entry)
                for witness in claim.witnesses:
                    if isinstance(witness, Sampled):
                        runs.append(_Run(entry, witness, len(runs)))
        except EocError as error:
            claim = Claim(", ".join(check.covers), f"{name.replace('_', ' ')}: not answered", "", "UNKNOWN", (), ())
            entries.append(_Entry(name, claim, str(error)))


def _exact(entries: list[_Entry], tell: Progress) -> None:
    work = [(entry, w) for entry in entries for w in entry.claim.witnesses if isinstance(w, Exact)]
    for position, (entry, witness) in enumerate(work):
        tell(position, len(work), f"{witness.name}: {entry.claim.title}")
        started = time.perf_counter()
        try:
            judgements = tuple(witness.decide())
            note = next((j.note for j in judgements if j.note), "")
            verdict = _weakest(judgements)
        except EocError as error:
            judgements, verdict, note = (), Verdict.UNDECIDED, str(error)
        seconds = time.perf_counter() - started
        entry.evidence.append(Evidence(witness.name, verdict, judgements, seconds=seconds, note=note))


def _sample(runs, seed, comparisons, budget, device, until, tell) -> None:
    """A pilot for every witness, networks last; then ever again the unresolved one that has had the least time."""
    started = time.perf_counter()
    live = sorted(runs, key=lambda r: (r.witness.costly, len(r.entry.claim.witnesses) > 1))
    for position, item in enumerate(live):
        if item.witness.costly and time.perf_counter() - started > budget:
            break
        tell(position, len(runs), f"{item.witness.name}: {item.entry.claim.title}")
        item.extend(seed, PILOT, device)
    live = [r for r in live if r.batches]
    while True:
        resolved = {id(r.entry) for r in live if r.resolution(comparisons) <= until and not r.warning}
        live = [r for r in live if id(r.entry) not in resolved and not r.warning and len(r.batches) < MOST_BATCHES]
        left = budget - (time.perf_counter() - started)
        fitting = [r for r in live if r.seconds / len(r.batches) * PILOT <= left]
        if not fitting:
            return
        item = min(fitting, key=lambda r: r.seconds)
        tell(len(runs) - len(live), len(runs), f"{item.witness.name}: {item.entry.claim.title}")
        item.extend(seed, PILOT, device)


def _weakest(judgements) -> Verdict:
    """The verdict of one witness over several points: every point has to hold."""
    verdicts = [j.verdict for j in judgements]
    for verdict in (Verdict.FAILS, Verdict.UNDECIDED):
        if verdict in verdicts or not verdicts:
            return verdict if verdicts else Verdict.UNDECIDED
    return Verdict.HOLDS


def _tested(entry: _Entry) -> TestedClaim:
    claim = entry.claim
    points = tuple(_point(p) for p in claim.points)
    verdict = combine([item.verdict for item in entry.evidence])
    return TestedClaim(
        entry.check, claim.attribute, claim.title, claim.latex, claim.kind, claim.abscissa, verdict, points,
        tuple(entry.evidence), entry.note,
    )  # fmt: skip


def _point(point) -> TestedPoint:
    values = tuple((name, float(value)) for name, value in point.values)
    enclosure = point.predicted
    return TestedPoint(values, float(enclosure.mid), float(enclosure.rad), point.scale, str(enclosure))


def _refused(subject: Subject, checks: Mapping[str, Check], interrupted: bool) -> list[TestedClaim]:
    """A claim for everything the theory derived for which no check exists."""
    if interrupted:
        return []
    covered = {attribute for check in checks.values() for attribute in check.covers}
    note = "no check states a claim about this"
    return [
        TestedClaim("", name, name.replace("_", " "), "", "", "", Verdict.REFUSED, (), (), note)
        for name in subject.derived()
        if name not in covered
    ]
