"""The operations, read from their folder."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from derive.program.operation import Operation


@cache
def operations() -> Mapping[str, Operation]:
    """Every operation by its name: one file of `derive/program/operations` each, in alphabetical order."""
    package = importlib.import_module("derive.program.operations")
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    found = [importlib.import_module(f"{package.__name__}.{name}").OPERATION for name in names]
    return MappingProxyType({operation.name: operation for operation in found})


@cache
def by_spelling() -> Mapping[str, Operation]:
    """Every operation that can be typed, by each of its spellings."""
    return MappingProxyType({text: operation for operation in operations().values() for text in operation.spellings})


@cache
def by_head() -> Mapping[type, Operation]:
    """Every operation that has a SymPy class of its own, by that class."""
    return MappingProxyType({op.head: op for op in operations().values() if op.head is not None})
