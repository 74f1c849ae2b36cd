"""`eoc list`: the catalogue of activations."""

from __future__ import annotations

import re
from typing import Any

import click


@click.command("list", epilog="Example: eoc list --json")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-q", "quiet", is_flag=True, help="Print the names only.")
@click.option("--no-cache", is_flag=True, help="Accepted everywhere; the list is read from the catalogue anyway.")
def COMMAND(as_json: bool, quiet: bool, no_cache: bool) -> None:
    """The activations known by name: formula, parameters, PyTorch counterpart, source."""
    from derive import catalogue

    rows = [_row(catalogue.entry(name)) for name in catalogue.names()]
    if as_json:
        import json

        import derive

        document = {"schema": "eoc.list/1", "version": derive.__version__, "activations": rows}
        click.echo(json.dumps(document, ensure_ascii=False, indent=1))
    elif quiet:
        click.echo("\n".join(row["name"] for row in rows))
    else:
        _print(rows)


def _row(entry: Any) -> dict[str, Any]:
    torch = None
    if entry.torch is not None and (entry.torch.module or entry.torch.function):
        torch = f"nn.{entry.torch.module}" if entry.torch.module else entry.torch.function
        fixed = ", ".join(f"{name}={value!r}" for name, value in entry.torch.fixed.items())
        torch += f"({fixed})" if fixed else ""
    source = entry.source
    return {
        "name": entry.name,
        "title": entry.title,
        "aliases": list(entry.aliases),
        "formula": entry.formula,
        "variables": list(entry.variables),
        "parameters": [{"name": p.name, "default": p.default, "domain": p.domain} for p in entry.parameters],
        "family": entry.family,
        "torch": torch,
        "source": {"title": source.title, "authors": source.authors, "year": source.year, "url": source.url},
    }


def _print(rows: list[dict[str, Any]]) -> None:
    from rich.table import Table

    from derive.show.terminal import console

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("name", no_wrap=True)
    table.add_column("also", overflow="fold", style="dim")
    table.add_column("formula", overflow="fold", ratio=3)
    table.add_column("parameters", overflow="fold")
    table.add_column("torch", overflow="fold")
    table.add_column("source", overflow="fold", style="dim", ratio=1)
    for row in rows:
        parameters = "\n".join(f"{p['name']} in {p['domain']}, usually {p['default']}" for p in row["parameters"])
        source = row["source"]
        first = re.split(r",| and ", source["authors"])[0]
        cited = f"{re.sub(r'^([A-Z][.]-?[ ]?)+', '', first)} {source['year']}" if first else source["title"]
        table.add_row(row["name"], ", ".join(row["aliases"]), row["formula"], parameters, row["torch"] or "", cited)
    console(narrowest=180).print(table)
