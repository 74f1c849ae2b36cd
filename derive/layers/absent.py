"""Layers that people ask for and that are no layer of a block: why, and what there is instead."""

from __future__ import annotations

from types import MappingProxyType

from derive.records import Unsupported

_MODEL = "verify.read(model, batch) and eoc init carry every position of a torch model"
_MIXES = "it mixes positions, and a block follows one coordinate of one position"
_RECURRENT = "its weights are the same at every step, so that weights and signals are not independent"

ABSENT = MappingProxyType({
    "attention": (_MIXES, f"derive.layers.attention has its moment maps; {_MODEL}"),
    "softmax": (_MIXES, f"derive.layers.attention for scores that are averaged with; {_MODEL}"),
    "groupnorm": ("its statistics are over positions too", f"layernorm for one group of many channels; {_MODEL}"),
    "instancenorm": ("its statistics are over positions", f"batchnorm for many independent positions; {_MODEL}"),
    "spectralnorm": ("the largest singular value is no moment of one coordinate", "dense(sigma_w=...)"),
    "lstm": (_RECURRENT, "glu and residual for one step with weights of its own"),
    "gru": (_RECURRENT, "glu and residual for one step with weights of its own"),
    "rnn": (_RECURRENT, "dense >> tanh for one step with weights of its own"),
})  # fmt: skip


def refuse_absent(name: str) -> None:
    """Raises Unsupported for the name of a layer that is not built."""
    plain = name.replace("_", "").removeprefix("multihead").removeprefix("self")
    if plain in ABSENT:
        why, instead = ABSENT[plain]
        raise Unsupported(f"{name} is no layer of a block", why=why, instead=instead)
