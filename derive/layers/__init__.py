"""Layers, one file each; the folder is the registry."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules


def homes() -> dict[str, str]:
    """The module of every layer class by its name, read from the text of the files, which imports nothing."""
    found = {}
    for path in sorted(Path(__file__).parent.glob("*.py")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("LAYER = "):
                found[line.removeprefix("LAYER = ").strip()] = f"{__name__}.{path.stem}"
    return found


def layers() -> dict[str, type]:
    """Every layer class by its name in lower case, read from the files of this folder."""
    found = {}
    for module in iter_modules(__path__):
        layer = getattr(import_module(f"{__name__}.{module.name}"), "LAYER", None)
        if layer is not None:
            found[layer.__name__.lower()] = layer
    return found
