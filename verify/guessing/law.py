"""Class fractions drawn from their predicted law, and tests of measured fractions against it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from derive.records import EocError
from verify.guessing.estimate import FractionTest, fraction_test
from verify.stream import normals

REFERENCE = 400_000
"""Centres drawn from the law that measured networks are compared with: 40 000 networks of ten classes."""


def drawn_fractions(gamma: float, classes: int, networks: int, generator: Any) -> np.ndarray:
    """(networks, classes) fractions G_k = int phi(t - a_k) prod_{j != k} Phi(t - a_j) dt, a_j ~ N(0, gamma) drawn.

    Given its centres a network assigns an input to the class of the largest of a_j + N(0, 1); the trapezoidal rule in
    t, exact to about 1e-12.
    """
    import torch

    centres = gamma**0.5 * normals((networks, classes), generator, torch.float64)
    grid = torch.arange(-9, 9.05, 0.15, dtype=torch.float64)
    found = []
    for part in centres.split(2000):
        # a product of Phi is 0 to all digits 9 below the largest centre, every density 9 above it
        t = grid[:, None, None] + part.amax(1)[None, :, None] - part
        logs = torch.special.log_ndtr(t)
        others = (logs.sum(-1, keepdim=True) - logs - t.square() / 2).exp() * (0.15 / (2 * torch.pi) ** 0.5)
        found.append(others.sum(0))
    return torch.cat(found).numpy()


@dataclass(frozen=True)
class ShareTest:
    """Shares of one class over random networks against the law for K classes and this gamma, on n inputs.

    ks  p-value of the two-sample Kolmogorov-Smirnov test against networks drawn from the law, each with n inputs drawn
        from its fractions
    """

    networks: int
    inputs: int
    ks: float


def share_test(
    shares: Any, gamma: float, classes: int, inputs: int, seed: int = 0, centres: int = REFERENCE
) -> ShareTest:
    """Test the shares of one class, counted on `inputs` inputs in each network.

    Ties of counted shares make the test slightly conservative. Raises EocError for what are no such shares.
    """
    import torch
    from scipy import stats

    seen = np.asarray(shares, float)
    counts = seen * inputs
    if seen.ndim != 1 or len(seen) < 8 or not np.allclose(counts, np.round(counts), atol=1e-6):
        raise EocError("shares are no counts over the inputs", instead="one share of `inputs` inputs for each network")
    generator = torch.Generator().manual_seed(seed)
    law = drawn_fractions(gamma, classes, max(centres // classes, 1000), generator)[:, 0]
    chance = torch.from_numpy(np.clip(law, 0, 1))
    counted = torch.binomial(torch.full_like(chance, inputs), chance, generator=generator).numpy()
    return ShareTest(len(seen), inputs, float(stats.ks_2samp(np.round(counts), counted).pvalue))


def power(networks: int, factor: float, level: float = 1e-3) -> float:
    """The chance that the two-sided variance test of `fraction_test` rejects a gamma that is `factor` times the truth.

    sum Phi^-1(G)^2/gamma is chi-squared: exact for two classes and exact fractions. For 1500 networks and a gamma 20 %
    too large 0.951 at the level 1e-3, 0.969 at 2e-3 (what a one-sided test at 1e-3 has), 0.992 at 1e-2.
    """
    from scipy.stats import chi2

    low, high = chi2.ppf([level / 2, 1 - level / 2], networks)
    return float(chi2.cdf(factor * low, networks) + chi2.sf(factor * high, networks))


def networks_needed(factor: float, level: float = 1e-3, chance: float = 0.97) -> int:
    """The least number of networks with which the variance test has that power."""
    low, high = 2, 4
    while power(high, factor, level) < chance:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if power(middle, factor, level) < chance else (low, middle)
    return high


__all__ = ["FractionTest", "ShareTest", "drawn_fractions", "fraction_test", "networks_needed", "power", "share_test"]
