"""Other views of a tensor whose law stays: positions in one row, features taken apart into heads, and back."""

from __future__ import annotations

from math import prod
from typing import Any

RESHAPES = frozenset(("view", "reshape", "_unsafe_view", "flatten", "unflatten"))


def heads_after(
    shape: tuple[int, ...], heads: tuple[int, int] | None, old: tuple[int, ...], new: tuple[int, ...]
) -> tuple[int, int] | str | None:
    """The axes (heads, features of a head) behind a reshape that leaves the law alone, "" where it is none.

    shape     (inputs, positions, features), or without positions: how the theory sees the value
    heads     its axes before, None for a tensor in that shape or with inputs and positions in one row
    old, new  the tensor's own shapes
    """
    if heads is not None:
        if new == old:
            return heads
        return None if new == shape and heads == (len(old) - 2, len(old) - 1) else ""
    if new == shape or (len(shape) == 3 and new == (shape[0] * shape[1], shape[2])):
        return None
    split = len(shape) == 3 and len(new) == 4 and new[:2] == shape[:2] and new[2] * new[3] == shape[2]
    return (2, 3) if split else ""


def heads_moved(heads: tuple[int, int], dims: list[int]) -> tuple[int, int] | None:
    """The axes behind a permutation, None where inputs do not stay along the first axis."""
    return None if dims[0] != 0 else (dims.index(heads[0]), dims.index(heads[1]))


def order_of(operation: str, args: tuple[Any, ...], axes: int) -> list[int]:
    """The axes in their new order, for torch's `permute` and `transpose`."""
    dims = list(range(axes))
    if operation == "permute":
        return [d % axes for d in args[1]]
    i, j = (d % axes for d in args[1:3])
    dims[i], dims[j] = dims[j], dims[i]
    return dims


def is_row(shape: tuple[int, ...], tensor: tuple[int, ...]) -> bool:
    """Whether a tensor holds inputs and positions in one row."""
    return len(shape) == 3 and len(tensor) == 2 and tensor[0] == prod(shape[:2])
