"""Errors that point at the offending character of a formula."""

from __future__ import annotations

from typing import NoReturn

from derive.records import FormulaError

WINDOW = 72


def pointed(text: str, start: int, end: int | None = None) -> str:
    """The line of `text` that holds `start`, at most WINDOW characters of it, with carets under start..end."""
    start = max(0, min(start, len(text)))
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", start)
    line_end = len(text) if line_end < 0 else line_end
    left = max(line_start, start - WINDOW // 2)
    right = min(line_end, left + WINDOW)
    before, after = ("…" if left > line_start else ""), ("…" if right < line_end else "")
    shown = "".join(ch if ch.isprintable() else " " for ch in text[left:right])
    width = max(1, min(end if end is not None else start + 1, right) - start)
    return f"  {before}{shown}{after}\n  {' ' * (len(before) + start - left)}{'^' * width}"


def fail(text: str, span: tuple[int, int], what: str, *, why: str = "", instead: str = "") -> NoReturn:
    """Raise FormulaError(what) with carets under `span` of `text`."""
    raise FormulaError(what, where=pointed(text, *span), why=why, instead=instead)
