"""Laws of weights other than the Gaussian; one file each, which defines LAW."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from derive.layers.weights import WeightLaw

Shape = tuple[int, int, int]


@dataclass(frozen=True)
class Law:
    """A law that weights are drawn from, in its natural size, and what the theory states about it.

    name     for the reader
    stated   fan-in n of a square layer -> the theory's law, of which `second` is E W^2
    draw     (generator, (networks, n, n), dtype) -> matrices of that law
    """

    name: str
    stated: Callable[[int], WeightLaw]
    draw: Callable[[torch.Generator, Shape, Any], torch.Tensor]

    def weights(self, generator: torch.Generator, networks: int, n: int, dtype: Any) -> torch.Tensor:
        """(networks, n, n) weights divided by sqrt(n E W^2), E W^2 as the theory states it: sigma_w = 1."""
        return self.draw(generator, (networks, n, n), dtype) / float(n * self.stated(n).second) ** 0.5


def laws() -> dict[str, Law]:
    """The laws, one a file of `verify/weights`."""
    import pkgutil
    from importlib import import_module

    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {name: import_module(f"{__name__}.{name}").LAW for name in names}
