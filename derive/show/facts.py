"""The activation of a document: its formula, its proved facts in words, its parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from derive.show.document import Question


def activation_facts(theory: Any, question: Question) -> dict[str, Any]:
    """The document's field `activation`; of a block without one, its parameters and notes alone."""
    from derive.show.document import Names, formula
    from derive.show.unicode_text import unicode_text
    from derive.show.wording import alone

    activation = theory._first
    if activation is None:
        shown: dict[str, Any] = {"title": question.text, "text": "", "formula": None, "facts": []}
    else:
        text = unicode_text(activation.phi) if not alone(theory) else question.formula or unicode_text(activation.phi)
        name, spelled = question.name or activation.name or text, formula(activation.phi, Names({}, {}))
        shown = {"title": name, "text": text, "formula": spelled, "facts": _facts(theory)}
    return {
        **shown,
        "parameters": [{"name": name, "domain": str(domain)} for name, domain in theory.domains],
        "notes": list(question.notes),
        "sources": list(question.sources),
    }


def block_facts(theory: Any, question: Question) -> dict[str, Any] | None:
    """The document's field `block`: its text and the functions in it; None for one activation behind one Dense."""
    from derive.layers.elementwise import Elementwise
    from derive.layers.nested import every_stage
    from derive.show.document import Names, formula
    from derive.show.wording import alone

    if alone(theory):
        return None
    found = dict.fromkeys(stage for stage in every_stage(theory.block.stages) if isinstance(stage, Elementwise))
    functions = [{"title": stage.name or "", "formula": formula(stage.phi, Names({}, {}))} for stage in found]
    return {"text": question.text, "functions": functions}


def _facts(theory: Any) -> list[dict[str, str]]:
    """Name, text, and text with $mathematics$ for pages; what is not proved is left out."""
    from derive.activation.facts import facts

    found = facts(theory.activation.phi, dict(theory.domains))
    rows = [_row("breakpoints", [("", point, "") for point in found.breakpoints] or "none")]
    rows += [_row("jump", [("by ", jump.height, ""), ("at ", jump.at, "")], " ") for jump in found.jumps]
    rows += [_row("symmetry", found.parity)] if found.parity else []
    rows += [_row("monotone", found.monotone)] if found.monotone else []
    left, right = found.growth_text
    rows.append(_row("growth", f"{left} at −∞, {right} at ∞"))
    rows += [_row("scale-invariant", "yes")] if found.scale_invariant else []
    rows += [_row("not decided", note) for note in found.notes]
    return rows


def _row(name: str, value: str | list[tuple[str, Any, str]], separator: str = ", ") -> dict[str, str]:
    from derive.show.printer import latex
    from derive.show.unicode_text import unicode_text

    if isinstance(value, str):
        return {"name": name, "text": value, "mixed": value.replace("$", "")}
    text = separator.join(f"{before}{unicode_text(expr)}{after}" for before, expr, after in value)
    mixed = separator.join(f"{before}${latex(expr)}${after}" for before, expr, after in value)
    return {"name": name, "text": text, "mixed": mixed}
