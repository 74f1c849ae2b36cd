"""A run with what surrounds it: workers that share the claims, and a checkpoint that a later run goes on from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from derive.records import EocError
from verify.checkpoint import read_checkpoint, write_checkpoint
from verify.engine import run
from verify.report.record import Report


def whole(
    subject: Any,
    checks: Mapping[str, Any],
    *,
    executor: str | None = None,
    checkpoint: str | None = None,
    resume: bool = False,
    **options: Any,
) -> Report:
    """Run the checks here, or on the workers of an executor ("processes:4", "dask://HOST:PORT").

    checkpoint   file that holds the evidence so far, written every few seconds and at the end; `resume` goes on from it
    options      of `verify.engine.run`
    Raises EocError for a checkpoint that is there already, or belongs to another run.
    """
    known, keep = _kept(subject, checkpoint, resume)
    if executor is None:
        return run(subject, checks, known=known, keep=keep, **options)
    from verify.executors import check_executor, pool_of
    from verify.spread import spread

    check_executor(executor)
    tell = options.pop("progress", None) or (lambda done, total, what: None)
    asked = {name: options[name] for name in ("budget", "device", "resolve", "until")}
    with pool_of(executor) as (pool, workers):
        found, interrupted = spread(
            subject, tuple(checks), pool, workers, {**asked, "known": known}, tell, keep or (lambda found: None)
        )
    report = run(subject, checks, known=found, exactly={}, **options)
    return replace(report, interrupted=interrupted)


def _kept(subject: Any, checkpoint: str | None, resume: bool) -> tuple[dict[str, Any], Any]:
    """The evidence to start from, and what keeps it."""
    if checkpoint is None:
        if resume:
            raise EocError("nothing to go on from", instead="--checkpoint FILE --resume")
        return {}, None
    if not subject.source:
        raise EocError("an object of Python cannot be recognised later", instead="the text of an activation or block")
    if Path(checkpoint).exists() and not resume:
        raise EocError(f"{checkpoint} is there already", instead="--resume to go on with it, or another --checkpoint")
    if not Path(checkpoint).resolve().parent.is_dir():
        raise EocError(f"the folder of {checkpoint} does not exist")
    known = read_checkpoint(checkpoint, subject) if resume and Path(checkpoint).exists() else {}
    return known, lambda found: write_checkpoint(checkpoint, subject, {**known, **found})
