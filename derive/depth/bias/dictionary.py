"""Two averages of one random network: over weights (mean field) and over data (guessing bias), and how they translate.

Mean field fixes inputs a, b and averages over weights: q_aa = E y(a)^2, q_ab = E y(a) y(b). Guessing bias fixes the
weights and averages over data: a unit y_i has a centre mu_i and a spread around it; over weights the centre is
N(0, sigma_mu^2), and sigma_y^2 is the mean spread. Source: Bassi et al. 2026 (arXiv 2505.12096), theorem 3.1, for the
pair form; Francazi, Lucchi & Baity-Jesi 2024 (arXiv 2306.00809) for centres. The form with means is an identity of
matrices (`of_activations`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from derive.records import DomainError, EocError

HYPOTHESES = (
    "the network is in the wide limit: means over units are means over weights",
    "the data set is large: sums over pairs a = b do not count",
    "all inputs have one norm and all pairs one overlap (exact centred Gaussian data of large dimension)",
)
"""What the form for a single pair, c_ab = gamma/(1 + gamma), needs; the form with means needs none of it."""


@dataclass(frozen=True)
class MeanField:
    """Second moments over weights: q_aa of one input (mean-field "signal variance"), q_ab of two different ones."""

    q_aa: Any
    q_ab: Any

    @property
    def c(self) -> Any:
        """The correlation q_ab/q_aa."""
        return self.q_ab / self.q_aa

    @property
    def guessing(self) -> Guessing:
        """The same state by its averages over data: sigma_mu^2 = q_ab, sigma_y^2 = q_aa - q_ab."""
        return Guessing(self.q_ab, self.q_aa - self.q_ab)


@dataclass(frozen=True)
class Guessing:
    """Averages over data: variance of the centres over weights, and variance of the signal around its centre.

    sigma_y2 is called "signal variance" in the literature on guessing bias; mean-field theory gives that name to the
    total q_aa = sigma_mu2 + sigma_y2.
    """

    sigma_mu2: Any
    sigma_y2: Any

    @property
    def gamma(self) -> Any:
        """The activation drift ratio sigma_mu^2/sigma_y^2; inf where the signal does not vary."""
        if self.sigma_y2 == 0:
            return float("inf")
        return self.sigma_mu2 / self.sigma_y2

    @property
    def mean_field(self) -> MeanField:
        """The same state by its averages over weights: q_aa = sigma_mu^2 + sigma_y^2, q_ab = sigma_mu^2."""
        return MeanField(self.sigma_mu2 + self.sigma_y2, self.sigma_mu2)


def gamma_of_c(c: Any) -> Any:
    """gamma = c/(1 - c); inf at c = 1. Works on numbers, arrays and SymPy expressions."""
    if isinstance(c, np.ndarray):
        with np.errstate(divide="ignore"):
            return c / (1 - c)
    return float("inf") if c == 1 else c / (1 - c)


def c_of_gamma(gamma: Any) -> Any:
    """c = gamma/(1 + gamma); 1 at gamma = inf. Works on numbers, arrays and SymPy expressions."""
    if isinstance(gamma, np.ndarray):
        with np.errstate(invalid="ignore"):
            return np.where(np.isinf(gamma), 1.0, gamma / (1 + gamma))
    return 1.0 if gamma == float("inf") else gamma / (1 + gamma)


@dataclass(frozen=True)
class Measured:
    """What the identity says about an activation matrix: Guessing and MeanField of its means, and the spread.

    guessing, mean_field   unbiased means over units and over (pairs of) inputs; each is the other's translation
    c_bar                  mean of q_ab over pairs a != b, over the mean of q_aa: gamma/(1 + gamma) exactly
    spread                 standard deviation of the single correlations c_ab, which are not all c_bar
    """

    guessing: Guessing
    mean_field: MeanField
    c_bar: float
    spread: float

    @property
    def gamma(self) -> float:
        """sigma_mu^2/sigma_y^2, unbiased sums; may be slightly negative where there is no bias."""
        return float(self.guessing.gamma)


def of_activations(y: Any) -> Measured:
    """The dictionary of an activation matrix (n inputs, N units), exactly, for any width, data and weights.

    With G = y y^T/N: mean_i Var_a(y_ai; n - 1) = mean_a G_aa - mean_{a != b} G_ab, and
    mean_i (mean_a y_ai)^2 - (the former)/n = mean_{a != b} G_ab: both are sums of the same products.
    Raises EocError for what is no such matrix.
    """
    y = np.asarray(y, float)
    if y.ndim != 2 or y.shape[0] < 2 or not y.shape[1] or not np.isfinite(y).all():
        raise EocError("activations are no matrix of at least two inputs", instead="an array (inputs, units)")
    n = len(y)
    centre = y.mean(0)
    sigma_y2 = float(((y - centre) ** 2).sum() / (n - 1) / y.shape[1])
    sigma_mu2 = float((centre**2).mean()) - sigma_y2 / n
    found = Guessing(sigma_mu2, sigma_y2)
    total = sigma_mu2 + sigma_y2
    if total == 0:
        raise EocError("all activations are 0", why="they have no correlation")
    return Measured(found, found.mean_field, sigma_mu2 / total, _spread(y))


def _spread(y: np.ndarray, most: int = 2000) -> float:
    """Standard deviation of c_ab over pairs of (the first `most`) inputs."""
    norms = np.linalg.norm(y[:most], axis=1)
    unit = y[:most] / np.where(norms > 0, norms, 1)[:, None]
    c = (unit @ unit.T)[np.triu_indices(len(unit), 1)]
    return float(c.std())


def first_layer(sigma_w: Any, sigma_b: Any = 0, *, mean: Any = 0.0, covariance: Any = 1.0) -> Guessing:
    """The state after the first Dense, from mean and covariance of the data.

    mean        the mean vector m, or a number for all coordinates (so that |m|^2/d is its square)
    covariance  the covariance matrix, the vector of variances, or one variance for all coordinates

    sigma_mu^2 = sigma_w^2 |m|^2/d + sigma_b^2, sigma_y^2 = sigma_w^2 tr(Sigma)/d: data that are not centred make a
    bias without any activation. (Of y = W x + b, W_ij ~ N(0, sigma_w^2/d): q_ab = sigma_w^2 x_a.x_b/d + sigma_b^2.)
    """
    m, spread = np.asarray(mean, float), np.asarray(covariance, float)
    power = float((m**2).mean())
    if spread.ndim == 2:
        if spread.shape[0] != spread.shape[1]:
            raise EocError("the covariance is no square matrix", instead="np.cov(x, rowvar=False)")
        spread = np.diagonal(spread)
    if m.ndim and spread.ndim and m.shape != spread.shape:
        raise EocError(f"mean of {m.size} and covariance of {spread.size} coordinates", why="they belong to one x")
    variance = float(spread.mean())
    if (spread < 0).any() or not np.isfinite([power, variance]).all():
        raise DomainError("the data have no such mean and covariance", instead="finite means, variances >= 0")
    w2, b2 = float(sigma_w) ** 2, float(sigma_b) ** 2
    return Guessing(w2 * power + b2, w2 * variance)


__all__ = [
    "HYPOTHESES",
    "Guessing",
    "MeanField",
    "Measured",
    "c_of_gamma",
    "first_layer",
    "gamma_of_c",
    "of_activations",
]
