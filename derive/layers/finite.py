"""The finite side of a layer: what it does to an array of activations, in whatever array library is passed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sympy import Expr


@dataclass(frozen=True)
class Finite:
    """What a layer needs to act on arrays of shape (inputs, width).

    width     units that leave a layer with weights
    xp        array namespace: numpy, torch, jax.numpy
    normal    shape -> independent N(0, 1) numbers
    uniform   shape -> independent U(0, 1) numbers
    number    expression in the theory's symbols -> its value
    function  elementwise layer -> function of arrays (the user's own, not a derived one)
    """

    width: int
    xp: Any
    normal: Callable[[tuple[int, ...]], Any]
    uniform: Callable[[tuple[int, ...]], Any]
    number: Callable[[Expr], float]
    function: Callable[[Any], Callable[[Any], Any]]


def grouped(x: Any, k: int) -> Any:
    """(inputs, n) as (inputs, n // k, k): k units side by side form a window."""
    return x.reshape(x.shape[0], x.shape[1] // k, k)
