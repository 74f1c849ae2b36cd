"""What torch's operations compute, as formula text: one file a family, read lazily.

Each file defines FORMULAS, a table `operation: (arguments, formula)`. The arguments are the operation's own, in
order, with their defaults ("x slope=0.01").
Overloads (`.Scalar`, `.Tensor`) and in-place forms (`relu_`) share the entry of their name.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType


@cache
def formulas() -> Mapping[str, tuple[str, str]]:
    """Every operation that is read: its arguments and its formula."""
    found: dict[str, tuple[str, str]] = {}
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda info: info.name):
        found.update(importlib.import_module(f"{__name__}.{module.name}").FORMULAS)
    return MappingProxyType(found)
