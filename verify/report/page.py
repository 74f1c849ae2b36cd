"""A report as one self-contained HTML page: MathML, inline SVG, no scripts, nothing from the network."""

from __future__ import annotations

from importlib import resources

from derive.records import EocError
from verify.judge import FAMILY_ERROR, Verdict
from verify.report.plots import figures
from verify.report.record import Report, TestedClaim
from verify.report.terminal import MARKS, resolution


def page(report: Report) -> str:
    """The page."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    source = resources.files("verify.report").joinpath("template.html.j2").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(source).render(
        report=report,
        math=lambda latex: Markup(formula(latex)),
        plots=[(caption, Markup(text)) for caption, text in figures(report)],
        rows=[_row(claim) for claim in report.claims],
        banner=_banner(report),
        family_error=f"{FAMILY_ERROR:g}",
        version=dict(report.versions)["eoc"],
    )


def formula(latex: str) -> str:
    """MathML of a formula, or its LaTeX source where the converter does not know a macro in it."""
    from html import escape

    from derive.show.mathml import mathml

    try:
        return mathml(latex)
    except EocError:
        return f"<code>{escape(latex)}</code>"


def _banner(report: Report) -> str:
    counts = report.counts
    if report.passed:
        text = f"Nothing refuted: {counts['HOLDS']} of {len(report.claims)} claims hold"
        return text + (f", {counts['UNDECIDED']} undecided." if counts["UNDECIDED"] else ".")
    return f"{counts['FAILS']} claims refuted, {counts['REFUSED']} without a check."


def _row(claim: TestedClaim) -> dict:
    best = min((e.resolution for e in claim.evidence if e.verdict is not Verdict.UNDECIDED), default=float("inf"))
    return {
        "claim": claim,
        "mark": MARKS[str(claim.verdict)],
        "best": f"{best:.1e}" if 0 < best < float("inf") else "exact" if best == 0 else "",
        "witnesses": [(item, resolution(item)) for item in claim.evidence],
        "points": list(_points(claim)),
        "counterexample": claim.counterexample(),
        "notes": claim.reasons(),
        "open": "; ".join(claim.reasons()) if claim.verdict in (Verdict.UNDECIDED, Verdict.REFUSED) else "",
    }


def _points(claim: TestedClaim):
    for index, point in enumerate(claim.points):
        cells = [
            (item.judgements[index], f"{item.judgements[index].estimate:.10g}", _error(item.judgements[index]))
            if index < len(item.judgements)
            else None
            for item in claim.evidence
        ]
        yield point.label(), point.digits if len(point.digits) < 24 else f"{point.predicted:.17g}", cells


def _error(judgement) -> str:
    return f" ± {judgement.standard_error:.1e}" if judgement.standard_error else ""
