"""The text of blocks: where it is cut, and whether a text is a block, decided without importing the layers."""

from __future__ import annotations

from derive.layers import homes


def split(text: str, mark: str) -> list[str]:
    """The parts of a text between marks at bracket depth 0."""
    if mark not in text:
        return [text]
    parts, depth, start = [], 0, 0
    for i, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if depth == 0 and text.startswith(mark, i):
            parts.append(text[start:i])
            start = i + len(mark)
    return [*parts, text[start:]]


def is_block(text: str) -> bool:
    """Whether a text is stages joined by >>, or one layer by name; else it is a formula or an activation's name."""
    stages = split(text, ">>")
    return len(stages) > 1 or is_layer(stages[0])


def is_layer(stage: str) -> bool:
    """Whether a stage begins with a layer's name."""
    return stage.partition("(")[0].strip().lower() in {name.lower() for name in homes()}


def formulas(text: str) -> list[str]:
    """The stages of a block's text that are no layers, branches included: formulas or names of activations."""
    found = []
    for stage in split(text, ">>"):
        if not is_layer(stage):
            found.append(stage.strip())
            continue
        arguments = stage.strip().partition("(")[2].removesuffix(")")
        values = [argument for argument in split(arguments, ",") if ">>" in argument]
        found += [formula for value in values for formula in formulas(value)]
    return found


__all__ = ["formulas", "is_block", "is_layer", "split"]
