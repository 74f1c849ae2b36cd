"""Writes docs/reference/entries.md: what is in every registry, from the files themselves.

python scripts/reference.py [--check]
"""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "reference" / "entries.md"

HEAD = """# What there is

Written by `scripts/reference.py` from the files themselves; each row is one file of the folder named above it.
"""


def modules(package: str):
    """The modules of a registry in alphabetical order; names with a leading underscore are helpers."""
    folder = ROOT / package.replace(".", "/")
    for path in sorted(folder.glob("*.py")):
        if not path.stem.startswith("_"):
            yield path.stem, importlib.import_module(f"{package}.{path.stem}")


def first_line(thing) -> str:
    return (inspect.getdoc(thing) or "").partition("\n")[0].replace("|", "\\|")


def activations():
    """Catalogue entries: name, aliases, formula."""
    from derive.catalogue import entry, names

    for name in names():
        found = entry(name)
        formula = found.formula.replace("|", "\\|")
        who = f"{found.source.authors.split(',')[0]} {found.source.year}"
        source = f"[{who}]({found.source.url})" if found.source.url else who
        yield name, f"{found.title}: `{formula}` ({source})"


def operations():
    """Functions of formulas: name and spellings."""
    from derive.program.registry import operations

    for name, operation in operations().items():
        typed = ", ".join(f"`{spelling}`" for spelling in operation.spellings) or "internal"
        yield name, typed


def rules():
    """Rules of the calculus in the order in which they are tried: name, statement, source."""
    from derive.gaussian.rules import rules

    for rule in rules():
        yield rule.name, f"${rule.statement}$ ({rule.source})".replace("\n", " ").replace("|", "\\vert ")


def described(package: str, entry: str):
    """Rows of a registry whose files say in their first line what they are."""
    for name, module in modules(package):
        if hasattr(module, entry):
            yield name, first_line(getattr(module, entry)) if entry == "LAYER" else first_line(module)


SECTIONS = (
    ("Activations", "derive/catalogue", activations),
    ("Functions in formulas", "derive/program/operations", operations),
    ("Rules of the calculus", "derive/gaussian/rules", rules),
    ("Layers", "derive/layers", lambda: described("derive.layers", "LAYER")),
    ("Backends", "derive/emit/backends", lambda: described("derive.emit.backends", "BACKEND")),
    ("Checks of `verify`", "verify/checks", lambda: described("verify.checks", "CHECK")),
    ("Laws of weights that `verify` draws", "verify/weights", lambda: described("verify.weights", "LAW")),
    ("Commands", "derive/commands", lambda: described("derive.commands", "COMMAND")),
    ("Commands that need torch", "verify/commands", lambda: described("verify.commands", "COMMAND")),
)


def text() -> str:
    """The whole page."""
    parts = [HEAD]
    for title, folder, rows in SECTIONS:
        table = "\n".join(f"| {name} | {what} |" for name, what in rows())
        parts.append(f"## {title}\n\n`{folder}/`\n\n| name | what |\n|---|---|\n{table}\n")
    return "\n".join(parts)


def main() -> int:
    page = text()
    if "--check" in sys.argv[1:]:
        return 0 if TARGET.exists() and TARGET.read_text() == page else 1
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
