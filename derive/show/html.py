"""A document as one self-contained HTML page: MathML, inline SVG, no scripts, nothing from the network."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from derive.show import latex, mathml, plots
from derive.show.conventions import BLOCK_CONVENTIONS, CONVENTIONS, KINDS, functions_used
from derive.show.files import write
from derive.show.names import symbol_name
from derive.show.proof import numbered
from derive.show.text import with_math


def report(document: Mapping[str, Any]) -> str:
    """The page. The document's fields `proofs` and `curves` are shown where they are there.

    Raises EocError where a formula cannot be shown as MathML.
    """
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    source = resources.files("derive.show").joinpath("template.html.j2").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    figures = plots.report_figures(document.get("curves", {}))
    texts = [line for result in document["results"] for line in latex.all_lines(result)]
    kinds = dict.fromkeys(result["kind"] for result in document["results"])
    return environment.from_string(source).render(
        document=document,
        symbol_name=symbol_name,
        math=lambda text: Markup(mathml.mathml(text)),
        mixed=lambda text: Markup(mathml.mixed(text)),
        plots=[(caption, Markup(plots.svg(figure))) for caption, figure in figures],
        notes=list(dict.fromkeys([*document["activation"]["notes"], *document["notes"]])),
        conventions=[*(BLOCK_CONVENTIONS if document["block"] else CONVENTIONS), *functions_used(texts)],
        title=latex.title_of(document),
        edge_reason=with_math(document["edge"]["reason"]),
        kinds=[(kind, KINDS[kind]) for kind in kinds],
        proofs=[{**entry, "steps": list(numbered(entry["steps"]))} for entry in document.get("proofs", ())],
        sources=latex.sources(document),
    )


def write_report(theory: Any, path: str | Path) -> Path:
    """Write a theory's report, with derivations and plots."""
    from derive.show.curves import curves
    from derive.show.document import document, proofs

    made = {**document(theory), "proofs": proofs(theory), "curves": curves(theory)}
    return write(path, report(made))
