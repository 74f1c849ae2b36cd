"""A document as a compact summary for terminals."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from derive.show.conventions import functions_named
from derive.show.text import greek

KIND_STYLES = {
    "EXACT": "green",
    "SPECIAL": "green",
    "SERIES": "cyan",
    "INTEGRAL": "cyan",
    "ENCLOSURE": "cyan",
    "ESTIMATE": "yellow",
    "DIVERGENT": "yellow",
    "UNKNOWN": "red",
}
LONGEST = 320
"""Formulas with more letters than this are not printed in the summary."""

SHORT = 24
"""Characters of a reason that stands in a table; longer ones that several cells share stand below it."""


def console(stderr: bool = False, narrowest: int = 120) -> Console:
    """A console that respects NO_COLOR and does not wrap formulas at 80 columns in a pipe."""
    made = Console(stderr=stderr, highlight=False, soft_wrap=False)
    return made if made.is_terminal else Piped(stderr=stderr, highlight=False, width=max(made.width, narrowest))


class Piped(Console):
    """A console for pipes and files: lines do not end in the blanks that fill a table's cells."""

    def print(self, *objects: Any, **options: Any) -> None:
        """As of Console."""
        with self.capture() as held:
            super().print(*objects, **options)
        text = re.sub(r"[ \t]+$", "", held.get(), flags=re.MULTILINE)
        super().print(text, end="", markup=False, emoji=False, highlight=False, soft_wrap=True)


def summary(document: Mapping[str, Any]) -> RenderableType:
    """Facts of the activation, results with their kinds, certified values, notes."""
    parts: list[RenderableType] = [_head(document), _facts(document), Text(), _results(document)]
    parts += _edge(document)
    if document["values"]:
        parts += [Text(), _values(document)]
    elif document["activation"]["parameters"]:
        names = ", ".join(item["name"] for item in document["activation"]["parameters"])
        parts += [Text(), Text(f"values at q = 1 need numbers: --set {names.split(',')[0]}=...", style="dim")]
    parts += [
        Text(meaning, style="dim") for meaning in functions_named([result["unicode"] for result in document["results"]])
    ]
    parts += [Text(f"note: {note}", style="yellow") for note in _notes(document)]
    return Group(*parts)


def _head(document: Mapping[str, Any]) -> Text:
    block = document["block"]
    if block is not None:
        text = Text(block["text"], style="bold")
        for function in block["functions"]:
            text.append(
                f"\n{function['title'] + '   ' if function['title'] else ''}φ(x) = {function['formula']['unicode']}"
            )
        return text
    activation = document["activation"]
    text = Text()
    if activation["title"] != activation["text"]:
        text.append(f"{activation['title']}   ", style="bold")
    return text.append(f"φ(x) = {activation['formula']['unicode']}", style="bold")


def _facts(document: Mapping[str, Any]) -> Text:
    activation = document["activation"]
    alone = document["block"] is None or len(document["block"]["functions"]) == 1
    rows = [f"{fact['name']}: {fact['text']}" for fact in activation["facts"]] if alone else []
    rows += [f"parameter {item['name']} in {item['domain']}" for item in activation["parameters"]]
    return Text(" · ".join(rows), style="dim")


def _results(document: Mapping[str, Any]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for result in document["results"]:
        kind = Text(result["kind"], style=KIND_STYLES.get(result["kind"], ""))
        table.add_row(Text(result["symbol"]["unicode"]), kind, _formula_text(result))
    return table


def _formula_text(result: Mapping[str, Any]) -> Text:
    text = result["unicode"]
    if len(text) > LONGEST:
        how = "--latex FILE, --code BACKEND or --json - show it"
        return Text(f"a formula of {result['operations']} operations ({how})", style="dim")
    shown = Text(text)
    for condition in result["conditions"]:
        shown.append(f"\nprovided {condition}", style="dim")
    return shown


def _edge(document: Mapping[str, Any]) -> list[RenderableType]:
    edge = document["edge"]
    curve = ", a curve with the variance q as parameter" if edge["formulas"] else ""
    rows: list[RenderableType] = [Text(), Text(f"edge of chaos{curve}", style="bold")]
    if edge["formulas"]:
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for item in edge["formulas"]:
            table.add_row(item["symbol"]["unicode"], _formula_text({**item, "conditions": []}))
        for end in edge["limits"]:
            table.add_row(end["symbol"]["unicode"], "; ".join(filter(None, (end["unicode"], end["remark"]))))
        rows.append(table)
    if edge["reason"]:
        rows.append(Text(greek(edge["reason"])))
    return rows


def _values(document: Mapping[str, Any]) -> RenderableType:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    missing = [row["text"] for row in document["values"] if row["value"] is None]
    shared = [text for text in dict.fromkeys(missing) if missing.count(text) > 1 and len(text) > SHORT]
    for row in document["values"]:
        table.add_row(row["title"], row["symbol"]["unicode"], "no number" if row["text"] in shared else row["text"])
    at = document["values_at"].replace("$", "")
    reasons = [Text(f"no number: {text}") for text in shared]
    return Group(Text(f"values at {at} (certified digits)", style="bold"), Padding(table, 0), *reasons)


def _notes(document: Mapping[str, Any]) -> list[str]:
    blockers = dict.fromkeys(blocker for result in document["results"] for blocker in result["blockers"])
    found = [*document["activation"]["notes"], *document["notes"]]
    if blockers:
        shown = "; ".join(list(blockers)[:4])
        kept = "those formulas keep an expectation E[...]"
        if document["values"] and all(row["value"] is not None for row in document["values"]):
            kept += ", numbers are certified all the same"
        found.append(f"no closed form where no rule takes {shown}; {kept}")
    return list(dict.fromkeys(note.replace("$", "") for note in found))


def proof_text(document: Mapping[str, Any]) -> str:
    """The derivations as plain text."""
    from derive.show.proof import plain_text

    blocks = [f"{item['title']}\n{plain_text(item['steps'])}" for item in document["proofs"]]
    return "\n\n".join(blocks) if blocks else "nothing was derived in closed form: there are no steps to show"


def unanswered(document: Mapping[str, Any]) -> str:
    """Why a theory without free parameters has no closed form and no number at all; empty where it has some."""
    rows = document["values"]
    closed = any(result["kind"] not in ("INTEGRAL", "UNKNOWN") for result in document["results"])
    return rows[0]["text"] if rows and not closed and all(row["value"] is None for row in rows) else ""
