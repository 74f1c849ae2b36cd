"""Blocks as text: stages joined by >>, layers with arguments, anything else a formula."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from derive.catalogue import several
from derive.layers import layers
from derive.layers.absent import refuse_absent
from derive.layers.block import Block, join
from derive.layers.concat import Concat
from derive.layers.spelling import split
from derive.records import EocError
from derive.surface.activations import Activation
from derive.surface.exact import exact


def read_block(text: str, **options: Any) -> Block:
    """Stages joined by >> at bracket depth 0; a stage that is no layer's name is a formula.

    options are passed to Activation. Raises EocError for a layer with other arguments, FormulaError for a formula
    that is none.
    """
    stages = [_stage(part.strip(), options) for part in split(text, ">>")]
    block: Any = Block((stages[0],))
    for stage in stages[1:]:
        block = join(block, stage)
    return block


def _stage(text: str, options: Mapping[str, Any]) -> Any:
    name, _, rest = text.partition("(")
    layer = layers().get(name.strip().lower())
    if layer is None:
        refuse_absent(name.strip().lower())
        unit = several(text) if len(text) < 80 else None
        if unit is not None:
            return Concat(*(Activation(output, **options).layer for output in unit.outputs))
        return Activation(text, **options).layer
    if not rest:
        return _made(layer, [], {}, text)
    if not rest.endswith(")"):
        raise EocError(f"the layer {text!r} has no closing bracket", instead=f"{name}({rest})")
    positional, named = [], {}
    names = [f.name for f in fields(layer)] if is_dataclass(layer) else []
    for place, argument in enumerate(filter(None, (a.strip() for a in split(rest[:-1], ",")))):
        key, equals, value = argument.partition("=")
        if equals and key.strip().isidentifier() and not value.startswith("="):
            named[key.strip()] = _argument(layer, key.strip(), value.strip(), options)
        elif getattr(layer, "named_only", False):
            raise EocError(
                f"{argument} in the layer {text!r} has no name",
                why=f"it could be the {names[2]} or {names[0]}, the first argument of the class",
                instead=f"write {name}({names[2]}={argument}) or {name}({names[0]}={argument})",
            )
        else:
            title = names[place] if place < len(names) else ""
            positional.append(_argument(layer, title, argument, options))
    return _made(layer, positional, named, text)


def _argument(layer: type, title: str, text: str, options: Mapping[str, Any]) -> Any:
    """An argument as its layer wants it: a block, an activation, a number, a word or a scale."""
    blocks = getattr(layer, "blocks", ())
    if title in blocks or "*" in blocks:
        return read_block(text, **options)
    if title in getattr(layer, "formulas", ()):
        return Activation(text, **options)
    if text[:1] in "\"'" and text[-1:] == text[:1]:
        return text[1:-1]
    try:
        return exact(text, title or layer.__name__)
    except EocError:
        if any(character.isalpha() for character in text):
            return text
        raise


def _made(layer: type, positional: list[Any], named: dict[str, Any], text: str) -> Any:
    try:
        return layer(*positional, **named)
    except TypeError:
        usual = ", ".join(f"{f.name}={f.default}" for f in fields(layer)) if is_dataclass(layer) else ""
        raise EocError(
            f"the layer {text!r} has other arguments", instead=f"{layer.__name__.lower()}({usual})"
        ) from None
