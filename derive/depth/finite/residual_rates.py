"""Rates per block of a residual network of scale-invariant activations, memory of earlier blocks included."""

from __future__ import annotations

from dataclasses import dataclass

import flint
from flint import arb

from derive.gaussian.numbers import to_enclosure
from derive.records import Enclosure, EocError

PRECISION, SMALL, MOST = 100, 1e-22, 2_000_000


@dataclass(frozen=True)
class ResidualRates:
    """Deep in a residual network of width n, per block and to order 1/n; ENCLOSURE.

    spread   nu: n times the growth of Var log |x|^2
    shift    mu: n times the growth of E |x|^2 relative to the infinite network's
    without_memory   what nu would be if each block saw fresh rows
    log_shift        mu - nu/2: n times the growth of E log(|x|^2/K)
    share    lambda^2: the part of the mean square that one block replaces
    """

    spread: Enclosure
    shift: Enclosure
    without_memory: Enclosure
    log_shift: Enclosure
    share: Enclosure


def residual_rates(plus: arb, minus: arb, a: arb, b: arb, weight: arb) -> ResidualRates:
    """The rates of x' = a x + b d with phi(z) = plus z or minus z on the two sides of 0, no biases.

    With gain g = a^2 + b^2 sigma_w^2 A_2, gamma^2 = a^2/g, lambda^2 = 1 - gamma^2, s = 3 A_4/A_2^2 - 1 and
    d = (plus^2 - minus^2)/(plus^2 + minus^2):
        nu = s lambda^4 + 4 gamma^2 lambda^2 + 2 lambda^4 d^2 sum_k S(gamma^k),
        mu = lambda^4 d^2 sum_k s2(gamma^k),
        S(c) = (6 c sqrt(1 - c^2) + 2 asin(c) (1 + 2 c^2))/pi, s2(c) = 2 (asin(c) + c sqrt(1 - c^2))/pi:
    S and s2 are Cov(phi^2(z), phi^2(z')) and Cov(phi^2(z), (phi^2)''(z')) of the odd part z|z| at correlation c
    (derivation: docs/theory/finite-width.md). The tails are bounded by S(c) <= (3 + 6/pi) c, s2(c) <= (1 + 2/pi) c.
    For ReLU the correlation between layers is that of Li, Nica, Roy 2021 (arXiv 2106.04013).
    """
    with flint.ctx.workprec(PRECISION):
        second, fourth = (plus**2 + minus**2) / 2, (plus**4 + minus**4) / 2
        branch = b**2 * weight * second
        gain = a**2 + branch
        if not branch > 0 or not gain > 0:
            raise EocError("a branch that adds nothing has no rates", instead="scale > 0, sigma_w > 0")
        gamma, share = (a**2 / gain).sqrt(), branch / gain
        odd = ((plus**2 - minus**2) / (plus**2 + minus**2)) ** 2
        fresh = (3 * fourth / second**2 - 1) * share**2 + 4 * gamma**2 * share
        nu, mu = arb(0), arb(0)
        if odd != 0 and a != 0:
            nu, mu = _sums(gamma)
        nu = fresh + 2 * share**2 * odd * nu
        mu = share**2 * odd * mu
        return ResidualRates(*(to_enclosure(v) for v in (nu, mu, fresh, mu - nu / 2, share)))


def _sums(gamma: arb) -> tuple[arb, arb]:
    """sum_(k >= 1) S(gamma^k) and s2(gamma^k), with bounded tails."""
    pi, nu, mu, c, count = arb.pi(), arb(0), arb(0), gamma, 0
    while not c < SMALL:
        root, angle = (1 - c**2).sqrt(), c.asin()
        nu += (6 * c * root + 2 * angle * (1 + 2 * c**2)) / pi
        mu += 2 * (angle + c * root) / pi
        c, count = c * gamma, count + 1
        if count > MOST:
            raise EocError("the branch is so small that its memory has no finite sum here", instead="scale > 1e-3")
    rest = (c / (1 - gamma)).upper()
    return nu + arb(0, 1) * (3 + 6 / pi) * rest, mu + arb(0, 1) * (1 + 2 / pi) * rest


__all__ = ["ResidualRates", "residual_rates"]
