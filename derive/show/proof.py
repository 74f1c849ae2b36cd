"""A derivation (a tree of steps) as data, as LaTeX and as plain text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from derive.show.text import escape, is_citation, slug

if TYPE_CHECKING:
    from sympy import Expr

    from derive.records import Step
    from derive.show.breaking import Lines


def tree(
    step: Step, known: Mapping[Expr, str] | None = None, plain: Mapping[Expr, str] | None = None
) -> dict[str, Any]:
    """A step and its children as JSON values; formulas as LaTeX lines and as text.

    `known` and `plain` name the activation in the question itself; the steps below show what stands for the name.
    """
    from derive.show.breaking import PAGE_WIDTH, broken_sides

    before, after = broken_sides([(step.before, known), (step.after, None)], PAGE_WIDTH - 4)
    return {
        "rule": step.rule,
        "before": _formula(step.before, before, plain),
        "after": _formula(step.after, after, None),
        "condition": step.condition,
        "source": step.source,
        "children": [part for child in step.children for part in _moving(child)],
    }


def _moving(step: Step) -> list[dict[str, Any]]:
    """The step, or its children where it leaves the formula as it reads (a rewriting that print does not show)."""
    made = tree(step)
    return made["children"] if made["before"]["unicode"] == made["after"]["unicode"] else [made]


def _formula(expr: Expr, lines: Lines, plain: Mapping[Expr, str] | None) -> dict[str, Any]:
    from derive.show.unicode_text import unicode_text

    return {
        "lines": list(lines.lines),
        "where": [[name, list(rows)] for name, rows in lines.where],
        "unicode": unicode_text(expr, plain),
    }


def numbered(steps: Iterable[Mapping[str, Any]], prefix: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every step of a forest with its number (1, 1.1, 1.1.1, ...), parents first."""
    for index, step in enumerate(steps, 1):
        number = f"{prefix}{index}"
        yield number, step
        yield from numbered(step["children"], f"{number}.")


def told(steps: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any], str]]:
    """(number, step, earlier): every step once; where it repeats an earlier one, that one's number and no children."""
    first: dict[tuple[str, str], str] = {}
    skipped: tuple[str, ...] = ()
    for number, step in numbered(steps):
        if skipped and number.startswith(skipped):
            continue
        key = step["before"]["unicode"], step["after"]["unicode"]
        earlier = first.setdefault(key, number)
        if earlier == number:
            yield number, step, ""
        else:
            skipped = (f"{number}.",)
            if step["children"]:
                yield number, step, earlier


def sources(steps: Iterable[Mapping[str, Any]]) -> list[str]:
    """The sources that the steps cite, each once."""
    return list(dict.fromkeys(step["source"] for _, step in numbered(steps) if step["source"]))


def plain_text(steps: Iterable[Mapping[str, Any]]) -> str:
    """The derivation as indented text."""
    rows: list[str] = []
    for number, step, earlier in told(steps):
        indent = "  " * number.count(".")
        rows.append(f"{indent}{number} {_title(step['rule'])}")
        if earlier:
            rows[-1] += f", as in {earlier}"
            continue
        rows.append(f"{indent}    {step['before']['unicode']}")
        rows.append(f"{indent}  = {step['after']['unicode']}")
        rows += [f"{indent}    provided {step['condition']}"] if step["condition"] else []
        rows += [f"{indent}    source: {step['source']}"] if step["source"] else []
    return "\n".join(rows)


def latex_text(steps: Iterable[Mapping[str, Any]], statements: Mapping[str, str] | None = None) -> str:
    """The derivation as LaTeX: one numbered paragraph a step, flat (nested lists end at depth four).

    A step that repeats an earlier one refers to it. With `statements` (rule -> identity in LaTeX) each rule is stated
    where it is first used, its source in words; without, sources are cited.
    """
    rows: list[str] = []
    fresh = dict(statements or {})
    for number, step, earlier in told(steps):
        source, rule = step["source"], escape(_title(step["rule"]))
        head = rf"\par\medskip\noindent\textbf{{{number}}}~\emph{{{rule}}}"
        if earlier:
            rows.append(f"{head}, as in {earlier}.")
            continue
        if statements is not None:
            stated = fresh.pop(step["rule"], "")
            rows.append(f"{head}{_provided(step)}{f' ({escape(source)})' if stated and source else ''}.")
            rows += [rf"The rule: ${stated}$."] if stated else []
            rows.append(equation("", step["before"], step["after"]))
            continue
        cite = rf" \cite{{{slug(source)}}}" if is_citation(source) else f" ({escape(source)})" if source else ""
        rows.append(f"{head}{_provided(step)}{cite}.")
        rows.append(equation("", step["before"], step["after"]))
    return "\n".join(rows)


def _provided(step: Mapping[str, Any]) -> str:
    return f", provided {escape(step['condition'])}" if step["condition"] else ""


def equation(left: str, *sides: Mapping[str, Any]) -> str:
    r"""An align* of `left = side = side ...`, each side on its own lines, names explained after `where`."""
    rows: list[str] = []
    for index, side in enumerate(sides):
        first, *rest = side["lines"]
        start = f"{left} ={{}}& " if left and not index else "={}& " if index else "& "
        rows += [start + first, *(rf"&\quad {line}" for line in rest)]
    named = {name: lines for side in sides for name, lines in side["where"]}
    for index, (name, (first, *rest)) in enumerate(named.items()):
        rows.append((r"\text{where}\quad " if not index else "") + f"{name} ={{}}& {first}")
        rows += [rf"&\quad {line}" for line in rest]
    return "\\begin{align*}\n" + " \\\\\n".join(rows) + "\n\\end{align*}"


def proof_latex(steps: Iterable[Step]) -> str:
    """LaTeX of the derivation of a result, rules stated (for a document that loads amsmath and amssymb)."""
    from derive.gaussian.rules import rules

    return latex_text([tree(step) for step in steps], {rule.name: rule.statement for rule in rules()})


def _title(rule: str) -> str:
    return rule.replace("_", " ")
