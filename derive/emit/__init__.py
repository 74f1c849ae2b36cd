"""Printers: expressions in, the text of a standalone module out."""

from __future__ import annotations

import importlib

_HOME = {
    "EmittedFunction": "function",
    "Partial": "function",
    "pair_bindings": "function",
    "angle_bindings": "function",
    "emit": "module",
    "load": "loading",
}


def __getattr__(name: str):
    if name in _HOME:
        return getattr(importlib.import_module(f"derive.emit.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
