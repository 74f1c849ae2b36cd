"""Data for measurements of guessing bias that need no download: scikit-learn's handwritten digits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from derive.records import EocError

if TYPE_CHECKING:
    import torch


def digits(centred: bool = True, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """(inputs, labels) of 1797 images of 8 x 8 pixels in ten classes, in an order drawn from the seed.

    centred  subtract the mean image; without it the mean image alone makes a bias, gamma = |m|^2/tr(Sigma) = 2.2

    One factor for all images sets the mean of |x|^2/64 to 1. Raises EocError without scikit-learn.
    """
    import torch

    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise EocError(
            "the default data are scikit-learn's digits, which is not installed",
            instead='pip install "eoc[data]", or pass your own batches',
        ) from error
    data, labels = load_digits(return_X_y=True)
    x, y = torch.from_numpy(data), torch.from_numpy(labels).long()
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
    x, y = x[order], y[order]
    if centred:
        x = x - x.mean(0)
    return (x / x.square().mean().sqrt()).float(), y


__all__ = ["digits"]
