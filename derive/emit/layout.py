"""The layout of a Python function, shared by backends."""

from __future__ import annotations

import textwrap

from derive.emit.text import Body


def signature(body: Body, argument: str, parameter: str, result: str) -> str:
    """The line `def name(x: T, *, a: T) -> T:`."""
    words = [f"{name}: {argument}" for name in body.arguments]
    if body.parameters:
        words += ["*", *(f"{name}: {parameter}" for name in body.parameters)]
    return f"def {body.name}({', '.join(words)}) -> {result}:"


def indented(head: str, doc: str, lines: list[str]) -> str:
    """A function from its head, docstring and lines."""
    text = [f'"""{doc}"""'] if doc else []
    return "\n".join([head, *(textwrap.indent(line, "    ") for line in (*text, *lines))])
