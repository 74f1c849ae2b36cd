"""Wrong versions of the law of class fractions: that of another drift ratio than the map's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from verify.wrong import WrongTheory

CHANGES: dict[str, Callable[[Any], Any]] = {
    "drift ratio 20 % too large": lambda gamma: gamma * 6 / 5,
    "drift ratio 20 % too small": lambda gamma: gamma * 4 / 5,
    "the correlation for the drift ratio": lambda gamma: gamma / (1 + gamma),
    "the root for the drift ratio": lambda gamma: gamma**0.5,
}


def wrong_laws(theory: Any) -> Iterator[tuple[str, Any]]:
    """(what was changed, the theory with `guessing_bias.classes` at that drift ratio)."""
    bias = theory.guessing_bias
    for name, change in CHANGES.items():
        changed = WrongTheory(bias, "classes", _at(bias.classes, change))
        yield name, WrongTheory(theory, "guessing_bias", changed)


def _at(classes: Callable[..., Any], change: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda gamma, k=2: classes(change(gamma), k)


__all__ = ["wrong_laws"]
