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


def stated_parts(body: Body, name: str) -> list[str]:
    """The function on arrays of one shape under this name, after the derivatives it states."""
    names = ", ".join((*body.arguments, *body.parameters))
    plain = f"{name}_value" if body.partials else name
    written = [partial for _, partial in body.partials if not partial.inline]
    parts = [part for partial in written for part in stated_parts(partial, partial.name)]
    parts.append(indented(f"def {plain}({names}):", "", [*body.lines, f"return _result({body.value}, {names})"]))
    if body.partials:
        used = [(place, f"lambda {names}: {p.value}" if p.inline else p.name) for place, p in body.partials]
        table = ", ".join(f"{place}: {text}" for place, text in used)
        quoted = ", ".join(f'"{text}"' for text in (*body.arguments, *body.parameters))
        parts.append(f"{name} = _differentiable({plain}, {{{table}}}, ({quoted},))")
    return parts
