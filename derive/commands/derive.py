"""`eoc derive`: the theory of an activation or block, with LaTeX, code, JSON and an HTML report."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from derive.commands._ask import Asked, one_owner
from derive.commands._text import TextCommand, common_options, text_argument, value_options
from derive.records import EocError

STAGES = ("tree", "normal-form", "steps", "program")

EPILOG = """Examples:

\b
  eoc derive gelu
  eoc derive "x*tanh(log(1+exp(x)))" --latex mish.tex --code torch=mish.py
  eoc derive "Piecewise((x, x>0), (a*x, True))" --domain a=0:1
  eoc derive "-x*exp(-x**2)" --report report.html
  echo "x*Phi(x)" | eoc derive - --json -
"""


def backend_names() -> tuple[str, ...]:
    """The backends, from the names of their files: nothing is imported for it."""
    from pkgutil import iter_modules

    from derive.emit.backends import __path__

    return tuple(sorted(module.name for module in iter_modules(__path__)))


def _backend(ctx: click.Context, parameter: click.Parameter, items: tuple[str, ...]) -> dict[str, str]:
    chosen = {}
    known = backend_names() if items else ()
    for item in items:
        backend, _, path = item.partition("=")
        if backend not in known:
            raise EocError(f"there is no backend {backend!r}", instead=f"--code {'|'.join(known)}[=FILE]")
        chosen[backend] = path or "-"
    return chosen


@click.command("derive", cls=TextCommand, epilog=EPILOG)
@text_argument
@value_options
@click.option("--latex", "latex_file", metavar="FILE", help="Write a LaTeX document that compiles alone.")
@click.option(
    "--latex-body", metavar="FILE", help="Write its body for a paper of yours, and the sources in eoc.bib beside it."
)
@click.option("--proof", is_flag=True, help="Print the derivations, step by step.")
@click.option(
    "--code",
    multiple=True,
    metavar="numpy|torch|jax|c|mpmath[=FILE]",
    callback=_backend,
    help="Write a standalone module.",
)
@click.option(
    "--box", type=float, metavar="Q", help="Code without closed form: for variances up to Q only, NaN beyond."
)
@click.option("--json", "json_file", metavar="FILE|-", help="Write the document as JSON.")
@click.option("--report", metavar="FILE", help="Write a self-contained HTML report.")
@click.option("--show", type=click.Choice(STAGES), metavar="STAGE", help=f"Print a stage: {', '.join(STAGES)}.")
@common_options
def COMMAND(text: str, values: Any, domains: Any, quiet: bool, no_cache: bool, **wanted: Any) -> int:
    """Derive the theory of an activation or block.

    TEXT is a formula in x, a catalogue name (see `eoc list`) or a block of stages joined by >>; - reads it from
    standard input.
    """
    asked = Asked(text, values, domains, not no_cache)
    one_owner(_owners(wanted))
    if wanted["report"]:
        _demand_report_packages()
    document = asked.base()
    if wanted["proof"] or any(wanted[name] for name in ("latex_file", "latex_body", "report")):
        document["proofs"] = asked.proofs()
    if wanted["code"]:
        document["code"] = {
            backend: _signed(document, backend, asked.code(backend, wanted["box"])) for backend in wanted["code"]
        }
    if wanted["report"]:
        document["curves"] = asked.curves()
    written, printed = _products(document, wanted)
    stage = asked.stage(wanted["show"]) if wanted["show"] else ""
    _print(document, wanted, quiet, printed, stage)
    if not quiet:
        for path in written:
            click.echo(f"wrote {path}", err=True)
    return _answered(document)


def _answered(document: dict[str, Any]) -> int:
    """Exit code 2 where neither a closed form nor a number was found, with the reason."""
    from derive.show.terminal import unanswered

    why = unanswered(document)
    if why:
        click.echo(f"error: no closed form and no number was found\nwhy: {why}", err=True)
    return 2 if why else 0


def _demand_report_packages() -> None:
    """Say that a package is missing before anything is derived."""
    for package in ("jinja2", "latex2mathml", "matplotlib"):
        import_module(package)


def _signed(document: dict[str, Any], backend: str, code: str) -> str:
    """The module under comment lines that say what made it."""
    from derive.show.latex import header

    return f"{header(document, '//' if backend == 'c' else '#')}\n{code}"


def _owners(wanted: dict[str, Any]) -> list[str]:
    """What would be written to standard output besides the summary."""
    if wanted["json_file"] == "-":
        return ["--json -"]
    owners = [f"--code {backend}" for backend, path in wanted["code"].items() if path == "-"]
    owners += [
        f"--{name.removesuffix('_file').replace('_', '-')} -"
        for name in ("latex_file", "latex_body", "report")
        if wanted[name] == "-"
    ]
    return owners


def _products(document: dict[str, Any], wanted: dict[str, Any]) -> tuple[list[str], str]:
    """Write the files; returns their names, and the text that goes to standard output."""
    from pathlib import Path

    from derive.show import latex
    from derive.show.files import write

    texts: list[tuple[str, str]] = []
    if wanted["latex_file"]:
        document["latex"] = latex.page(document)
        texts.append((wanted["latex_file"], document["latex"]))
    if wanted["latex_body"]:
        shared = Path(wanted["latex_body"]).with_name("eoc.bib")
        known = shared.read_text(encoding="utf-8") if wanted["latex_body"] != "-" and shared.exists() else ""
        document["latex_body"], document["bib"] = latex.body(document), latex.bib(document, known)
        texts.append((wanted["latex_body"], document["latex_body"]))
        if wanted["latex_body"] != "-":
            texts.append((str(shared), document["bib"]))
    if wanted["report"]:
        from derive.show import html

        texts.append((wanted["report"], html.report(document)))
    for backend, path in wanted["code"].items():
        texts.append((path, document["code"][backend]))
    if wanted["json_file"]:
        texts.append((wanted["json_file"], _json(document)))
    printed = texts[-1][1] if wanted["json_file"] == "-" else "".join(text for path, text in texts if path == "-")
    written = [path for path, _ in texts if path != "-"]
    for path, text in texts:
        if path != "-":
            write(path, text)
    return written, printed


def _json(document: dict[str, Any]) -> str:
    import json

    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _print(document: dict[str, Any], wanted: dict[str, Any], quiet: bool, printed: str, stage: str) -> None:
    from derive.show import terminal

    if printed:
        click.echo(printed, nl=not printed.endswith("\n"))
    if wanted["json_file"] == "-":
        return
    if not quiet and not stage:
        terminal.console(stderr=bool(printed)).print(terminal.summary(document))
    if wanted["proof"]:
        click.echo("\n" + terminal.proof_text(document), err=bool(printed))
    if stage:
        click.echo(stage, err=bool(printed))
