"""What a user hands to `bias`: a model, data and counts, each checked before anything is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from derive.records import EocError

if TYPE_CHECKING:
    import torch
    from torch import nn

BATCHES = "a tensor of inputs, or batches of inputs or (inputs, labels)"


def counted(name: str, value: Any, least: int) -> int:
    """A whole number of at least `least`. Raises EocError for others."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise EocError(f"{name} = {value!r}", why=f"it counts, from {least} on", instead=f"{name}={max(least, 50)}")
    return value


def checked_model(model: Any) -> nn.Module:
    """A module with a layer that has weights. Raises EocError for others."""
    from torch import nn

    kinds = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
    if not isinstance(model, nn.Module):
        raise EocError(f"{type(model).__name__} is no torch module", instead="bias(torch.nn.Sequential(...), loader)")
    if not any(isinstance(part, kinds) for part in model.modules()):
        raise EocError("the model has no linear or convolutional layer", why="the bias is measured at their outputs")
    return model


def taken(loader: Any, most: int) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Inputs, and their labels where every batch has one for each input.

    Floating-point inputs become float32; whole numbers stay what they are (tokens). Raises EocError for what holds no
    tensors, for fewer than two inputs, and for inputs that are not finite.
    """
    import torch

    if isinstance(loader, torch.Tensor) or hasattr(loader, "__array__"):
        x, labels = _tensor(loader)[:most], None
    else:
        x, labels = _batches(loader, most)
    if x.ndim == 0 or len(x) < 2:
        raise EocError("the loader gives fewer than two inputs", instead=BATCHES)
    if not bool(torch.isfinite(x).all()):
        raise EocError("the inputs hold numbers that are not finite", where="NaN or infinity in the data")
    return x.float() if x.is_floating_point() else x, labels


def _batches(loader: Any, most: int) -> tuple[torch.Tensor, torch.Tensor | None]:
    import torch

    if isinstance(loader, (str, bytes)) or not hasattr(loader, "__iter__"):
        raise EocError(f"{type(loader).__name__} is no data", instead=BATCHES)
    kept: list[torch.Tensor] = []
    labels, count = [], 0
    for batch in loader:
        first, *rest = batch if isinstance(batch, (tuple, list)) and batch else (batch,)
        kept.append(_tensor(first))
        if kept[-1].ndim == 0 or kept[-1].shape[1:] != kept[0].shape[1:]:
            raise EocError(
                f"batches of inputs of shapes {tuple(kept[0].shape)} and {tuple(kept[-1].shape)}", instead=BATCHES
            )
        if rest and isinstance(rest[0], torch.Tensor) and rest[0].shape == (len(kept[-1]),):
            labels.append(rest[0])
        count += len(kept[-1])
        if count >= most:
            break
    if not kept:
        raise EocError("the loader gives fewer than two inputs", instead=BATCHES)
    whole = len(labels) == len(kept) and not any(y.is_floating_point() for y in labels)
    return torch.cat(kept)[:most], torch.cat(labels)[:most].long() if whole else None


def _tensor(value: Any) -> torch.Tensor:
    import torch

    if isinstance(value, torch.Tensor):
        return value.detach()
    if not hasattr(value, "__array__"):
        raise EocError(f"a batch is a {type(value).__name__}", instead=BATCHES)
    try:
        return torch.as_tensor(value)
    except TypeError as error:
        raise EocError("a batch holds no numbers", why=str(error), instead=BATCHES) from error


def fitting(model: nn.Module, x: torch.Tensor, default: bool) -> None:
    """Raises EocError where a model does not take the inputs, or gives no finite class scores for them."""
    import torch

    try:
        with torch.no_grad():
            scores = model(x[:2])
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        what = f"the default data, {x.shape[1]} pixels an input" if default else f"inputs of shape {tuple(x.shape[1:])}"
        raise EocError(
            f"the model does not take {what}",
            why=str(error).splitlines()[0] if str(error) else type(error).__name__,
            instead="pass your own batches: bias(model, loader)",
        ) from error
    if not isinstance(scores, torch.Tensor):
        raise EocError(f"the model returns a {type(scores).__name__}", instead="one tensor (batch, classes)")
    if scores.ndim != 2 or scores.shape[1] < 2:
        raise EocError(f"outputs of shape {tuple(scores.shape)} are no class scores", instead="(batch, classes)")
    if not bool(torch.isfinite(scores).all()):
        raise EocError("the model's outputs are not finite", why="weights or inputs are too large, or hold NaN")


__all__ = ["checked_model", "counted", "fitting", "taken"]
