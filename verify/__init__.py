"""Numerical evidence for a theory: every claim, by witnesses that can refute it.

from verify import verify
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verify.diagnosis import diagnose
    from verify.guessing.model import bias
    from verify.initialise import initialise_
    from verify.reading import read
    from verify.repetition import again
    from verify.report.record import Report

__all__ = ["Report", "again", "bias", "claim", "diagnose", "initialise_", "read", "verify"]

HOMES = {
    "again": "verify.repetition",
    "bias": "verify.guessing.model",
    "diagnose": "verify.diagnosis",
    "initialise_": "verify.initialise",
    "read": "verify.reading",
}


def verify(
    theory_or_activation_or_text: Any,
    device: str = "auto",
    budget: str | float | None = None,
    seed: int = 0,
    parameters: Mapping[str, Any] | None = None,
    *,
    resolve: str | float = "0.1%",
    until: str | float | None = None,
    progress: Callable[[int, int, str], None] | None = None,
    executor: str | None = None,
    checkpoint: str | None = None,
    resume: bool = False,
) -> Report:
    """Test everything a theory derives against rigorous enclosures, emitted code, sampling and random networks.

    theory_or_activation_or_text  a Theory, an Activation, or text ("gelu", "x*Phi(x)", "dense >> relu >> maxpool(2)")
    device      "auto" (CUDA where there is one), "cpu" or "cuda"
    budget      time for deriving, enclosures, emitted code and sampling together: seconds, or text such as "30s" or
                "2min". Every claim gets its first evidence even where that takes longer. 60 s if nothing is said, and
                no limit with `until`
    seed        of the test points, the drawn parameters and all sampling; the same seed repeats the same evidence
    parameters  values of the activation's parameters; the others are drawn from their domains
    resolve     relative resolution at which a witness is asked no further: 0.001 or "0.1%"
    until       sample each claim until a confidence sequence has it within this relative accuracy, or refutes it
    progress    called with (done, total, what) while it works
    executor    "processes:4" or "dask://HOST:PORT": workers that share the claims
    checkpoint  file that keeps the evidence so far; `resume` goes on from it

    Returns a Report; a correct theory is refuted with probability below 1e-6. Raises EocError for what cannot be
    verified. Method: docs/verification.md.
    """
    import time

    from verify.checking import checks
    from verify.subject import subject
    from verify.whole import whole

    started = time.perf_counter()
    tested = subject(theory_or_activation_or_text, seed, parameters)
    return whole(
        tested,
        checks(tested.of),
        budget=budget_of(budget, until, "60s"),
        device=chosen_device(device),
        resolve=fraction(resolve),
        until=None if until is None else fraction(until),
        progress=progress,
        started=started,
        executor=executor,
        checkpoint=checkpoint,
        resume=resume,
    )


def claim(
    *texts: str,
    at: Mapping[str, Any] | None = None,
    domains: Mapping[str, Any] | None = None,
    budget: str | float | None = None,
    seed: int = 0,
    device: str = "cpu",
    resolve: str | float = "0.1%",
    until: str | float | None = None,
) -> Report:
    """Test formulas of others, such as "E(relu(x)**2) = q/2", against enclosures and samples of their left sides.

    texts    LAW(...) = FORMULA, with "at q = 1, a = 0.25" behind it where it holds only there; the laws are E, Var, V,
             chi, gain, std_gain, critical_gain (`verify.statements.read_statement`). A decimal on the right is meant to
             half a unit of its last digit, at q = 1 unless something else is said
    at       values for all of them; domains of parameters that stay free
    budget   seconds of sampling behind the enclosures; 10 s if nothing is said, and no limit with `until`
    resolve, until   as in `verify`

    Returns a Report with a claim a text: HOLDS, FAILS with the counter-example and by how much, UNDECIDED.
    Raises FormulaError for what is no statement.
    """
    import time

    import torch

    from verify.engine import run
    from verify.source import statements_source
    from verify.statements import read_statement
    from verify.third_party import Statements

    started = time.perf_counter()
    read = tuple(read_statement(text, at, domains) for text in texts)
    source = statements_source(texts, at or {}, domains or {})
    tested = Statements(read, seed, torch.float64, source=source)
    return run(
        tested,
        tested.checks,
        budget=budget_of(budget, until, "10s"),
        device=chosen_device(device),
        resolve=fraction(resolve),
        until=None if until is None else fraction(until),
        started=started,
    )


def budget_of(budget: str | float | None, until: str | float | None, usual: str) -> float:
    """Seconds of a budget; where none is given the usual one, or no limit for `until`."""
    if budget is not None:
        return seconds(budget)
    return seconds(usual) if until is None else float("inf")


def seconds(budget: str | float) -> float:
    """Seconds of a budget such as 30, "30s", "500ms", "2min" or "1h"."""
    from derive.records import EocError

    units = {"": 1.0, "ms": 1e-3, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}
    match = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-z]*)\s*", str(budget))
    if match is None or match[2] not in units:
        raise EocError(f"{budget!r} is no length of time", instead='"30s", "2min" or a number of seconds')
    return float(match[1]) * units[match[2]]


def fraction(text: str | float) -> float:
    """A relative accuracy such as 0.001 or "0.1%"."""
    from derive.records import EocError

    match = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)(e-?\d+)?\s*(%?)\s*", str(text))
    value = 0.0 if match is None else float(match[1] + (match[2] or "")) * (0.01 if match[3] else 1.0)
    if not 0 < value < 1:
        raise EocError(f"{text!r} is no relative accuracy", instead='"0.1%" or 0.001')
    return value


def chosen_device(device: str) -> str:
    """The torch device of a name; "auto" takes CUDA where there is one."""
    import torch

    from derive.records import EocError

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise EocError("there is no CUDA device", where=device, instead="--device cpu")
    if device not in ("cpu", "cuda"):
        raise EocError(f"no device {device!r}", instead="auto, cpu or cuda")
    return device


def __getattr__(name: str) -> Any:
    if name == "Report":
        from verify.report.record import Report

        return Report
    if name in HOMES:
        from importlib import import_module

        return getattr(import_module(HOMES[name]), name)
    raise AttributeError(f"verify has no {name!r}; it has {', '.join(__all__)}")
