"""The law of the kernel at L/n = t held fixed, at criticality: beyond the expansion in t."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath

DIGITS = 30


def power_class(s: float, sigma: float, t: float) -> tuple[float, float]:
    """(E, Var) of log(G_L/K_L) for L, n -> oo at L/n = t where q' = q (1 - c q^sigma); floats to about 1e-9.

    u = G^(-sigma) obeys du = c sigma dl + (sigma (1 + sigma) s/2) u dl/n + sigma sqrt(s/n) u dB, so that with
    nu = 1/sigma and tau = sigma^2 s t/4 the law of (K/G)^sigma is that of A/tau, A = int_0^tau exp(2 (B_x + nu x)) dx.
    At an exponential time of rate p, A is Beta(1, (m + nu)/2)/(2 Gamma((m - nu)/2)), m = sqrt(2 p + nu^2)
    (Yor 1992, Adv. Appl. Prob. 24, 509), whose logarithm has polygamma moments; their Laplace transforms are inverted.
    """
    nu, tau = 1 / mpmath.mpf(sigma), mpmath.mpf(sigma) ** 2 * mpmath.mpf(s) * mpmath.mpf(t) / 4
    with mpmath.workdps(DIGITS):
        first = _inverted(lambda p: _mean(p, nu), tau)
        second = _inverted(lambda p: _mean(p, nu) ** 2 + _variance(p, nu), tau)
        mean = first - mpmath.log(tau)
        return float(-mean / sigma), float((second - first**2) / sigma**2)


def _parameters(p: Any, nu: Any) -> tuple[Any, Any]:
    m = mpmath.sqrt(2 * p + nu**2)
    return (m + nu) / 2, (m - nu) / 2


def _mean(p: Any, nu: Any) -> Any:
    a, b = _parameters(p, nu)
    return mpmath.digamma(1) - mpmath.digamma(1 + a) - mpmath.log(2) - mpmath.digamma(b)


def _variance(p: Any, nu: Any) -> Any:
    a, b = _parameters(p, nu)
    return mpmath.psi(1, 1) - mpmath.psi(1, 1 + a) + mpmath.psi(1, b)


def _inverted(f: Callable[[Any], Any], tau: Any) -> Any:
    """g(tau) from p int_0^oo e^(-p x) g(x) dx = f(p), on Talbot's contour."""
    return mpmath.invertlaplace(lambda p: f(p) / p, tau, method="talbot", degree=24)


def inverse_power_mean(s: float, sigma: float, t: float) -> float:
    """E (K/G)^sigma = (e^(rt) - 1)/(r t), r = s sigma (1 + sigma)/2. Exact."""
    r = s * sigma * (1 + sigma) / 2 * t
    return float(mpmath.expm1(r) / r)


__all__ = ["inverse_power_mean", "power_class"]
