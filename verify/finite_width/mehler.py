"""E f(u) g(v) for many laws at once from Hermite coefficients: Mehler's series of powers of phi, by brute force."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from verify.finite_width.tables import DEGREE, GAUSS, PANEL, REACH, STEP, Function

TERMS, POWERS = 160, 3
SMALL = 1e-11


@dataclass(frozen=True)
class Means:
    """Conditional means and covariances of phi_a phi_b at many kernels of two inputs.

    mean        (networks, 3): E phi_0^2, E phi_0 phi_1, E phi_1^2
    covariance  (networks, 3, 3) of the three products
    """

    mean: np.ndarray
    covariance: np.ndarray


@dataclass(frozen=True)
class Mehler:
    """sum_k a_k(q1) b_k(q2) c^k with a_k(q) = E f(sqrt(q) x) h_k(x), h_k the normalised Hermite polynomials.

    Independent of what `derive` derives. 160 terms leave under 1e-6 for a kinked phi at |c| < 0.95 and less for a
    smooth one. Source: Mehler 1866.
    """

    phi: Function
    breaks: Sequence[float] = ()
    _panels: dict[int, np.ndarray] = field(default_factory=dict, compare=False, repr=False)

    def means(self, kernel: np.ndarray) -> Means:
        """At kernels (networks, 2, 2)."""
        q1, q2 = kernel[:, 0, 0], kernel[:, 1, 1]
        c = kernel[:, 0, 1] / np.sqrt(q1 * q2)
        largest = min(float(np.abs(c).max()), 1 - 1e-9)
        terms = min(TERMS, 8 + int(np.log(SMALL) / np.log(max(largest, 1e-3))))
        one, two = self._table(q1, terms), self._table(q2, terms)

        def crossed(i: int, j: int) -> np.ndarray:
            total = np.zeros_like(c)
            for row in (one[i - 1, :terms] * two[j - 1, :terms])[::-1]:
                total = total * c + row
            return total

        alone = [t[:2, terms] for t in (one, two)]
        mixed, square = crossed(1, 1), crossed(2, 2)
        mean = np.stack([alone[0][0], mixed, alone[1][0]], 1)
        fourth = np.stack([alone[0][1], crossed(3, 1), square, crossed(3, 1), square, crossed(1, 3), square,
                           crossed(1, 3), alone[1][1]], 1).reshape(-1, 3, 3)  # fmt: skip
        return Means(mean, fourth - mean[:, :, None] * mean[:, None, :])

    def slopes(self, limit: np.ndarray, step: float = 1e-3) -> tuple[np.ndarray, np.ndarray]:
        """Differences of the means in (K_00, K_01, K_11): the coefficients of control variates, nothing else."""
        base = np.array([limit[0, 0], limit[0, 1], limit[1, 1]])
        offsets = [np.zeros(3)]
        for i in range(3):
            for j in range(i, 3):
                offsets += [s * np.eye(3)[i] + t * np.eye(3)[j] for s in (1, -1) for t in (1, -1)]
        points = base + step * np.array(offsets)
        m = self.means(points[:, [0, 1, 1, 2]].reshape(-1, 2, 2)).mean
        slope, bend, k = np.zeros((3, 3)), np.zeros((3, 3, 3)), 1
        for i in range(3):
            for j in range(i, 3):
                pp, pm, mp, mm = m[k : k + 4]
                bend[:, i, j] = bend[:, j, i] = (pp - pm - mp + mm) / (4 * step**2)
                if i == j:
                    slope[:, i] = (pp - mm) / (4 * step)
                k += 4
        return slope, bend

    def _table(self, variances: np.ndarray, terms: int) -> np.ndarray:
        """(powers, terms + 1, networks): coefficients of phi^1..3; the last row is E phi^2 and E phi^4."""
        u = np.log(variances)
        panel = np.floor(u / PANEL).astype(int)
        out = np.empty((POWERS, terms + 1, len(u)))
        for i in np.unique(panel):
            if i not in self._panels:
                nodes = np.cos(np.pi * (np.arange(DEGREE) + 0.5) / DEGREE)
                values = np.array([self._at(q) for q in np.exp((i + (1 + nodes) / 2) * PANEL)])
                flat = np.polynomial.chebyshev.chebfit(nodes, values.reshape(DEGREE, -1), DEGREE - 1)
                self._panels[i] = flat.reshape(DEGREE, POWERS, TERMS + 1)
            here = panel == i
            kept = self._panels[i][:, :, [*range(terms), TERMS]]
            t = np.polynomial.chebyshev.chebvander(2 * (u[here] / PANEL - i) - 1, DEGREE - 1)
            out[:, :, here] = np.tensordot(kept, t, (0, 1))
        return out

    def _at(self, q: float) -> np.ndarray:
        """The coefficients at one variance."""
        import torch

        root = np.sqrt(q)
        edges = np.arange(-REACH, REACH + STEP / 2, STEP)
        inner = np.array([b / root for b in self.breaks])
        edges = np.unique(np.concatenate([edges, inner[np.abs(inner) < REACH]]))
        half = np.diff(edges)[:, None] / 2
        x = (edges[:-1, None] + half * (1 + GAUSS[0])).ravel()
        mass = (half * GAUSS[1]).ravel() * np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
        f = self.phi(torch.from_numpy(root * x)).numpy()
        weighted = mass * np.stack([f, f**2, f**3])
        out, before, now = np.empty((POWERS, TERMS + 1)), np.zeros_like(x), np.ones_like(x)
        for k in range(TERMS):
            out[:, k] = weighted @ now
            before, now = now, (x * now - np.sqrt(k) * before) / np.sqrt(k + 1)
        out[:, TERMS] = mass @ f**2, mass @ f**4, 0.0
        return out


__all__ = ["Means", "Mehler"]
