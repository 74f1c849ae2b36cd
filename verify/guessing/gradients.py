"""Gradients by class of a model before training, measured as means and fractions, against the outputs' own law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from derive.records import EocError

if TYPE_CHECKING:
    import torch
    from torch import nn


@dataclass(frozen=True, eq=False)
class MeasuredGradients:
    """Squared gradients of the cross-entropy at every layer's output, by what the input's label would be.

    layers     names
    share      (classes,) share of the inputs that the model assigns to each class
    mean       (layers, classes) mean over inputs of |dLoss/dy|^2 with that label
    zero       (layers, classes) fraction of inputs with that label whose gradient is exactly 0 in the format
    small      (layers, classes) fraction whose squared gradient is below a thousandth of the layer's mean
    predicted  (classes,) mean over inputs of |p - onehot|^2 at the scores: what the outputs alone say of `mean`
    right, wrong  (layers,) mean over inputs labelled as they are predicted, and over all others

    Medians are not shown: they jump where the largest share passes 1/2 and hide the inputs that pull.
    """

    layers: tuple[str, ...]
    share: np.ndarray
    mean: np.ndarray
    zero: np.ndarray
    small: np.ndarray
    predicted: np.ndarray
    right: np.ndarray
    wrong: np.ndarray

    @property
    def favoured(self) -> int:
        """The class with the largest share."""
        return int(self.share.argmax())

    @property
    def ratio(self) -> np.ndarray:
        """(layers,) mean squared gradient of the favoured class over that of the others."""
        others = np.delete(self.mean, self.favoured, 1).mean(1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.mean[:, self.favoured] / others

    @property
    def predicted_ratio(self) -> float:
        """The same at the scores; exp(-2 |Delta|) for two classes where Delta is one number for all inputs."""
        return float(self.predicted[self.favoured] / np.delete(self.predicted, self.favoured).mean())

    def __str__(self) -> str:
        rows = [
            f"favoured class {self.favoured} (share {self.share.max():.3f}): squared gradient over the others' "
            f"{self.predicted_ratio:.3g} by the scores",
            f"{'layer':24} {'favoured':>10} {'others':>10} {'ratio':>9} {'zero':>6} {'small':>6}",
        ]
        for i, name in enumerate(self.layers):
            f = self.favoured
            rows.append(
                f"{name[:24]:24} {self.mean[i, f]:10.3g} {np.delete(self.mean[i], f).mean():10.3g} "
                f"{self.ratio[i]:9.3g} {self.zero[i, f]:6.2f} {self.small[i, f]:6.2f}"
            )
        return "\n".join(rows)


def class_gradients(model: nn.Module, x: torch.Tensor, labels: torch.Tensor | None = None) -> MeasuredGradients:
    """Measure |dLoss/dy|^2 of every input at the output of every layer with weights.

    labels  of the inputs; without them every input is asked with every label in turn, so that classes differ by the
            model's preference alone and not by their inputs

    Kind: MEASUREMENT, in the model's own format. For models whose outputs on an input do not depend on the others of
    the batch. Raises EocError for labels that are no classes of the model.
    """
    import torch
    from torch.nn.functional import one_hot

    names, kept = [], {}
    handles = [m.register_forward_hook(_keep(name or "model", names, kept)) for name, m in _weighted(model)]
    try:
        scores = model(x)
    finally:
        for handle in handles:
            handle.remove()
    classes = scores.shape[1]
    if labels is not None and (len(labels) != len(x) or labels.min() < 0 or labels.max() >= classes):
        raise EocError(f"labels are not one of {classes} classes for each input", instead="integers from 0")
    predicted, probability = scores.argmax(1), scores.detach().softmax(1)
    passes = [labels] if labels is not None else [torch.full_like(predicted, k) for k in range(classes)]
    names = [name for name in names if len(kept[name]) == len(x)]
    squares, asked, error = [], [], []
    for index, target in enumerate(passes):
        loss = torch.nn.functional.cross_entropy(scores, target, reduction="sum")
        again = index < len(passes) - 1
        found = torch.autograd.grad(loss, [kept[name] for name in names], retain_graph=again)
        squares.append(torch.stack([g.flatten(1).double().square().sum(1) for g in found]))
        asked.append(target)
        error.append((probability - one_hot(target, classes)).double().square().sum(1))
    square, label = torch.cat(squares, 1).cpu().numpy(), torch.cat(asked).cpu().numpy()
    agrees = label == predicted.repeat(len(passes)).cpu().numpy()
    level = 1e-3 * square.mean(1, keepdims=True)
    mean, zero, small = (
        np.stack([_mean(values[:, label == k]) for k in range(classes)], 1)
        for values in (square, square == 0, square < level)
    )
    at_scores = torch.cat(error).cpu().numpy()
    share = np.bincount(predicted.cpu().numpy(), minlength=classes) / len(x)
    expected = np.array([at_scores[label == k].mean() if (label == k).any() else np.nan for k in range(classes)])
    return MeasuredGradients(
        tuple(names), share, mean, zero, small, expected, _mean(square[:, agrees]), _mean(square[:, ~agrees])
    )


def _mean(values: np.ndarray) -> np.ndarray:
    return values.mean(1) if values.shape[1] else np.full(len(values), np.nan)


def _weighted(model: nn.Module) -> list[tuple[str, Any]]:
    from torch import nn

    kinds = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
    return [(name, part) for name, part in model.named_modules() if isinstance(part, kinds)]


def _keep(name: str, names: list[str], kept: dict[str, Any]) -> Any:
    def hook(_: Any, __: Any, output: Any) -> None:
        if name not in kept and output.requires_grad:
            names.append(name)
            kept[name] = output

    return hook


__all__ = ["MeasuredGradients", "class_gradients"]
