"""Symbolic-numeric theory of wide random networks: derive it, export it, verify it.

from derive import Activation, expect, theory, Dense
"""

from __future__ import annotations

from typing import Any

from derive.layers import homes

__version__ = "0.1.0"

_HOMES = {
    "Activation": "derive.surface.activations",
    "Result": "derive.surface.results",
    "Theory": "derive.surface.blocks",
    "expect": "derive.surface.questions",
    "shape": "derive.surface.shaping",
    "theory": "derive.surface.blocks",
    "Block": "derive.layers.block",
    "Enclosure": "derive.records",
    "EocError": "derive.records",
    "Kind": "derive.records",
}


_HOMES |= homes()
__all__ = [*sorted(_HOMES), "__version__"]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"derive has no {name!r}; built are {', '.join(sorted(_HOMES))}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
