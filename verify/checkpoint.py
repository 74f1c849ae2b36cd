"""The evidence of an unfinished run as JSON: batch means and judgements, from which a later run goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from derive.records import EocError
from verify.judge import Judgement, Verdict
from verify.report.record import Evidence, plain

if TYPE_CHECKING:
    from verify.tested import Tested
    from verify.work import Entry, ExactRun, SampledRun

SCHEMA = "eoc.checkpoint/1"
DRAWN = ("batches", "corrections", "draws", "seconds", "warning")


def keyed(entry: Entry) -> Iterator[tuple[str, ExactRun | SampledRun]]:
    """The witnesses of a claim under names that are the same in every run."""
    for number, item in enumerate(entry.runs):
        yield f"{entry.key}/{number} {item.witness.name}", item


def states(entries: Sequence[Entry]) -> dict[str, Any]:
    """What each witness has found so far, as plain values."""
    found: dict[str, Any] = {}
    for entry in entries:
        for key, item in keyed(entry):
            if hasattr(item, "batches"):
                found[key] = {name: getattr(item, name) for name in DRAWN} if item.batches else None
            else:
                found[key] = None if item.found is None else plain(item.found)
    return {key: state for key, state in found.items() if state is not None}


def restore(entries: Sequence[Entry], known: Mapping[str, Any]) -> None:
    """Put earlier evidence where it came from."""
    for entry in entries:
        for key, item in keyed(entry):
            state = known.get(key)
            if state is None:
                continue
            if hasattr(item, "batches"):
                for name in DRAWN:
                    setattr(item, name, state[name])
            else:
                item.found = evidence(state)


def evidence(state: Mapping[str, Any]) -> Evidence:
    """An Evidence from its plain values."""
    judgements = tuple(Judgement(**{**j, **_numbers(j), "verdict": Verdict(j["verdict"])}) for j in state["judgements"])
    return Evidence(**{**state, "verdict": Verdict(state["verdict"]), "judgements": judgements})


def _numbers(judgement: Mapping[str, Any]) -> dict[str, float]:
    return {n: float(judgement[n]) for n in ("estimate", "standard_error", "deviation", "resolution")}


def question(subject: Tested) -> dict[str, Any]:
    """What a checkpoint belongs to: a run goes on only from its own."""
    from importlib.metadata import version

    parameters = {name: str(value) for name, value in subject.parameters.items()}
    return {"source": dict(subject.source), "seed": subject.seed, "parameters": parameters, "eoc": version("eoc")}


def write_checkpoint(path: str, subject: Tested, found: Mapping[str, Any]) -> None:
    """Write a checkpoint; a file that was there stays whole until the new one is."""
    record = plain({"schema": SCHEMA, "question": question(subject), "witnesses": dict(found)})
    fresh = Path(path + ".part")
    fresh.write_text(json.dumps(record), encoding="utf-8")
    fresh.replace(path)


def read_checkpoint(path: str, subject: Tested) -> dict[str, Any]:
    """The evidence in a checkpoint of the same question; raises EocError for another's."""
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise EocError(f"{path} cannot be read", why=str(error)) from None
    if not isinstance(record, dict) or record.get("schema") != SCHEMA:
        raise EocError(f"{path} is no checkpoint", instead=f"a file of schema {SCHEMA}, from --checkpoint")
    if record["question"] != json.loads(json.dumps(plain(question(subject)))):
        raise EocError(
            f"{path} belongs to another run",
            why="its activation, parameters, seed or version of eoc differ",
            instead="the same command, or another --checkpoint",
        )
    return dict(record["witnesses"])
