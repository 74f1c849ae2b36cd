"""Formula text, SymPy expressions and torch modules to trees, and trees to SymPy and to text.

Names are loaded when they are first asked for: a text can be read and refused before SymPy is there.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOME = {
    "compose": "composition",
    "exact": "intervals",
    "from_sympy": "unbuild",
    "interval": "intervals",
    "read": "reader",
    "read_module": "module",
    "show_text": "printer",
    "to_sympy": "build",
}

__all__ = ["compose", "exact", "from_sympy", "interval", "read", "read_module", "show_text", "to_sympy"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"derive.formula.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
