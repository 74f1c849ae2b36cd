"""Wrong numbers of order 1/n: what the checks of finite width must refute."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from derive.records import Unsupported
from verify.wrong import WrongTheory

CHANGES: dict[str, Callable[[Any], dict[str, Any]]] = {
    "vertex 5 % too large": lambda d: {"vertex": d.vertex * 1.05},
    "vertex half": lambda d: {"vertex": d.vertex / 2},
    "vertex of one layer for that of all": lambda d: {"vertex": d.vertex[1] * (d.vertex != 0)},
    "correction of wrong sign": lambda d: {"correction": -d.correction},
    "correction half": lambda d: {"correction": d.correction / 2},
    "correction dropped": lambda d: {"correction": 0 * d.correction},
    "vertex for correction": lambda d: {"correction": d.vertex},
}
"""What was changed -> the fields of a FiniteDepth that are wrong."""


def wrong_depths(theory: Any, parameters: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """(what was changed, the theory with it), where that makes another number: K1 of a ReLU is 0."""
    try:
        found = theory.finite_width.depth(1, 4, 64, "1.3", "0.2", **parameters)
    except Unsupported:
        return
    for name, change in CHANGES.items():
        if all(np.allclose(value, getattr(found, field), atol=1e-9) for field, value in change(found).items()):
            continue
        finite = WrongTheory(theory.finite_width, "depth", _changed(theory, change))
        yield name, WrongTheory(theory, "finite_width", finite)


def _changed(theory: Any, change: Callable[[Any], dict[str, Any]]) -> Callable[..., Any]:
    def depth(*args: Any, **named: Any) -> Any:
        found = theory.finite_width.depth(*args, **named)
        return replace(found, **change(found))

    return depth
