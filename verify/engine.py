"""Runs the checks on a subject: first some evidence for every claim, then more within the budget, then the verdicts."""

from __future__ import annotations

import time
from collections.abc import Mapping

from derive.records import EocError
from verify.checking import Check, Claim, Exact, Uncheckable
from verify.judge import Verdict, combine
from verify.plan import batches, choose, forecast
from verify.report.record import Report, TestedClaim, TestedPoint
from verify.subject import Subject
from verify.work import INTERRUPTED, MOST_BATCHES, NO_TURN, PILOT, Clock, Entry, ExactRun, Progress, SampledRun


def run(
    subject: Subject,
    checks: Mapping[str, Check],
    *,
    budget: float,
    device: str = "cpu",
    resolve: float = 1e-3,
    until: float | None = None,
    progress: Progress | None = None,
    started: float | None = None,
) -> Report:
    """Test every claim of the subject.

    budget   seconds for everything from `started` on: deriving the claims, enclosures, emitted code, sampling. Every
             claim gets its first evidence even if that takes longer; all else is done while there is time
    resolve  relative resolution at which a witness draws no more
    until    sample each claim until a confidence sequence has it within this relative accuracy, or refutes it
    started  when the budget began (`time.perf_counter()`); now if not given
    A keyboard interrupt ends the run with the evidence at hand (`interrupted` is then true).
    """
    clock = Clock(budget, time.perf_counter() if started is None else started)
    tell = progress or (lambda done, total, text: None)
    entries: list[Entry] = []
    interrupted = False
    try:
        _enumerate(subject, checks, entries, tell)
        _first(entries, subject.seed, device, tell)
        _others(entries, subject.seed, device, clock, tell)
        if until is None:
            _more(entries, subject.seed, device, clock, resolve, tell)
        else:
            until_decided(entries, subject.seed, device, clock, until, tell)
    except KeyboardInterrupt:
        interrupted = True
    comparisons = _comparisons(entries)
    reason = INTERRUPTED if interrupted else NO_TURN
    claims = tuple(_tested(entry, comparisons, reason, until) for entry in entries)
    claims += tuple(_refused(subject, checks, interrupted))
    seconds = time.perf_counter() - clock.started
    return subject.report(claims, device, budget, seconds, comparisons, interrupted)


def _sampled(entries: list[Entry]) -> list[SampledRun]:
    return [item for entry in entries for item in entry.runs if isinstance(item, SampledRun)]


def _comparisons(entries: list[Entry]) -> int:
    return max(1, sum(len(item.claim.points) for item in _sampled(entries)))


def _enumerate(subject: Subject, checks: Mapping[str, Check], entries: list[Entry], tell: Progress) -> None:
    index = 0
    for position, (name, check) in enumerate(checks.items()):
        tell(position, len(checks), f"deriving what {name.replace('_', ' ')} tests")
        try:
            for claim in check.claims(subject):
                runs: list[ExactRun | SampledRun] = []
                for witness in claim.witnesses:
                    if isinstance(witness, Exact):
                        runs.append(ExactRun(witness))
                    else:
                        runs.append(SampledRun(claim, witness, index))
                        index += 1
                entries.append(Entry(name, claim, tuple(runs), claim.note))
        except Uncheckable as error:
            names = check.covers or (name,)
            claims = (Claim(one, one.replace("_", " "), "", "", (), ()) for one in names)
            entries += [Entry(name, claim, note=str(error), refused=True) for claim in claims]
        except EocError as error:
            claim = Claim(", ".join(check.covers), f"{name.replace('_', ' ')}: not answered", "", "UNKNOWN", (), ())
            entries.append(Entry(name, claim, note=str(error)))


def _ask(item: ExactRun | SampledRun, seed: int, device: str) -> None:
    if isinstance(item, ExactRun):
        item.work()
    else:
        item.extend(seed, PILOT, device)


def _first(entries: list[Entry], seed: int, device: str, tell: Progress) -> None:
    """One witness after another for every claim until one of them decides it: whatever the budget."""
    comparisons = _comparisons(entries)
    for position, entry in enumerate(entries):
        for item in entry.runs:
            tell(position, len(entries), f"{item.witness.name}: {entry.claim.title}")
            _ask(item, seed, device)
            if entry.decided(comparisons):
                break


def _others(entries: list[Entry], seed: int, device: str, clock: Clock, tell: Progress) -> None:
    """Every other witness once, in the order of cost: sampling, enclosures and code, networks."""
    left = [(_cost(item), i, entry, item) for i, entry in enumerate(entries) for item in entry.runs if _fresh(item)]
    left.sort(key=lambda work: work[:2])
    for position, (_, _, entry, item) in enumerate(left):
        if clock.left <= 0:
            return
        tell(position, len(left), f"{item.witness.name}: {entry.claim.title}")
        _ask(item, seed, device)


def _fresh(item: ExactRun | SampledRun) -> bool:
    return item.found is None if isinstance(item, ExactRun) else not item.batches


def _cost(item: ExactRun | SampledRun) -> int:
    return 1 if isinstance(item, ExactRun) else 2 if item.witness.costly else 0


def _more(entries: list[Entry], seed: int, device: str, clock: Clock, until: float, tell: Progress) -> None:
    """Draw further where it helps most (`verify.plan`), until every witness resolves `until` or the budget ends."""
    comparisons = _comparisons(entries)
    home = {r.index: entry for entry in entries for r in entry.runs if isinstance(r, SampledRun) and r.batches}
    live = [r for entry in entries for r in entry.runs if isinstance(r, SampledRun) and r.batches]
    decided = {index: entry.decided(comparisons) for index, entry in home.items()}
    sharp = {id(home[r.index]) for r in live if r.resolves(until, comparisons)}
    count = len(live)
    while True:
        live = [r for r in live if not (r.warning or len(r.batches) >= MOST_BATCHES or r.resolves(until, comparisons))]
        resolved = {r.index: id(home[r.index]) in sharp for r in live}
        item = choose(live, decided, resolved, until, comparisons, clock.left)
        if item is None:
            return
        tell(count - len(live), count, f"{item.witness.name}: {item.claim.title}")
        item.extend(seed, batches(item, until, comparisons), device)
        for r in live:
            if home[r.index] is home[item.index] and not decided[r.index]:
                decided[r.index] = home[item.index].decided(comparisons)
        if item.resolves(until, comparisons):
            sharp.add(id(home[item.index]))


def until_decided(entries: list[Entry], seed: int, device: str, clock: Clock, accuracy: float, tell: Progress) -> None:
    """For each claim in turn the witness that gets there first, until its confidence sequences decide."""
    comparisons = _comparisons(entries)
    open_ = [entry for entry in entries if not entry.decided(comparisons, accuracy)]
    count = len(open_)
    while open_:
        for entry in list(open_):
            runs = [r for r in entry.runs if isinstance(r, SampledRun) and r.batches and not r.warning]
            runs = [r for r in runs if len(r.batches) < MOST_BATCHES]
            if not runs:
                open_.remove(entry)
                continue
            item = min(runs, key=lambda r: (forecast(r, accuracy, comparisons), r.seconds))
            if item.seconds / len(item.batches) * PILOT > clock.left:
                return
            tell(count - len(open_), count, f"{item.witness.name}: {entry.claim.title}")
            item.extend(seed, batches(item, accuracy, comparisons), device)
            if entry.decided(comparisons, accuracy):
                open_.remove(entry)


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
