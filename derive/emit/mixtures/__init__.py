"""What an emitted module needs to sum closed forms over the scales of a mixture: one file a backend."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from derive.emit.quadratures import Quadrature


@cache
def mixtures() -> Mapping[str, Quadrature]:
    """The summation of each backend that has one, read from the folder.

    Its source defines `_single(f, law, given, scales, weights)`, `_double(f, law, given, scales, weights, alike)`
    and `_cast`.
    """
    found = {}
    for module in pkgutil.iter_modules(__path__):
        file = importlib.import_module(f"{__name__}.{module.name}")
        found[module.name] = Quadrature(file.MIXTURE.strip("\n"), file.TYPES, file.UNPACK, module.name)
    return MappingProxyType(found)
