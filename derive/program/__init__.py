"""Operations, the gate out of SymPy, and evaluation.

Names are loaded when they are first asked for. The table of operations is
`derive.program.registry.operations()` (the folder `operations` bears that name here).
"""

from __future__ import annotations

import importlib

_HOME = {
    "by_head": "registry",
    "by_spelling": "registry",
    "freeze": "gate",
    "plan": "evaluate",
    "run_balls": "evaluate",
    "run_mp": "evaluate",
    "Program": "program",
    "Instruction": "program",
    "Builder": "program",
    "stabilise": "passes",
    "fold": "passes",
    "protect": "passes",
}


def __getattr__(name: str):
    if name in _HOME:
        return getattr(importlib.import_module(f"derive.program.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
