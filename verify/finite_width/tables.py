"""One-layer moments of the user's own function by brute-force quadrature: the conditional means of the sampler.

Independent of what `derive` derives: phi is called on a fine grid, split at its breakpoints, for a few variances
that span those which a batch of networks visits, and interpolated between them in log q.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch

Function = Callable[["torch.Tensor"], "torch.Tensor"]

REACH, STEP, DEGREE, PANEL = 10.0, 0.25, 16, 0.5
GAUSS = np.polynomial.legendre.leggauss(16)


@dataclass(frozen=True)
class OneLayer:
    """Moments of one layer at an array of variances, given phi (and its slope), sigma_w^2 and breakpoints.

    mean   E phi^2 and its first two derivatives in q (Hermite weights, phi is not differentiated)
    square E phi^4
    gain   E phi'^2 and its first two derivatives; None without a slope
    """

    phi: Function
    slope: Function | None = None
    breaks: Sequence[float] = ()
    _panels: dict[int, np.ndarray] = field(default_factory=dict, compare=False, repr=False)
    _singles: dict[float, np.ndarray] = field(default_factory=dict, compare=False, repr=False)

    def at(self, variances: np.ndarray) -> np.ndarray:
        """Rows g, g', g'', E phi^4 (and e, e', e''), one column a variance: exact up to quadrature."""
        if variances.size > 1:
            return self._integrated(variances)
        alone = float(variances[0])  # the kernels of the infinite network, asked again by every batch
        if alone not in self._singles:
            self._singles[alone] = self._integrated(variances)
        return self._singles[alone]

    def _integrated(self, variances: np.ndarray) -> np.ndarray:
        import torch

        root = np.sqrt(variances)
        count = int(np.ceil(2 * REACH * root.max() / (STEP * root.min()))) + 1
        edges = np.union1d(np.linspace(-REACH * root.max(), REACH * root.max(), count + 1), np.array(self.breaks))
        half = np.diff(edges)[:, None] / 2
        z = (edges[:-1, None] + half * (1 + GAUSS[0])).ravel()
        weight = (half * GAUSS[1]).ravel()
        points = torch.from_numpy(z)
        square = self.phi(points).numpy() ** 2
        t = z**2 / variances[:, None]
        density = weight * np.exp(-t / 2) / np.sqrt(2 * np.pi * variances[:, None])
        rows = _three(density, t, square, variances)
        rows.append(density @ square**2)
        if self.slope is not None:
            rows += _three(density, t, self.slope(points).numpy() ** 2, variances)
        return np.array(rows)

    def table(self, variances: np.ndarray) -> np.ndarray:
        """The rows of `at` at many variances, interpolated in log q from panels that are computed once."""
        u = np.log(variances)
        panel = np.floor(u / PANEL).astype(int)
        out: np.ndarray | None = None
        for i in np.unique(panel):
            here = panel == i
            if i not in self._panels:
                nodes = np.cos(np.pi * (np.arange(DEGREE) + 0.5) / DEGREE)
                values = self.at(np.exp((i + (1 + nodes) / 2) * PANEL))
                self._panels[i] = np.polynomial.chebyshev.chebfit(nodes, values.T, DEGREE - 1)
            found = np.polynomial.chebyshev.chebval(2 * (u[here] / PANEL - i) - 1, self._panels[i])
            if out is None:
                out = np.empty((len(found), len(u)))
            out[:, here] = found
        assert out is not None
        return out


def _three(density: np.ndarray, t: np.ndarray, values: np.ndarray, variances: np.ndarray) -> list[np.ndarray]:
    first = (density * (t - 1)) @ values / (2 * variances)
    second = (density * (t**2 - 6 * t + 3)) @ values / (4 * variances**2)
    return [density @ values, first, second]


__all__ = ["Function", "OneLayer"]
