"""A report run again: the same claims and points, witness for witness as many batches, and what came out otherwise."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from derive.records import EocError
from verify.report.record import SCHEMA, Report, plain


@dataclass(frozen=True)
class Repetition:
    """A report that was run again.

    report     the new one
    seed       of the old one; with the same seed every number has to come out again
    numbers    judgements that both hold
    different  (claim, witness, old number, new number) for those that differ
    versions   (package, old version, new version) where they differ
    """

    report: Report
    seed: int
    numbers: int
    different: tuple[tuple[str, str, float, float], ...]
    versions: tuple[tuple[str, str, str], ...]

    @property
    def summary(self) -> str:
        """One line on what came out."""
        if self.report.seed != self.seed:
            return f"the claims of the report with seed {self.report.seed} in place of {self.seed}"
        same = f"{self.numbers - len(self.different)} of {self.numbers} numbers came out again to the last digit"
        changed = ", ".join(f"{name} {old} is now {new}" for name, old, new in self.versions)
        return same + (f" ({changed})" if changed else "")


def read_report(path: str | Path) -> dict[str, Any]:
    """The record of a report written as JSON. Raises EocError for another file or schema."""
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise EocError(f"{path} cannot be read", why=str(error)) from None
    schema = record.get("schema") if isinstance(record, dict) else None
    if schema != SCHEMA:
        raise EocError(
            f"{path} is no report that can be run again", why=f"its schema is {schema}", instead=f"schema {SCHEMA}"
        )
    return dict(record)


def again(
    path: str | Path,
    seed: int | None = None,
    device: str | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> Repetition:
    """Run a report again from its JSON file: the same claims, parameters and counts of batches.

    seed     of points and samples; the report's own if not given, and then the same numbers come out on a machine of
             the same device class with the same versions and threads
    device   as in `verify`; the report's own if not given
    Raises EocError for a file that is no report, or one of an object of Python.
    """
    from verify import chosen_device
    from verify.engine import run
    from verify.source import subject_of

    old = read_report(path)
    subject, checks = subject_of(old["source"], old["seed"] if seed is None else seed, dict(old["parameters"]))
    report = run(
        subject,
        checks,
        budget=float(old["budget"]),
        device=chosen_device(device or old["device"]),
        resolve=old["resolve"],
        until=old["until"],
        progress=progress,
        exactly=counts(old),
    )
    return _compared(old, report)


def counts(record: Mapping[str, Any]) -> dict[str, int]:
    """Batches of every witness of a report, 1 for one without chance that was asked; by the keys of checkpoints."""
    found: dict[str, int] = {}
    numbers: dict[str, int] = {}
    for claim in record["claims"]:
        number = numbers.get(claim["check"], 0)
        numbers[claim["check"]] = number + 1
        for position, item in enumerate(claim["evidence"]):
            key = f"{claim['check']}/{number}/{position} {item['witness']}"
            found[key] = item["batches"] or int(bool(item["judgements"]))
    return found


def _compared(old: Mapping[str, Any], report: Report) -> Repetition:
    before, after = _numbers(old), _numbers(plain(report))
    both = [key for key in before if key in after]
    different = tuple(
        (key[0], key[2], float(before[key]), float(after[key])) for key in both if before[key] != after[key]
    )
    was = dict(map(tuple, old["versions"]))
    changed = tuple((name, was.get(name, ""), now) for name, now in report.versions if was.get(name) != now)
    return Repetition(report, int(old["seed"]), len(both), different, changed)


def _numbers(record: Mapping[str, Any]) -> dict[tuple[str, int, str, int], Any]:
    return {
        (claim["title"], number, item["witness"], place): judgement["estimate"]
        for number, claim in enumerate(record["claims"])
        for item in claim["evidence"]
        for place, judgement in enumerate(item["judgements"])
    }
