"""`eoc verify`: numerical evidence for everything derived about an activation or block, or for formulas of others."""

from __future__ import annotations

from os import environ
from typing import Any

import click

from derive.commands._ask import refuse_unreadable
from derive.commands._text import TextCommand, common_options, read_text, value_options
from derive.records import EocError
from verify.commands._progress import progress_on_stderr

EPILOG = """Examples:

\b
  eoc verify gelu
  eoc verify "x*Phi(x)" --budget 30s --report gelu.html
  eoc verify leaky_relu --set a=1/3 --seed 7 --json -
  eoc verify "dense >> relu >> maxpool(2)" --budget 20s
  eoc verify --claim "E(relu(x)**2) = q/2" --claim "gain(selu) = 0.75"
  eoc verify gelu --until 0.05%
  eoc verify --from gelu.json
"""


@click.command("verify", cls=TextCommand, epilog=EPILOG)
@click.argument("text", metavar="[TEXT]", required=False, callback=read_text)
@value_options
@click.option("--claim", "statements", multiple=True, metavar="TEXT", help='Test a formula: "E(relu(x)**2) = q/2".')
@click.option("--claims", "statement_file", metavar="FILE", help="Test the formulas of a TOML file.")
@click.option("--from", "old", metavar="REPORT.json", help="Run a report again; --seed N with other points.")
@click.option("--budget", metavar="TIME", help="Time for everything: 30s, 2min; 60s if nothing is said.")
@click.option("--resolve", default="0.1%", show_default=True, help="A witness that resolves this error is done.")
@click.option("--until", metavar="ACCURACY", help="Sample until every claim is within this accuracy or refuted.")
@click.option("--seed", type=click.IntRange(min=0), help="Seed of points and samples; 0 if nothing is said.")
@click.option("--device", type=click.Choice(("auto", "cpu", "cuda")), help="auto takes CUDA where there is one.")
@click.option("--executor", metavar="processes:N|dask://ADDRESS", help="Workers that share the claims.")
@click.option("--checkpoint", metavar="FILE", help="Keep the evidence so far in this file.")
@click.option("--resume", is_flag=True, help="Go on from the --checkpoint of an earlier run.")
@click.option("--strict", is_flag=True, help="Exit with 1 also if a claim is undecided.")
@click.option("--report", "page", metavar="FILE", help="Write a self-contained HTML report.")
@click.option("--json", "json_file", metavar="FILE|-", help="Write the report as JSON.")
@click.option("--xml", "xml_file", metavar="FILE", help="Write the report as JUnit-like XML.")
@common_options
def COMMAND(text: str | None, values: Any, domains: Any, quiet: bool, no_cache: bool, **wanted: Any) -> int:
    """Test every claim of a theory by witnesses that can refute it.

    Enclosures, emitted code, samples of the formula as typed, and random networks. Exit code 1 if a claim is
    refuted or has no check. Ctrl-C ends with the evidence so far.
    """
    environ.setdefault(
        "OMP_WAIT_POLICY", "PASSIVE"
    )  # threads that spin while they wait double the time of a busy machine
    if wanted["old"]:
        return _again(text, values, quiet, wanted)
    wanted = {**wanted, "seed": wanted["seed"] or 0, "device": wanted["device"] or "auto"}
    if wanted["statements"] or wanted["statement_file"]:
        return _statements(text, values, domains, quiet, wanted)
    if text is None:
        raise EocError("nothing to verify", instead='eoc verify gelu, or eoc verify --claim "E(relu(x)**2) = q/2"')
    subject = _subject(text, domains)
    from verify import verify

    names = ("device", "budget", "seed", "resolve", "until", "executor", "checkpoint", "resume")
    with progress_on_stderr(quiet) as tell:
        report = verify(subject, parameters=values, progress=tell, **{name: wanted[name] for name in names})
    return _finish(report, wanted, quiet)


def _again(text: str | None, values: Any, quiet: bool, wanted: dict[str, Any]) -> int:
    """A report run again, from --from."""
    if text is not None or values or wanted["statements"] or wanted["statement_file"]:
        raise EocError("--from takes what it tests from the report", instead="eoc verify --from REPORT.json --seed 1")
    from verify.repetition import again

    with progress_on_stderr(quiet) as tell:
        found = again(wanted["old"], wanted["seed"], wanted["device"], tell)
    code = _finish(found.report, wanted, quiet)
    if not quiet:
        click.echo(found.summary, err=True)
        for title, witness, old, new in found.different[:5] if found.seed == found.report.seed else ():
            click.echo(f"  {title}, {witness}: {old!r} is now {new!r}", err=True)
    return code


def _finish(report: Any, wanted: dict[str, Any], quiet: bool) -> int:
    """Write the report; the exit code."""
    _write(report, wanted, quiet)
    if report.interrupted:
        return 130
    return int(not report.passed or (wanted["strict"] and report.undecided))


def _statements(text: str | None, values: Any, domains: Any, quiet: bool, wanted: dict[str, Any]) -> int:
    """The formulas of others, from --claim and --claims."""
    if text is not None:
        raise EocError("TEXT and --claim are both given", where=text, instead='eoc verify --claim "E(gelu(x)) = ..."')
    from verify import claim
    from verify.statements import read_file

    texts = (*wanted["statements"], *(read_file(wanted["statement_file"]) if wanted["statement_file"] else ()))
    options = {name: wanted[name] for name in ("budget", "seed", "device", "resolve", "until")}
    return _finish(claim(*texts, at=values, domains=domains, **options), wanted, quiet)


def _subject(text: str, domains: Any) -> Any:
    refuse_unreadable(text, domains)
    from derive import Activation
    from derive.layers.spelling import is_block

    if is_block(text):
        return text
    return Activation(text, domains=domains or None)


def _write(report: Any, wanted: dict[str, Any], quiet: bool) -> None:
    from derive.show.files import write
    from derive.show.terminal import console

    written = []
    if wanted["page"]:
        from verify.report.page import page

        written.append(write(wanted["page"], page(report)))
    if wanted["json_file"] == "-":
        click.echo(report.to_json())
    elif wanted["json_file"]:
        written.append(write(wanted["json_file"], report.to_json() + "\n"))
    if not quiet and wanted["json_file"] != "-":
        console().print(report.table)
    if wanted["xml_file"]:
        from verify.report.junit import junit

        written.append(write(wanted["xml_file"], junit(report)))
    for path in [] if quiet else written:
        click.echo(f"wrote {path}", err=True)
