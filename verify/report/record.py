"""The report of a verification: frozen values, with a versioned JSON form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

from derive.records import EocError
from derive.show.files import write
from verify.judge import FAMILY_ERROR, Judgement, Verdict

SCHEMA = "eoc.verification/2"


@dataclass(frozen=True)
class Evidence:
    """What one witness said: a judgement a point, and for sampling how much was drawn."""

    witness: str
    verdict: Verdict
    judgements: tuple[Judgement, ...]
    batches: int = 0
    draws: int = 0
    seconds: float = 0.0
    note: str = ""

    @property
    def resolution(self) -> float:
        """The coarsest resolution among the points."""
        return max((j.resolution for j in self.judgements), default=float("inf"))


@dataclass(frozen=True)
class TestedPoint:
    """A point, its prediction and the scale of errors there."""

    values: tuple[tuple[str, float], ...]
    predicted: float
    radius: float
    scale: float
    digits: str

    def label(self) -> str:
        """The point as text."""
        return ", ".join(f"{name} = {value:g}" for name, value in self.values)


@dataclass(frozen=True)
class TestedClaim:
    """A claim with its verdict and the evidence for it."""

    check: str
    attribute: str
    title: str
    latex: str
    kind: str
    abscissa: str
    verdict: Verdict
    points: tuple[TestedPoint, ...]
    evidence: tuple[Evidence, ...]
    note: str = ""

    def reasons(self) -> tuple[str, ...]:
        """Its note and those of its witnesses; what several of them say stands once, behind their names."""
        said: dict[str, list[str]] = {}
        for item in self.evidence:
            if item.note:
                said.setdefault(" ".join(item.note.split()), []).append(item.witness)
        own = (" ".join(self.note.split()),) if self.note else ()
        return (*own, *(f"{', '.join(names)}: {note}" for note, names in said.items()))

    def counterexample(self) -> str:
        """Where and by how much the claim is wrong; empty if it is not refuted."""
        worst = None
        for item in self.evidence:
            for point, judgement in zip(self.points, item.judgements, strict=False):
                refuted = judgement.verdict is Verdict.FAILS and judgement.deviation < float("inf")
                if refuted and (worst is None or judgement.deviation > worst[2].deviation):
                    worst = (item.witness, point, judgement)
        if worst is None:
            return next((item.note for item in self.evidence if item.verdict is Verdict.FAILS), "")
        witness, point, judgement = worst
        error = f" ± {judgement.standard_error:.2g}" if judgement.standard_error else ""
        return (
            f"at {point.label()}: claimed {point.predicted:.10g}, {witness} {judgement.estimate:.10g}{error}"
            f" (off by {100 * judgement.deviation:.3g} %)"
        )


@dataclass(frozen=True)
class Report:
    """What was claimed, what the evidence says, and everything needed to repeat it.

    passed holds if no claim was refuted and none was left without a check; UNDECIDED claims do not count against it.
    """

    subject: str
    formula: str
    parameters: tuple[tuple[str, str], ...]
    domains: tuple[tuple[str, str], ...]
    claims: tuple[TestedClaim, ...]
    seed: int
    device: str
    dtype: str
    budget: float
    seconds: float
    comparisons: int
    versions: tuple[tuple[str, str], ...]
    interrupted: bool = False
    latex: str = ""
    resolve: float = 1e-3
    until: float | None = None
    source: dict[str, Any] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Nothing refuted, nothing without a check."""
        return not any(claim.verdict in (Verdict.FAILS, Verdict.REFUSED) for claim in self.claims)

    @property
    def undecided(self) -> bool:
        """Whether some claim could not be decided."""
        return any(claim.verdict is Verdict.UNDECIDED for claim in self.claims)

    @property
    def counts(self) -> dict[str, int]:
        """The number of claims with each verdict."""
        return {str(verdict): sum(claim.verdict is verdict for claim in self.claims) for verdict in Verdict}

    @property
    def table(self) -> Any:
        """A table for the terminal (a rich renderable)."""
        from verify.report.terminal import table

        return table(self)

    def to_json(self) -> str:
        """JSON of schema eoc.verification/2 (docs/verification.md); numbers that are not finite become strings."""
        record = {"schema": SCHEMA, "passed": self.passed, "counts": self.counts, "family_error": FAMILY_ERROR}
        return json.dumps({**plain(record), **plain(self)}, indent=1, ensure_ascii=False, allow_nan=False)

    def save(self, path: str | Path) -> Path:
        """Write the report as .html, .json or .xml (JUnit); returns the path."""
        path = Path(path)
        if path.suffix == ".json":
            text = self.to_json() + "\n"
        elif path.suffix in (".html", ".htm"):
            from verify.report.page import page

            text = page(self)
        elif path.suffix == ".xml":
            from verify.report.junit import junit

            text = junit(self)
        else:
            raise EocError(
                f"no report format {path.suffix!r}", where=str(path), instead="a file name in .html, .json or .xml"
            )
        return write(path, text)

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {name}" for name, count in self.counts.items() if count)
        return f"<Report {self.subject}: {counts}; seed {self.seed}, {self.seconds:.1f} s>"


def plain(value: Any) -> Any:
    """A record as dicts, lists, numbers and text; numbers that are not finite become text."""
    if isinstance(value, Verdict):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not abs(value) < float("inf"):
        return str(value)
    return value
