"""Softmax attention written out with matrix products: what belongs together in a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

HANDED_ON = frozenset(("clone", "contiguous", "detach", "to", "_to_copy", "expand", "view", "_unsafe_view", "reshape"))
PRODUCTS = frozenset(("matmul", "bmm"))


@dataclass(frozen=True)
class WrittenOut:
    """softmax(scale q k^T + mask) v as nodes of a graph; `inner` are those between, which nothing else uses.

    masks  (node, hidden): tensors added to the scores, or, where `hidden`, true where a score is left out
    p      rate of a dropout of the weights, 0 where it is off
    """

    query: Any
    key: Any
    value: Any
    scale: float
    masks: tuple[tuple[Any, bool], ...]
    p: float
    inner: frozenset[str]


def attentions(nodes: tuple[Any, ...], operation: Callable[[Any], str], stream: Callable[[Any], bool]) -> Iterator[Any]:
    """(the product with the values, what belongs to it) for every attention that is written out."""
    for node in nodes:
        if node.op == "call_function" and operation(node) in PRODUCTS:
            found = _behind(node, operation, stream)
            if found is not None:
                yield node.name, found


def _behind(product: Any, operation: Callable[[Any], str], stream: Callable[[Any], bool]) -> WrittenOut | None:
    here, value = product.args[:2]
    inner, p = [], 0.0
    while getattr(here, "op", "") == "call_function" and operation(here) in (*HANDED_ON, "dropout"):
        inner.append(here)
        p = float(here.args[1]) if operation(here) == "dropout" and here.args[2] else p
        here = here.args[0]
    if getattr(here, "op", "") != "call_function" or operation(here) not in ("softmax", "_softmax"):
        return None
    if here.args[1] not in (-1, 3):
        return None
    inner.append(here)
    scale, masks, here = 1.0, [], here.args[0]
    while getattr(here, "op", "") == "call_function" and operation(here) not in PRODUCTS:
        name, rest = operation(here), here.args[1:]
        inner.append(here)
        if name in ("mul", "div") and isinstance(rest[0], (int, float)):
            scale *= rest[0] if name == "mul" else 1 / rest[0]
        elif name == "add" and not stream(rest[0]) and scale == 1.0:
            masks.append((rest[0], False))
        elif name == "masked_fill" and not stream(rest[0]) and rest[1] < -1e3:
            masks.append((rest[0], True))
        elif name not in HANDED_ON:
            return None
        here = here.args[0]
    if getattr(here, "op", "") != "call_function":
        return None
    inner.append(here)
    query, turned = here.args[:2]
    if getattr(turned, "op", "") != "call_function" or operation(turned) != "transpose":
        return None
    if {axis % 4 for axis in turned.args[1:3]} != {2, 3}:
        return None
    inner.append(turned)
    names = frozenset(node.name for node in inner)
    if not {user.name for node in inner for user in node.users} <= {*names, product.name}:
        return None
    return WrittenOut(query, turned.args[0], value, scale, tuple(masks), p, names)
