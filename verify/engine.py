"""Runs the checks on a subject: first some evidence for every claim, then more within the budget, then the verdicts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any
from zlib import crc32

from derive.records import EocError
from verify import phases
from verify.checking import Check, Claim, Exact, Uncheckable
from verify.checkpoint import restore, states
from verify.judge import Verdict, combine
from verify.phases import Course
from verify.report.record import Report, TestedClaim, TestedPoint
from verify.subject import Subject
from verify.work import INTERRUPTED, NO_TURN, Clock, Entry, ExactRun, Progress, SampledRun

KEEP_EVERY = 5.0
"""Seconds between checkpoints."""


def run(
    subject: Any,
    checks: Mapping[str, Check],
    *,
    budget: float,
    device: str = "cpu",
    resolve: float = 1e-3,
    until: float | None = None,
    progress: Progress | None = None,
    started: float | None = None,
    known: Mapping[str, Any] | None = None,
    keep: Callable[[Mapping[str, Any]], None] | None = None,
    exactly: Mapping[str, int] | None = None,
    comparisons: int = 1,
) -> Report:
    """Test every claim of the subject.

    budget   seconds for everything from `started` on: deriving the claims, enclosures, emitted code, sampling. Every
             claim gets its first evidence even if that takes longer; all else is done while there is time
    resolve  relative resolution at which a witness draws no more
    until    sample each claim until a confidence sequence has it within this relative accuracy, or refutes it
    started  when the budget began (`time.perf_counter()`); now if not given
    known    evidence of an earlier run (`verify.checkpoint`), from which this one goes on
    keep     called with the evidence so far every few seconds and at the end
    exactly  draw so many batches for each witness and no others, whatever the budget: a report run again
    comparisons   at least so many share the family-wise error: those of a report of which this run is a part
    A keyboard interrupt ends the run with the evidence at hand (`interrupted` is then true).
    """
    clock = Clock(budget, time.perf_counter() if started is None else started)
    entries: list[Entry] = []
    tell = _telling(entries, progress or (lambda done, total, text: None), keep)
    interrupted = False
    try:
        _enumerate(subject, checks, entries, tell)
        restore(entries, known or {})
        comparisons = max(comparisons, sampled_comparisons(entries))
        course = Course(subject.seed, device, clock, comparisons, tell)
        if exactly is not None:
            phases.exactly(entries, course, exactly)
        else:
            phases.first(entries, course)
            phases.others(entries, course)
            phases.more(entries, course, resolve) if until is None else phases.until_decided(entries, course, until)
    except KeyboardInterrupt:
        interrupted = True
    if keep is not None:
        keep(states(entries))
    comparisons = max(comparisons, sampled_comparisons(entries))
    reason = INTERRUPTED if interrupted else NO_TURN
    claims = tuple(_tested(entry, comparisons, reason, until) for entry in entries)
    claims += tuple(_refused(subject, checks, interrupted))
    seconds = time.perf_counter() - clock.started
    return subject.report(claims, device, budget, seconds, comparisons, interrupted, resolve, until)


def _telling(entries: list[Entry], tell: Progress, keep: Callable[[Mapping[str, Any]], None] | None) -> Progress:
    """Progress with the verdicts so far, and a checkpoint every KEEP_EVERY seconds."""
    last = time.monotonic()

    def telling(done: int, total: int, text: str) -> None:
        nonlocal last
        tell(done, total, text)
        if keep is not None and entries and time.monotonic() - last > KEEP_EVERY:
            keep(states(entries))
            last = time.monotonic()

    return telling


def _sampled(entries: list[Entry]) -> list[SampledRun]:
    return [item for entry in entries for item in entry.runs if isinstance(item, SampledRun)]


def sampled_comparisons(entries: list[Entry]) -> int:
    """How many comparisons with samples the claims make."""
    return max(1, sum(len(item.claim.points) for item in _sampled(entries)))


def _enumerate(subject: Subject, checks: Mapping[str, Check], entries: list[Entry], tell: Progress) -> None:
    for position, (name, check) in enumerate(checks.items()):
        index = crc32(name.encode()) << 8  # a check's streams do not depend on which others there are
        tell(position, len(checks), f"deriving what {name.replace('_', ' ')} tests")
        try:
            for number, claim in enumerate(check.claims(subject)):
                runs: list[ExactRun | SampledRun] = []
                for witness in claim.witnesses:
                    if isinstance(witness, Exact):
                        runs.append(ExactRun(witness))
                    else:
                        runs.append(SampledRun(claim, witness, index))
                        index += 1
                entries.append(Entry(name, claim, tuple(runs), claim.note, key=f"{name}/{number}"))
        except Uncheckable as error:
            names = check.covers or (name,)
            claims = (Claim(one, one.replace("_", " "), "", "", (), ()) for one in names)
            entries += [Entry(name, claim, note=str(error), refused=True) for claim in claims]
        except EocError as error:
            claim = Claim(", ".join(check.covers), f"{name.replace('_', ' ')}: not answered", "", "UNKNOWN", (), ())
            entries.append(Entry(name, claim, note=str(error)))


def _tested(entry: Entry, comparisons: int, reason: str, until: float | None) -> TestedClaim:
    claim = entry.claim
    points = tuple(_point(p) for p in claim.points)
    evidence = tuple(item.evidence(comparisons, reason, until) for item in entry.runs)
    verdict = Verdict.REFUSED if entry.refused else combine([item.verdict for item in evidence])
    return TestedClaim(
        entry.check, claim.attribute, claim.title, claim.latex, claim.kind, claim.abscissa, verdict, points,
        evidence, entry.note,
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
