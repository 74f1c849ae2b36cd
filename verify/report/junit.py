"""A report as JUnit-like XML, which servers of continuous integration show: one test case a claim."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from verify.judge import Verdict
from verify.report.record import Report, TestedClaim


def junit(report: Report) -> str:
    """<testsuites><testsuite> with a <testcase> a claim: FAILS is a failure, REFUSED an error, UNDECIDED skipped."""
    counts = report.counts
    numbers = {
        "tests": str(len(report.claims)),
        "failures": str(counts["FAILS"]),
        "errors": str(counts["REFUSED"]),
        "skipped": str(counts["UNDECIDED"]),
        "time": f"{report.seconds:.3f}",
    }
    top = Element("testsuites", numbers)
    suite = SubElement(top, "testsuite", {"name": f"eoc verify {_text(report.subject)}", **numbers})
    properties = SubElement(suite, "properties")
    known = {"seed": report.seed, "device": report.device, "dtype": report.dtype, **dict(report.parameters)}
    for name, value in (*known.items(), *report.versions):
        SubElement(properties, "property", {"name": _text(str(name)), "value": _text(str(value))})
    for claim in report.claims:
        _case(suite, claim)
    indent(top)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(top, encoding="unicode") + "\n"


def _case(suite: Element, claim: TestedClaim) -> None:
    seconds = sum(item.seconds for item in claim.evidence)
    about = {
        "classname": f"eoc.{claim.check or 'without a check'}",
        "name": _text(claim.title),
        "time": f"{seconds:.3f}",
    }
    case = SubElement(suite, "testcase", about)
    note = _text("; ".join(claim.reasons()))
    if claim.verdict is Verdict.FAILS:
        SubElement(case, "failure", {"message": _text(claim.counterexample())}).text = note
    elif claim.verdict is Verdict.REFUSED:
        SubElement(case, "error", {"message": note})
    elif claim.verdict is Verdict.UNDECIDED:
        SubElement(case, "skipped", {"message": note})
    seen = [f"{item.witness}: {item.verdict}, sees {item.resolution:.2g}" for item in claim.evidence if item.judgements]
    SubElement(case, "system-out").text = _text("\n".join(seen))


def _text(text: str) -> str:
    """Text without the control characters that XML cannot hold."""
    return "".join(c for c in text if c in "\t\n" or ord(c) >= 32)
