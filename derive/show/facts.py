"""The activation of a document: its formula, its proved facts in words, its parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from derive.show.document import Question


def activation_facts(theory: Any, question: Question) -> dict[str, Any]:
    """The document's field `activation`."""
    from derive.show.document import Names, formula
    from derive.show.unicode_text import unicode_text

    activation = theory.activation
    text = question.formula or unicode_text(activation.phi)
    return {
        "title": question.name or activation.name or text,
        "text": text,
        "formula": formula(activation.phi, Names({}, {})),
        "facts": [list(row) for row in _facts(theory)],
        "parameters": [{"name": name, "domain": str(domain)} for name, domain in theory.domains],
        "notes": list(question.notes),
        "sources": list(question.sources),
    }


def _facts(theory: Any) -> list[tuple[str, str]]:
    from derive.activation.normal_form import normal_form
    from derive.activation.terms import breakpoints
    from derive.show.printer import latex

    activation = theory.activation
    rows = []
    points = breakpoints(normal_form(activation.phi))
    if points:
        rows.append(("breakpoints", ", ".join(f"${latex(point)}$" for point in points)))
    for jump in activation.jumps:
        rows.append(("jump", f"${latex(jump.height)}$ at ${latex(jump.at)}$"))
    if not points:
        rows.append(("breakpoints", "none"))
    return rows
