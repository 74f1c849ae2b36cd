"""The phases of a run: first evidence for every claim, every other witness once, then more where it helps most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from verify.checkpoint import keyed
from verify.plan import batches, choose, forecast
from verify.work import MOST_BATCHES, PILOT, Clock, Entry, ExactRun, Progress, SampledRun

TURNS = 10.0
"""Seconds of budget from which on every cheap witness gets its turn."""


@dataclass(frozen=True)
class Course:
    """What the phases of one run share."""

    seed: int
    device: str
    clock: Clock
    comparisons: int
    tell: Progress

    def ask(self, item: ExactRun | SampledRun) -> None:
        """A witness's first evidence."""
        if isinstance(item, ExactRun):
            item.work()
        else:
            item.extend(self.seed, PILOT, self.device)


def first(entries: Sequence[Entry], course: Course) -> None:
    """One witness after another for every claim until one decides it: whatever the budget, but for networks."""
    for position, entry in enumerate(entries):
        for place, item in enumerate(entry.runs):
            late = place > 0 and course.clock.left <= 0 and _cost(item) > 1
            if late or entry.decided(course.comparisons):
                break
            if _fresh(item):
                course.tell(position, len(entries), f"{item.witness.name}: {entry.claim.title}")
                course.ask(item)
        course.tell(position + 1, len(entries), f"{entry.verdict(course.comparisons)} {entry.claim.title}")


def others(entries: Sequence[Entry], course: Course) -> None:
    """Every other witness once, in the order of cost: samples, enclosures and code, networks of many layers.

    Samples and single layers cost two seconds in all, and a report stands on them: with a budget of TURNS or more they
    are asked even where a busy machine has spent it already.
    """
    left = [(_cost(item), i, entry, item) for i, entry in enumerate(entries) for item in entry.runs if _fresh(item)]
    left.sort(key=lambda work: work[:2])
    for position, (cost, _, entry, item) in enumerate(left):
        if course.clock.left <= 0 and (cost > 0 or course.clock.budget < TURNS):
            return
        course.tell(position, len(left), f"{item.witness.name}: {entry.claim.title}")
        course.ask(item)


def more(entries: Sequence[Entry], course: Course, until: float) -> None:
    """Draw further where it helps most (`verify.plan`), until every witness resolves `until` or the budget ends."""
    home = {r.index: entry for entry in entries for r in _drawn(entry)}
    live = [r for entry in entries for r in _drawn(entry)]
    decided = {index: entry.decided(course.comparisons) for index, entry in home.items()}
    sharp = {id(home[r.index]) for r in live if r.resolves(until, course.comparisons)}
    count = len(live)
    while True:
        live = [r for r in live if not (_spent(r) or r.resolves(until, course.comparisons))]
        resolved = {r.index: id(home[r.index]) in sharp for r in live}
        item = choose(live, decided, resolved, until, course.comparisons, course.clock.left)
        if item is None:
            return
        entry = home[item.index]
        course.tell(count - len(live), count, f"{item.witness.name}: {item.claim.title}")
        item.extend(course.seed, batches(item, until, course.comparisons), course.device)
        if not decided[item.index] and entry.decided(course.comparisons):
            decided |= {r.index: True for r in _drawn(entry)}
        if item.resolves(until, course.comparisons):
            sharp.add(id(entry))


def until_decided(entries: Sequence[Entry], course: Course, accuracy: float) -> None:
    """For each claim in turn the witness that gets there first, until its confidence sequences decide."""
    waiting = [entry for entry in entries if not entry.decided(course.comparisons, accuracy)]
    count = len(waiting)
    while waiting:
        for entry in list(waiting):
            runs = [r for r in _drawn(entry) if not _spent(r)]
            if not runs:
                waiting.remove(entry)
                continue
            item = min(runs, key=lambda r: (forecast(r, accuracy, course.comparisons), r.seconds))
            if item.seconds / len(item.batches) * PILOT > course.clock.left:
                return
            course.tell(count - len(waiting), count, f"{item.witness.name}: {entry.claim.title}")
            item.extend(course.seed, batches(item, accuracy, course.comparisons), course.device)
            if entry.decided(course.comparisons, accuracy):
                waiting.remove(entry)


def exactly(entries: Sequence[Entry], course: Course, counts: Mapping[str, int]) -> None:
    """The witnesses that have a count, each with as many batches (1 for one without chance)."""
    for position, entry in enumerate(entries):
        for key, item in keyed(entry):
            wanted = counts.get(key, 0)
            course.tell(position, len(entries), f"{item.witness.name}: {entry.claim.title}")
            if isinstance(item, SampledRun):
                while len(item.batches) < wanted:
                    item.extend(course.seed, min(PILOT, wanted - len(item.batches)), course.device)
            elif wanted:
                item.work()


def _drawn(entry: Entry) -> list[SampledRun]:
    return [run for run in entry.runs if isinstance(run, SampledRun) and run.batches]


def _spent(run: SampledRun) -> bool:
    """Whether more batches would be of no use, or are too many."""
    return bool(run.warning) or len(run.batches) >= MOST_BATCHES


def _fresh(item: ExactRun | SampledRun) -> bool:
    return item.found is None if isinstance(item, ExactRun) else not item.batches


def _cost(item: ExactRun | SampledRun) -> int:
    return 1 if isinstance(item, ExactRun) else 2 if item.witness.costly else 0
