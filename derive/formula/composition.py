"""One activation after another."""

from __future__ import annotations

from derive.formula import nodes
from derive.formula.checks import check
from derive.formula.printer import show_text
from derive.records import Formula, FormulaError


def compose(outer: Formula, inner: Formula) -> Formula:
    """outer(inner(x)). A parameter of the same name is the same parameter; its domains must agree."""
    domains = dict(inner.domains)
    for name, domain in outer.domains:
        if domains.setdefault(name, domain) != domain:
            raise FormulaError(
                f"both formulas have a parameter {name!r}, with the domains {domain} and {domains[name]}",
                why="equal names are one parameter",
                instead=f"rename {name} in one of them",
            )
    tree = nodes.replaced(outer.tree, lambda node: inner.tree if node.value == "x" else None)
    text = show_text(tree)
    check(tree, text)
    title = f"{outer.name}({inner.name})" if outer.name and inner.name else ""
    names = tuple(sorted(domains))
    notes = tuple(dict.fromkeys((*inner.notes, *outer.notes)))
    return Formula(text, tree, names, tuple((name, domains[name]) for name in names), title, notes)
