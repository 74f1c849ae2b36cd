"""`eoc phase`: what becomes of signals, gradients and correlations over a rectangle of (σ_w, σ_b)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import click

from derive.commands._ask import Asked
from derive.commands._figures import dumped, numbers_given, picture_path, positive, read_range
from derive.commands._text import TextCommand, common_options, text_argument, value_options

EPILOG = """Examples:

\b
  eoc phase tanh --plot tanh.pdf
  eoc phase silu --q0 0.1 --report silu.html
  eoc phase leaky_relu --set a=0.2 --sigma-w 0.5:2 --json
"""


@click.command("phase", cls=TextCommand, epilog=EPILOG)
@text_argument
@value_options
@click.option("--sigma-w", default="0.5:3", metavar="A:B", show_default=True, callback=read_range, help="Range of σ_w.")
@click.option("--sigma-b", default="0:1", metavar="A:B", show_default=True, callback=read_range, help="Range of σ_b.")
@click.option("--n", default=200, metavar="N", show_default=True, help="Points along each side.")
@click.option("--q0", default="1", metavar="Q", show_default=True, callback=positive, help="Starting variance.")
@click.option("--plot", metavar="FILE", help="Draw the diagram (.svg, .pdf, .png).")
@click.option("--report", metavar="FILE", help="Write an HTML page for offline reading.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, every node's values included.")
@common_options
def COMMAND(
    text: str,
    values: Any,
    domains: Any,
    sigma_w: tuple[float, float],
    sigma_b: tuple[float, float],
    n: int,
    q0: Fraction,
    plot: str | None,
    report: str | None,
    as_json: bool,
    quiet: bool,
    no_cache: bool,
) -> None:
    """The phases of a deep stack over a rectangle of (σ_w, σ_b), with its edge of chaos.

    At each node: the fixed points of the variance and the one that attracts the starting variance, the gradient
    gain χ there, the correlation that two inputs approach, and the depth scales.
    """
    picture_path(plot)
    asked = Asked(text, values, domains, not no_cache)
    numbers_given(asked)
    from derive.show.phase import phase_diagram
    from derive.show.phase_summary import phase_document

    diagram = phase_diagram(asked.theory, sigma_w, sigma_b, n, float(q0), title=asked.question.name or text)
    question = {"text": asked.text, "set": asked.shown_values, "domains": asked.shown_domains}
    document = phase_document(diagram, question, arrays=as_json)
    if plot:
        diagram.plot(plot)
    if report:
        _write_report(report, diagram, document)
    if as_json:
        click.echo(dumped(document))
        return
    if not quiet:
        _print(document)
        for path in filter(None, (plot, report)):
            click.echo(f"wrote {path}", err=True)


def _edge_cells(row: dict[str, Any]) -> list[str]:
    stable = {True: "yes", False: "no", None: "every q is a fixed point"}[row["stable"]]
    q = "any" if row["q"] is None else f"{row['q']:.6g}"
    return [q, f"{row['sigma_w']:.6g}", f"{row['sigma_b']:.6g}", stable]


HEAD = ("q*", "σ_w", "σ_b", "q* stable")


def _print(document: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    from derive.show import terminal
    from derive.show.phase_summary import phase_rows

    out = terminal.console()
    (w0, w1), (b0, b1) = document["sigma_w"], document["sigma_b"]
    out.print(Text(f"{document['title']}   σ_w {w0:g} to {w1:g}, σ_b {b0:g} to {b1:g}", style="bold"))
    shares = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    for row in phase_rows(document):
        shares.add_row(*row)
    out.print(shares)
    if document["edge"]:
        table = Table(*HEAD, box=None, padding=(0, 2, 0, 0), title="edge of chaos", title_justify="left")
        for row in document["edge"]:
            table.add_row(*_edge_cells(row))
        out.print(table)
    for note in document["notes"]:
        out.print(Text(f"note: {note}", style="yellow"))


def _write_report(path: str, diagram: Any, document: dict[str, Any]) -> None:
    from derive.show.files import write
    from derive.show.phase_summary import page, phase_rows
    from derive.show.plots import svg

    tables: list[Any] = [("Shares of the rectangle", ("", "", "share"), phase_rows(document))]
    if document["edge"]:
        tables.append(("Edge of chaos", HEAD, [_edge_cells(row) for row in document["edge"]]))
    note = f"σ_w² is the variance of weights times fan-in, σ_b that of biases is σ_b². Kind: {document['kind']}."
    write(path, page(f"Phase diagram: {document['title']}", note, tables, [svg(diagram.plot())]))
