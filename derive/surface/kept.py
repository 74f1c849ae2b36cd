"""Emitted text kept on disk by what it is the text of: asked again, in any process, nothing is derived."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from sympy import srepr

from derive import cache


def kept_text(result: Any, backend: str, box: Any, write: Callable[[], str]) -> str:
    """The text of a result for a backend: from disk, else written and stored.

    The question is the result's content (its expression with all assumptions, arguments, domains, title and notes) and
    the versions and files of this package. Entries are written whole under their own name, so that processes may ask
    at once. Warns where the folder cannot be written.
    """
    question = {
        "text": backend,
        "box": repr(box),
        "template": srepr(result.template),
        "arguments": list(result.arguments),
        "domains": [[name, str(domain)] for name, domain in result.domains],
        "title": result.title,
        "notes": list(result.notes),
    }

    def tell(error: OSError) -> None:
        warnings.warn(f"emitted code is not kept: {error}", stacklevel=4)

    return cache.recall(question, write, tell)
