"""The rules of the calculus, one file each; this folder is the registry."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from derive.gaussian.rule import Rule


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule, in the order in which they are tried."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    found = [importlib.import_module(f"{__name__}.{name}").RULE for name in names]
    return tuple(sorted(found, key=lambda rule: rule.order))


__all__ = ["rules"]
