"""A report as a table for terminals."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from verify.judge import Verdict
from verify.report.record import Evidence, Report, TestedClaim

STYLES = {"HOLDS": "green", "FAILS": "bold red", "UNDECIDED": "yellow", "REFUSED": "bold magenta"}
MARKS = {"HOLDS": "✓", "FAILS": "✗", "UNDECIDED": "?", "REFUSED": "–"}


def table(report: Report) -> RenderableType:
    """Claims with verdicts and witnesses, counter-examples below, then how the report can be repeated."""
    grid = Table(box=None, pad_edge=False, header_style="dim")
    for header in ("claim", "kind", "points", "verdict", "witnesses and the error each would have seen"):
        grid.add_column(header, justify="right" if header == "points" else "left", overflow="fold")
    for claim in report.claims:
        name = str(claim.verdict)
        verdict = Text(f"{MARKS[name]} {name}", style=STYLES[name])
        grid.add_row(claim.title, claim.kind, str(len(claim.points) or ""), verdict, _witnesses(claim))
    parts: list[RenderableType] = [_head(report), Text(), grid]
    details = [line for claim in report.claims for line in _details(claim)]
    parts += [Text(), *details] if details else []
    return Group(*parts, Text(), _foot(report))


def _head(report: Report) -> Text:
    text = Text(report.subject, style="bold")
    if report.formula not in report.subject:
        text.append(f"   {report.formula}", style="not bold")
    for name, value in report.parameters:
        text.append(f"   {name} = {value}", style="not bold")
    return text


def _witnesses(claim: TestedClaim) -> Text:
    text = Text()
    groups: dict[tuple[str, Verdict], list[str]] = {}
    for item in claim.evidence:
        groups.setdefault((resolution(item), item.verdict), []).append(item.witness)
    for (sees, verdict), names in groups.items():
        style = "" if verdict is Verdict.HOLDS else STYLES[str(verdict)]
        text.append(("  " if text else "") + ", ".join(names), style=style).append(f" {sees}", style="dim")
    return text


def resolution(item: Evidence) -> str:
    """The smallest relative error that would have been seen, as text."""
    value = item.resolution
    if value == 0:
        return "exact"
    if not value < float("inf"):
        return "no turn" if "turn" in item.note else "no answer"
    return f"{100 * value:.2g} %" if value > 1e-5 else f"{value:.0e}"


def _details(claim: TestedClaim) -> list[Text]:
    if claim.verdict is Verdict.FAILS:
        return [Text.assemble((f"✗ {claim.title}", STYLES["FAILS"]), f"  {claim.counterexample()}")]
    if claim.verdict in (Verdict.UNDECIDED, Verdict.REFUSED):
        mark, line = MARKS[str(claim.verdict)], "; ".join(claim.reasons())
        return [Text.assemble((f"{mark} {claim.title}", STYLES[str(claim.verdict)]), f"  {line}")]
    return []


def _foot(report: Report) -> Text:
    counts = ", ".join(f"{count} {name}" for name, count in report.counts.items() if count)
    state = "interrupted: " if report.interrupted else ""
    text = Text(f"{state}{counts}", style="bold green" if report.passed else "bold red")
    text.append(
        f"   seed {report.seed}, {report.device} {report.dtype}, {report.seconds:.1f} s;"
        f" family-wise error 1e-6 over {report.comparisons} sampled comparisons",
        style="not bold dim",
    )
    return text
