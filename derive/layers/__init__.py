"""Layers, one file each; the folder is the registry."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules


def layers() -> dict[str, type]:
    """Every layer class by its name in lower case, read from the files of this folder."""
    found = {}
    for module in iter_modules(__path__):
        layer = getattr(import_module(f"{__name__}.{module.name}"), "LAYER", None)
        if layer is not None:
            found[layer.__name__.lower()] = layer
    return found
