"""What an emitted module needs to compute Gaussian expectations without a closed form: one file a backend."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from derive.emit.layout import indented
from derive.emit.zero import above_zero


@dataclass(frozen=True)
class Wrapper:
    """A function whose expectations are computed by quadrature and handed to a closed function of them.

    name, doc      of the function
    law, keywords  its positional and keyword arguments
    lines          what computes each expectation
    inner          the closed function, called with law, the expectations and the keywords
    nodes          names of the expectations
    """

    name: str
    doc: str
    law: tuple[str, ...]
    keywords: tuple[str, ...]
    lines: tuple[str, ...]
    inner: str
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class Quadrature:
    """How a backend computes expectations.

    source   text that defines `_expectation(f, q, breaks)`, `_weighted(f, weight, q, breaks)` for
             E f(sqrt(q) z) weight(z), `_pair(f, g, df, dg, q1, q2, c, breaks)`, `_cast`
    types    annotations of an argument, a keyword and the value
    unpack   the backend's function that makes arrays of one dtype
    backend  its name
    """

    source: str
    types: tuple[str, str, str]
    unpack: str
    backend: str

    def write(self, w: Wrapper) -> str:
        """The source of one wrapper."""
        argument, keyword, value = self.types
        parts = [f"{a}: {argument}" for a in w.law] + (["*"] if w.keywords else [])
        parts += [f"{k}: {keyword}" for k in w.keywords]
        names = ", ".join((*w.law, *w.keywords))
        given = ", ".join((*w.law, *w.nodes, *(f"{k}={k}" for k in w.keywords)))
        comma = "," if len(w.law) + len(w.keywords) == 1 else ""
        dtype = f'dtype = getattr({(*w.law, *w.keywords)[0]}, "dtype", None)'
        lines = [f"{names}{comma} = {self.unpack}({names})", dtype, *above_zero(self.backend, w.law), *w.lines]
        lines.append(f"return _cast({w.inner}({given}), dtype)")
        return indented(f"def {w.name}({', '.join(parts)}) -> {value}:", w.doc, lines)


@cache
def quadratures() -> Mapping[str, Quadrature]:
    """The quadrature of each backend that has one, read from the folder."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        file = importlib.import_module(f"{__name__}.{module.name}")
        found[module.name] = Quadrature(file.QUADRATURE.strip("\n"), file.TYPES, file.UNPACK, module.name)
    return MappingProxyType(found)
