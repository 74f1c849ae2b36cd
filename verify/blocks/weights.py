"""Matrices of Gaussian weights of which only what is asked for is drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from derive.records import Unsupported
from verify.conditional import cholesky

MOST = 1 << 24
"""Weights that are ever held at once."""
SINGULAR = 1e-12


@dataclass(frozen=True, eq=False)
class ImplicitWeights:
    """An (n, m) matrix W of independent N(0, 1) numbers.

    x @ W is Gaussian given x, with covariance x x^T, and a gradient that comes back through it is
    g W^T = (g G^T) Q + H (1 - Q^T Q), where x W = R G for x = R Q, and H has covariance g g^T: exact, and O(n + m)
    instead of O(n m). Anything else done with W draws all of it.

    noise   (rows, columns) -> independent N(0, 1) numbers
    signs   (rows, columns) -> independent numbers of mean 0 and variance 1 for the part H of gradients, of which
            only second moments are observed
    """

    shape: tuple[int, int]
    noise: Callable[[int, int], torch.Tensor]
    signs: Callable[[int, int], torch.Tensor]

    def after(self, x: torch.Tensor) -> torch.Tensor:
        """x @ W for x of shape (inputs, n)."""
        n, m = self.shape
        return _Product.apply(x, self.noise(x.shape[0], m), self.signs(x.shape[0], n))

    def drawn(self) -> torch.Tensor:
        """The whole matrix."""
        n, m = self.shape
        if n * m > MOST:
            raise Unsupported(f"a layer asks for all of {n} x {m} weights", why="wide layers are sampled without them")
        return self.noise(n, m)

    def __mul__(self, other: Any) -> torch.Tensor:
        return self.drawn() * other

    __rmul__ = __mul__

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(function, "__name__", "") in ("matmul", "__matmul__") and not isinstance(args[0], cls):
            return args[1].after(args[0])
        return function(*(a.drawn() if isinstance(a, cls) else a for a in args), **(kwargs or {}))


class _Product(torch.autograd.Function):
    """x W and its gradient."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, noise: torch.Tensor, signs: torch.Tensor) -> torch.Tensor:
        factor = cholesky(x @ x.mT)
        ctx.save_for_backward(_directions(x, factor), noise, signs)
        return factor @ noise

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        directions, noise, signs = ctx.saved_tensors
        (gradient,) = gradients
        fresh = cholesky(gradient @ gradient.mT) @ signs
        fresh = fresh - (fresh @ directions.mT) @ directions
        return (gradient @ noise.mT) @ directions + fresh, None, None


def _directions(x: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
    """Orthonormal rows Q with x = factor Q; a row of zeros where an input depends on those before it."""
    rows: list[torch.Tensor] = []
    for j in range(x.shape[0]):
        rest = x[j] - sum((factor[j, i] * rows[i] for i in range(j)), torch.zeros_like(x[j]))
        length = factor[j, j]
        rows.append(rest / length if length**2 > SINGULAR * (x[j] @ x[j]) else torch.zeros_like(rest))
    return torch.stack(rows)
