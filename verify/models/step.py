"""What every step of a read model has, and the registry of the operations that are read."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from types import MappingProxyType
from typing import Any, ClassVar

from verify.models.state import State


@dataclass(frozen=True, kw_only=True)
class Step:
    """One operation on the signal.

    name    of the node in the graph
    module  path of the module that does it ("" for the model itself)
    inputs  names of the steps it takes, first the stream
    shape   of its output
    """

    name: str
    module: str
    inputs: tuple[str, ...]
    shape: tuple[int, ...]
    title: ClassVar[str] = ""

    @property
    def label(self) -> str:
        """What a table calls it."""
        return self.title or type(self).__name__.lower()

    @property
    def places(self) -> int:
        """Positions of one input: all axes but the first and that of the features."""
        feature = getattr(self, "feature", len(self.shape) - 1 if len(self.shape) == 3 else 1)
        return prod(n for axis, n in enumerate(self.shape) if axis not in (0, feature))

    def plain(self, tensor: Any) -> Any:
        """The tensor behind the step in the step's shape: a row of positions or heads is taken apart again."""
        return tensor.reshape(self.shape)

    def forward(self, states: Sequence[State]) -> State:
        """The law of the output from those of the inputs. Raises EocError where it is not known."""
        raise NotImplementedError

    def back(self, states: Sequence[State], gradient: Any) -> list[Any]:
        """Squared gradients at each input, summed over features: (P,), or (DRAWS, P) where they differ by feature.

        gradient  the same at the output. Rests on backward weights being independent of forward ones.
        """
        raise NotImplementedError

    def spread(self, states: Sequence[State]) -> float:
        """What the step adds to the variance of the logarithm of a squared gradient norm; NaN where not known."""
        return 0.0


def averaged(gradient: Any) -> Any:
    """The gradient as a mean over features: what weights see, which mix them."""
    return gradient.mean(0) if gradient.ndim > 1 else gradient


@cache
def operations() -> Mapping[str, Callable[[Any, Any], Any]]:
    """Every operation that is read, by torch's name for it: a function (reader, node) -> Step."""
    from verify.models import steps

    found: dict[str, Callable[[Any, Any], Any]] = {}
    for module in sorted(pkgutil.iter_modules(steps.__path__), key=lambda info: info.name):
        found.update(importlib.import_module(f"{steps.__name__}.{module.name}").OPERATIONS)
    return MappingProxyType(found)
