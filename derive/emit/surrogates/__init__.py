"""What an emitted module needs to compute pair expectations of smooth functions fast: one file a backend."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

Part = tuple[int, int, int]


@dataclass(frozen=True)
class Level:
    """The numbers of a surrogate for variances up to `top`; the rest of it is computed where the module is loaded.

    top     the largest variance
    step    of the trapezoidal rule for z in f(sqrt(q) z)
    parts   for even and for odd degrees: (Hermite terms, Chebyshev terms in c, rank over the variances)
    sides   1 where f and g are odd, or both even: values at z > 0 are enough; else 2
    """

    top: float
    step: float
    parts: tuple[Part, Part]
    sides: int

    @property
    def text(self) -> str:
        """The level as source text."""
        return repr((self.top, self.step, self.parts, self.sides))


@cache
def surrogates() -> Mapping[str, str]:
    """The source of each backend that has one, read from the folder (files that start with _ are shared text).

    It defines `_surrogate(key, f, g, levels, otherwise, q1, q2, c)` and `_moment(f, levels, otherwise, q)`;
    `otherwise` is what computes the value beyond the last level, None for NaN there.
    """
    found = {}
    for module in pkgutil.iter_modules(__path__):
        if module.name.startswith("_"):
            continue
        found[module.name] = importlib.import_module(f"{__name__}.{module.name}").SURROGATE.strip("\n")
    return MappingProxyType(found)


__all__ = ["Level", "Part", "surrogates"]
