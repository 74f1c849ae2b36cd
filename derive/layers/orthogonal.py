"""The fully connected layer with an orthogonal matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from derive.layers.dense import Fresh
from derive.layers.finite import Finite


@dataclass(frozen=True, repr=False)
class Orthogonal(Fresh):
    """z = W x + b with W = sigma_w sqrt(max(n, m)/n) Q, Q (semi-)orthogonal and uniform, n the fan-in, m the fan-out.

    E W_ij^2 = sigma_w^2/n, and the map of moments is that of a Dense; a square W keeps norms exactly, so that a linear
    network is an isometry at every width, and the Jacobian's spectrum differs. torch.nn.init.orthogonal_ with gain g
    has sigma_w^2 = g^2 n/max(n, m). Source: Saxe et al. 2014 (arXiv 1312.6120); Pennington et al. 2017
    (arXiv 1711.04735), section 2.
    """

    def apply(self, x: Any, finite: Finite) -> Any:
        """W x + b with a uniform semi-orthogonal W."""
        w, b = (finite.number(s) for s in self.symbols)
        n, m = x.shape[1], finite.width
        drawn = finite.normal((max(n, m), min(n, m))) * 1.0
        q, r = finite.xp.linalg.qr(drawn)
        q = q * finite.xp.sign(finite.xp.diagonal(r, 0))[None, :]
        matrix = q if n >= m else q.T
        return w * (max(n, m) / n) ** 0.5 * (x @ matrix) + b * finite.normal((1, m))


LAYER = Orthogonal
