"""The claims of a report over many workers: a check a task, its evidence sent back as plain values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from typing import Any

from derive.records import EocError

USUAL = 100
"""Comparisons that workers assume; the report is judged by its own count."""

Keep = Callable[[Mapping[str, Any]], None]


def spread(
    subject: Any,
    names: tuple[str, ...],
    pool: Executor,
    workers: int,
    options: Mapping[str, Any],
    tell: Any,
    keep: Keep,
) -> tuple[dict[str, Any], bool]:
    """The evidence of the checks of those names, and whether an interrupt ended it.

    options   budget (of the whole report), device, resolve, until, known
    keep      called with the evidence so far whenever a check is done
    Batch k of a witness draws from the same stream wherever it runs, so that a report does not depend on the workers.
    """
    if not subject.source:
        raise EocError(
            "an object of Python cannot be sent to workers",
            instead="the text of an activation or block, or no executor",
        )
    share = options["budget"] * workers / max(len(names), 1)
    parameters = {name: str(value) for name, value in subject.parameters.items()}
    task = {**options, "source": dict(subject.source), "seed": subject.seed, "parameters": parameters, "budget": share}
    found: dict[str, Any] = {}
    waiting: dict[Future[dict[str, Any]], str] = {}
    try:
        waiting = {pool.submit(work, {**task, "check": name}): name for name in names}
        while waiting:
            done, _ = wait(waiting, timeout=1.0, return_when=FIRST_COMPLETED)
            for future in done:
                name = waiting.pop(future)
                found |= future.result()
                tell(len(names) - len(waiting), len(names), f"done: {name.replace('_', ' ')}")
                keep(found)
    except KeyboardInterrupt:
        for future in waiting:
            future.cancel()
        return found, True
    return found, False


def work(task: Mapping[str, Any]) -> dict[str, Any]:
    """The evidence of one check; runs in a worker, to which nothing but plain values is sent."""
    import torch

    from verify.engine import run
    from verify.source import subject_of

    torch.set_num_threads(1)
    subject, checks = subject_of(task["source"], task["seed"], task["parameters"])
    found: dict[str, Any] = {}
    options = {name: task[name] for name in ("budget", "device", "resolve", "until", "known")}
    run(subject, {task["check"]: checks[task["check"]]}, comparisons=USUAL, keep=found.update, **options)
    return found
