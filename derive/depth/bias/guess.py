"""Which class a random network guesses: the law of the fraction G of inputs that it assigns to a class.

Outputs are Y_k = m_k + noise over the data, centres m_k ~ N(0, sigma_mu^2) over weights, noise ~ N(0, sigma_y^2);
gamma = sigma_mu^2/sigma_y^2 of the output layer is all that matters. Two classes: G = Phi(sqrt(gamma) Z), Z ~ N(0, 1)
(Francazi, Lucchi & Baity-Jesi 2024, arXiv 2306.00809). More: `Classes`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np

from derive.depth.bias.normal import bivariate_cdf, cdf, density
from derive.records import DomainError, EocError

NORMAL = NormalDist()


def _checked(gamma: Any) -> float:
    value = float(gamma)
    if not value >= 0:
        raise DomainError(f"gamma = {gamma} is no ratio of variances", instead="a number >= 0, or inf")
    return value


@dataclass(frozen=True)
class TwoClasses:
    """The law of G = P(class 1 | weights) for two classes with outputs of one variance.

    Exact formulas in elementary functions and Phi, in floats. gamma = 0: all mass at 1/2; gamma = 1: uniform on [0, 1];
    gamma = inf: mass 1/2 at 0 and at 1.
    """

    gamma: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", _checked(self.gamma))

    @property
    def regime(self) -> str:
        """neutrality (gamma < 1), uniform (gamma = 1), prejudice (1 < gamma < inf), deep prejudice (gamma = inf)."""
        if math.isinf(self.gamma):
            return "deep prejudice"
        return "neutrality" if self.gamma < 1 else "prejudice" if self.gamma > 1 else "uniform"

    def density(self, g: Any) -> Any:
        """gamma^(-1/2) exp(z^2 (1 - 1/gamma)/2), z = Phi^-1(g), on 0 < g < 1.

        Raises DomainError at gamma = 0 and inf, where the law has no density.
        """
        if self.gamma == 0 or math.isinf(self.gamma):
            raise DomainError(f"at gamma = {self.gamma} the law of G has no density", why="its mass sits at points")
        z = self._quantile(g)
        return np.exp(z * z * (1 - 1 / self.gamma) / 2) / math.sqrt(self.gamma)

    def cdf(self, g: Any) -> Any:
        """P(G <= g) = Phi(Phi^-1(g)/sqrt(gamma))."""
        g = np.asarray(g, float)
        if self.gamma == 0:
            return np.where(g >= 0.5, 1.0, 0.0)
        if math.isinf(self.gamma):
            return np.where(g >= 1, 1.0, np.where(g >= 0, 0.5, 0.0))
        inner = cdf(self._quantile(np.clip(g, 1e-300, 1 - 2**-53)) / math.sqrt(self.gamma))
        return np.where(g >= 1, 1.0, np.where(g <= 0, 0.0, inner))

    def _quantile(self, g: Any) -> Any:
        g = np.asarray(g, float)
        return np.array([NORMAL.inv_cdf(v) for v in g.ravel().tolist()]).reshape(g.shape)

    def exceeds(self, m: float) -> float:
        """P(max(G, 1 - G) > m) = 2 Phi(-Phi^-1(m)/sqrt(gamma)), 1/2 <= m < 1."""
        if not 0.5 <= m < 1:
            raise DomainError(f"m = {m} is no largest of two fractions", why="1/2 <= m < 1")
        if self.gamma == 0:
            return 0.0
        if math.isinf(self.gamma):
            return 1.0
        return math.erfc(NORMAL.inv_cdf(m) / math.sqrt(2 * self.gamma))

    @property
    def correlation(self) -> float:
        """c = gamma/(1 + gamma)."""
        return 1.0 if math.isinf(self.gamma) else self.gamma / (1 + self.gamma)

    @property
    def mean(self) -> float:
        """E G = 1/2: over weights no class is preferred."""
        return 0.5

    @property
    def variance(self) -> float:
        """arcsin(c)/(2 pi)."""
        return math.asin(self.correlation) / (2 * math.pi)

    @property
    def same_class(self) -> float:
        """P(two random inputs get one class) = 1/2 + arcsin(c)/pi."""
        return 0.5 + math.asin(self.correlation) / math.pi

    @property
    def mean_largest(self) -> float:
        """E max(G, 1 - G) = 1/2 + arctan(sqrt(gamma))/pi."""
        return 0.5 + math.atan(math.sqrt(self.gamma)) / math.pi

    @property
    def median_largest(self) -> float:
        """The median of max(G, 1 - G): Phi(sqrt(gamma) Phi^-1(3/4))."""
        if math.isinf(self.gamma):
            return 1.0
        return NORMAL.cdf(math.sqrt(self.gamma) * NORMAL.inv_cdf(0.75))

    def finite_variance(self, n: int) -> float:
        """Variance of the fraction seen on n inputs, Binomial(n, G)/n: Var G + E G(1 - G)/n."""
        return self.variance + (0.25 - self.variance) / _count(n)

    def finite_mass(self, n: int) -> np.ndarray:
        """P(k of n inputs get class 1), k = 0..n: the mean of Binomial(n, G) over G."""
        n = _count(n)
        if self.gamma == 0 or math.isinf(self.gamma):
            points, weights = np.array([0.5] if self.gamma == 0 else [0.0, 1.0]), np.empty(0)
            weights = np.full(len(points), 1 / len(points))
            z = None
        else:
            # the integrand is exp(-z^2/2) times p^k (1-p)^(n-k) of width above 1/sqrt(n gamma)
            step = 0.25 / math.sqrt(1 + n * self.gamma / 4) if self.gamma > 1 / n else 0.1
            z = np.arange(-9, 9 + step, step)
            weights = density(z) * step
            points = z * math.sqrt(self.gamma)
        k = np.arange(n + 1)
        if z is None:
            p = points[:, None]
            with np.errstate(divide="ignore", invalid="ignore"):
                logs = np.where(k == 0, 0.0, k * np.log(p)) + np.where(k == n, 0.0, (n - k) * np.log1p(-p))
        else:
            upper, lower = np.log(np.maximum(cdf(points), 1e-320)), np.log(np.maximum(cdf(-points), 1e-320))
            logs = k * upper[:, None] + (n - k) * lower[:, None]
        choose = np.array([math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) for i in k])
        return weights @ np.exp(logs + choose)

    def __str__(self) -> str:
        return f"two classes, gamma = {self.gamma:g} ({self.regime}): E max G = {self.mean_largest:.6g}"


def _count(n: Any) -> int:
    if not isinstance(n, int) or n < 1:
        raise EocError(f"n = {n!r} inputs", why="a data set is counted", instead="n=1000")
    return n


@dataclass(frozen=True)
class Classes:
    """The law of the fractions G_1..G_K for K classes, by its means; floats to about 1e-11.

    All are one function of a correlation r, S(r) = K E Phi_2(u, v; r)^(K-1) over a pair of normals with correlation r:
    the chance that two correlated sets of K normals have their largest at the same place. P(same class) = S(c), and
    E max G = S(sqrt(c)), because the favoured class is the one with the largest centre, whose correlation with the
    output is sqrt(c). gamma = 1 is no threshold for K > 2: nothing is uniform there.
    """

    gamma: float
    k: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", _checked(self.gamma))
        if not isinstance(self.k, int) or self.k < 2:
            raise EocError(f"K = {self.k!r} classes", why="there are at least two", instead="k=10")

    @property
    def correlation(self) -> float:
        """c = gamma/(1 + gamma)."""
        return 1.0 if math.isinf(self.gamma) else self.gamma / (1 + self.gamma)

    @property
    def mean(self) -> float:
        """E G_k = 1/K."""
        return 1 / self.k

    @cached_property
    def same_class(self) -> float:
        """P(two random inputs get one class) = sum over k of E G_k^2 = S(c)."""
        return agreement(self.correlation, self.k)

    @cached_property
    def mean_largest(self) -> float:
        """E max_k G_k = S(sqrt(c))."""
        return agreement(math.sqrt(self.correlation), self.k)

    @property
    def variance(self) -> float:
        """Var G_k = S(c)/K - 1/K^2."""
        return self.same_class / self.k - 1 / self.k**2

    def finite_variance(self, n: int) -> float:
        """Variance of the fraction of one class seen on n inputs: Var G + E G(1 - G)/n."""
        return self.variance + (1 / self.k - self.same_class / self.k) / _count(n)


def agreement(r: float, k: int) -> float:
    """S(r): the chance that K pairs of standard normals with correlation 0 <= r <= 1 have their maxima at one place.

    S = K E Phi_2(u, v; r)^(K-1); 1/2 + arcsin(r)/pi for K = 2; the trapezoidal rule in the sum and the difference of
    the pair, which converges geometrically.
    """
    if not 0 <= r <= 1:
        raise DomainError(f"r = {r} is no such correlation", why="0 <= r <= 1")
    if r == 1:
        return 1.0
    if k == 2:
        return 0.5 + math.asin(r) / math.pi
    if r == 0:
        return 1 / k
    step = 0.18 / max(1.0, 1 + math.log10(k / 30) / 1.5)  # the largest of many is known more closely
    p, d = np.meshgrid(np.arange(-9, 9 + step, step), np.arange(0, 9 + step, step), indexing="ij")
    u, v = (math.sqrt((1 + r) / 2) * p + sign * math.sqrt((1 - r) / 2) * d for sign in (1, -1))
    weight = density(p) * density(d) * np.where(d == 0, 1, 2) * step * step
    return min(float(k * np.sum(weight * bivariate_cdf(u, v, r) ** (k - 1))), 1.0)


__all__ = ["Classes", "TwoClasses", "agreement"]
