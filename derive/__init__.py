"""Symbolic-numeric theory of wide random networks: derive it, export it, verify it.

from derive import Activation, expect, theory, Dense
"""

from __future__ import annotations

from typing import Any

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


def _layers() -> dict[str, str]:
    """Layer classes by name, read from the text of the files of their folder, which imports nothing."""
    from pathlib import Path

    found = {}
    for path in sorted((Path(__file__).parent / "layers").glob("*.py")):
        for line in path.read_text().splitlines():
            if line.startswith("LAYER = "):
                found[line.removeprefix("LAYER = ").strip()] = f"derive.layers.{path.stem}"
    return found


_HOMES |= _layers()
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
