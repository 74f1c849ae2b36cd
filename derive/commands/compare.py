"""`eoc compare`: several activations side by side."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import click

from derive.commands._ask import Asked
from derive.commands._figures import dumped, numbers_given, picture_path, positive
from derive.commands._text import TextCommand, common_options, value_options
from derive.records import EocError

EPILOG = """Examples:

\b
  eoc compare relu gelu mish --report cmp.html
  eoc compare tanh "x*sigmoid(1.702*x)" --plot cmp.svg
  eoc compare leaky_relu elu --set a=0.1 --set alpha=1 --json
"""


@click.command("compare", cls=TextCommand, epilog=EPILOG)
@click.argument("texts", metavar="TEXT...", nargs=-1, required=True)
@value_options
@click.option("--q", default="1", metavar="Q", show_default=True, callback=positive, help="Variance of the edge.")
@click.option("--plot", metavar="FILE", help="Draw a comparison sheet (.svg, .pdf, .png).")
@click.option("--report", metavar="FILE", help="Write an HTML page for offline reading.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
def COMMAND(
    texts: tuple[str, ...],
    values: Any,
    domains: Any,
    q: Fraction,
    plot: str | None,
    report: str | None,
    as_json: bool,
    quiet: bool,
    no_cache: bool,
) -> None:
    """Gains, edges of chaos, stability, depth scales and classes of several activations.

    Parameters given by --set go to every activation that has them.
    """
    picture_path(plot)
    named = [(text, _asked(text, values, domains, not no_cache)) for text in texts]
    unused = [name for name in values if not any(name in asked.values for _, asked in named)]
    if unused:
        raise EocError(f"none of the activations has a parameter {unused[0]}")
    for _, asked in named:
        numbers_given(asked)
    rows = []
    for name, asked in named:
        rows += asked.recall(f"compare:{q}", partial(_rows, name, asked, q))
    question = {"texts": list(texts), "set": {k: str(v) for k, v in values.items()}, "q": str(q)}
    if plot or report:
        _pictures(named, rows, plot, report, question)
    if as_json:
        import derive

        safe = [{k: "inf" if v == float("inf") else v for k, v in row.items()} for row in rows]
        click.echo(dumped({"eoc": derive.__version__, "question": question, "rows": safe}))
        return
    if quiet and (plot or report):
        return
    _print(rows)


def _rows(name: str, asked: Asked, q: Fraction) -> list[dict[str, Any]]:
    from derive.show.phase_summary import comparison

    return comparison([(name, asked.theory)], q)


def _asked(text: str, values: Any, domains: Any, cache: bool) -> Asked:
    """The question of one text with the parameters that it has."""
    from derive.catalogue import entry
    from derive.formula import read
    from derive.layers.spelling import is_block

    found = entry(text.strip())
    if is_block(text):
        return Asked(text, values, domains, cache)
    own = {p.name for p in found.parameters} if found else set(read(text, domains=None).parameters)
    mine = [{name: v for name, v in given.items() if name in own} for given in (values, domains)]
    return Asked(text, mine[0], mine[1], cache)


def _print(rows: list[dict[str, Any]]) -> None:
    from rich.table import Table

    from derive.show import terminal
    from derive.show.phase_summary import COMPARED, compared_cells

    table = Table(*COMPARED, box=None, padding=(0, 2, 0, 0))
    for row in rows:
        table.add_row(*compared_cells(row))
    terminal.console().print(table)


def _pictures(named: Any, rows: Any, plot: str | None, report: str | None, question: Any) -> None:
    from derive.show.files import write
    from derive.show.phase_plots import save
    from derive.show.phase_sheet import sheet, sheet_data
    from derive.show.phase_summary import COMPARED, compared_cells, page
    from derive.show.plots import svg

    figure = sheet(sheet_data([(name, asked.theory) for name, asked in named]))
    title = "Comparison of " + ", ".join(name for name, _ in named)
    if plot:
        save(figure, plot, title)
    if report:
        note = f"σ_w² is the variance of weights times fan-in. The edge of chaos is that with q* = {question['q']}."
        tables = [("At a glance", COMPARED, [compared_cells(row) for row in rows])]
        write(report, page(title, note, tables, [svg(figure)]))
