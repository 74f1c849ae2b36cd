"""Orthogonal matrices, uniform among them."""

from __future__ import annotations

from typing import Any

from derive.layers import weights
from verify.stream import normals
from verify.weights import Law, Shape


def _draw(generator: Any, shape: Shape, dtype: Any) -> Any:
    """Q of a QR decomposition with the signs of R's diagonal (Mezzadri 2007, arXiv:math-ph/0609050)."""
    import torch

    q, r = torch.linalg.qr(normals(shape, generator, dtype))
    return q * torch.diagonal(r, dim1=-2, dim2=-1).sign()[:, None, :]


LAW = Law("orthogonal", lambda n: weights.orthogonal(1, n, n), _draw)
