"""What the commands with pictures share: ranges, theories of several texts, files."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import click

from derive.commands._ask import Asked
from derive.commands._text import exact
from derive.records import EocError


def read_range(ctx: click.Context, parameter: click.Parameter, text: str) -> tuple[float, float]:
    """`0.5:3` as two ascending numbers. Raises EocError."""
    first, colon, last = text.partition(":")
    option = f"--{(parameter.name or '').replace('_', '-')}"
    if not colon:
        raise EocError(f"{text!r} is no range", instead=f"{option} 0.5:3")
    ends = exact(first, f"{option} {text}"), exact(last, f"{option} {text}")
    if not 0 <= ends[0] < ends[1]:
        raise EocError(f"{text!r} is no range", why="it wants two ascending numbers >= 0", instead=f"{option} 0.5:3")
    return float(ends[0]), float(ends[1])


def positive(ctx: click.Context, parameter: click.Parameter, text: str) -> Fraction:
    """A positive number. Raises EocError."""
    value = exact(text, f"--{parameter.name} {text}")
    if value <= 0:
        raise EocError(f"{parameter.name} = {text} is no variance", instead=f"--{parameter.name} 1")
    return value


def numbers_given(asked: Asked) -> None:
    """Refuse free parameters: a picture needs a number for each."""
    free = [name for name, _ in asked.theory.domains]
    if free:
        raise EocError(
            f"no value for {', '.join(free)}", why="a picture needs a number for each parameter",
            instead=f"--set {free[0]}=0.5",
        )  # fmt: skip


def picture_path(path: str | None) -> None:
    """Refuse a suffix that is no picture's before anything is computed."""
    if path is not None and not path.lower().endswith((".svg", ".pdf", ".png")):
        raise EocError(f"{path} has no suffix of a picture", instead="a name that ends in .svg, .pdf or .png")


def dumped(document: Any) -> str:
    """Indented JSON."""
    import json

    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False)
