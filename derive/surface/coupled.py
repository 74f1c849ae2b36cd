"""Names of maps from several numbers, or to several: no activations."""

from __future__ import annotations

from derive.catalogue import entry, several
from derive.records import EocError


def is_gated(text: str) -> bool:
    """Whether the text is the name of a catalogued unit of two inputs."""
    found = entry(text) if len(text) < 80 else None
    return found is not None and len(found.variables) > 1


def refuse_coupled(text: str) -> None:
    """Names of maps from or to several numbers, and what to ask instead."""
    name = text.strip()
    unit = several(name) if len(name) < 80 else None
    if unit is not None:
        raise EocError(
            f"{name} has {len(unit.outputs)} outputs, an activation one",
            instead=f'each for itself: {", ".join(unit.outputs)}; or as a layer: theory("{name}")',
        )
    if name.lower().replace("_", "") in ("softmax", "logsoftmax", "softmin"):
        raise EocError(
            f"{name} is no function of one number",
            why="it couples the entries of an axis; its outputs sum to 1, so that over an axis without end each tends "
            "to 0 (the infinite-width limit of a softmax layer is 0)",
            instead='two logits: expect("exp(u)/(exp(u) + exp(v))", of="u v", cov=[[1, 0], [0, 1]])',
        )


__all__ = ["is_gated", "refuse_coupled"]
