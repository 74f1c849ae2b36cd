"""The scale-invariant class at every width: the kernel is a product of independent factors with a known law."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import comb
from typing import Any

import flint
from flint import acb, arb
from sympy import Expr, Integer, Rational, bell, factorial2

from derive.depth.enclosures import to_ball
from derive.gaussian.numbers import ball, plain_ball, to_enclosure
from derive.records import Enclosure, EocError

PRECISION = 160
LEFT = 32


@dataclass(frozen=True)
class ScaleInvariant:
    """phi(z) = plus z for z > 0 and minus z for z < 0, at criticality: sigma_w^2 = 1/A_2, sigma_b = 0.

    Layer by layer G' = R G with independent R = (1/n) sum_i Y_i, Y = phi(z)^2/(A_2 q), z ~ N(0, q): E R = 1 exactly,
    so that the mean kernel is that of the infinite network at every width, and Var R = s/n. Hence
    Var G^l = K^2 (prod_j (1 + s/n_j) - 1), and log(G^l/K) is a sum of independent terms, about
    N(-beta/2, beta) with beta = sum_j s/n_j (Hanin & Nica 2018, arXiv 1812.05994, for ReLU).

    plus, minus   slopes; numbers or expressions in parameters
    fixed         whether weights are orthogonal: then R is the Gaussian factor over an independent chi^2_n/n, the
                  factor of a linear network, which is 1 for orthogonal weights
    """

    plus: Expr
    minus: Expr
    fixed: bool = False

    def orthogonal(self) -> ScaleInvariant:
        """The law for square orthogonal weights in every layer, the first one's too."""
        return ScaleInvariant(self.plus, self.minus, True)

    def even(self, k: int) -> Expr:
        """A_2k = (plus^2k + minus^2k)/2."""
        return (self.plus ** (2 * k) + self.minus ** (2 * k)) / 2

    @property
    def s(self) -> Expr:
        """3 A_4/A_2^2 - 1: the width times the relative variance that one layer adds. Exact.

        Two less for orthogonal weights, for n -> oo: there Var R = (s - 2)/(n + 2).
        """
        return (3 * self.even(2) / self.even(1) ** 2 - 1 - (2 if self.fixed else 0)).cancel()

    def vertex(self, widths: Sequence[int]) -> Expr:
        """V^l/K^2 = n_(l-1) (prod_j (1 + s/n_j) - 1) over the widths of layers 1 to l - 1. Exact at every width."""
        if not widths:
            return Rational(0)
        product = Rational(1)
        for n in widths:
            product *= self.moment(2, n)
        return (widths[-1] * (product - 1)).cancel()

    def beta(self, widths: Sequence[int]) -> Expr:
        """sum_j s/n_j, the variance of log(G/K) to leading order."""
        return self.s * sum(Rational(1, n) for n in widths)

    def moment(self, k: int, n: int) -> Expr:
        """E R^k of a layer of width n, from the cumulants kappa_j(Y)/n^(j-1). Exact."""
        moments = [factorial2(2 * j - 1) * self.even(j) / self.even(1) ** j for j in range(1, k + 1)]
        cumulants: list[Expr] = []
        for j in range(1, k + 1):
            lower = sum((comb(j - 1, i - 1) * cumulants[i - 1] * moments[j - i - 1] for i in range(1, j)), Rational(0))
            cumulants.append((moments[j - 1] - lower).expand())
        scaled = [c / Rational(n) ** (j - 1) for j, c in enumerate(cumulants, 1)]
        total = sum((bell(k, i, scaled[: k - i + 1]) for i in range(1, k + 1)), Rational(0))
        if self.fixed:
            for i in range(k):
                total = total / (1 + Rational(2 * i, n))
        return total.cancel()

    def jacobian(self, n: int, layers: int) -> Expr:
        """E T^2 of T = |J|_F^2/n, J the Jacobian of `layers` layers of width n (E T = 1). Exact.

        Averaged over directions the spread starts as layers/n, not as s layers/n, but grows at the rate of a single
        direction. With r = A_4/A_2^2 - 1, x = E T^2 and y = E tr (J J^T)^2/n^2 obey x' = (1 + r/n) x + (2 + 2 r) y/n,
        y' = (1 + r) x/n + (1 + (1 + 2 r)/n) y from (1, 1/n): Wick's theorem, and isotropy of J J^T behind each weight.
        """
        if self.fixed:
            raise EocError("the Jacobian's norm for orthogonal weights has no law here", instead="Gaussian weights")
        r = (self.even(2) / self.even(1) ** 2 - 1).cancel()
        x, y, width = Rational(1), Rational(1, n), Rational(n)
        for _ in range(layers):
            x, y = x + (r * x + (2 + 2 * r) * y) / width, y + ((1 + r) * x + (1 + 2 * r) * y) / width
        return x.expand()

    def log_mean(self, n: int) -> Enclosure:
        """E[log R | R > 0] of a layer of width n. ENCLOSURE.

        R = 0 has probability 2^-n where one slope is 0 (every unit of the layer is off), which makes E log R infinite;
        a network in which that happens is dead, so the typical one is conditioned on R > 0.
        """
        return self._log(n)[0]

    def log_variance(self, n: int) -> Enclosure:
        """Var[log R | R > 0] of a layer of width n. ENCLOSURE."""
        return self._log(n)[1]

    def _log(self, n: int) -> tuple[Enclosure, Enclosure]:
        if int(n) != n or n < 1:
            raise EocError(f"n = {n!r} is no width", instead="n=256")
        found = _log_moments(self.plus**2 / self.even(1), self.minus**2 / self.even(1), int(n))
        if not self.fixed:
            return found
        line = _log_moments(Integer(1), Integer(1), int(n))
        with flint.ctx.workprec(PRECISION):
            mean, variance = (to_enclosure(to_ball(a) - to_ball(b)) for a, b in zip(found, line, strict=True))
            return mean, variance

    def power_mean(self, p: Any, n: int) -> Enclosure:
        """(E R^p)^(1/p) of a layer of width n for a rational p > 0; p = 1 is 1. ENCLOSURE.

        Raises EocError where p is no integer and the slopes differ in size and from 0.
        """
        if not isinstance(p, Fraction):
            p = Fraction(str(p))
        if p <= 0:
            raise EocError(f"p = {p} is no positive power", instead="log_mean(n) for p -> 0")
        with flint.ctx.workprec(PRECISION):
            whole = p.denominator == 1
            value = plain_ball(self.moment(int(p), n), {}) if whole else self._fractional(ball(p), n)
            if self.fixed and not whole:
                value = value / ScaleInvariant(Integer(1), Integer(1))._fractional(ball(p), n)
            return to_enclosure(value ** (1 / ball(p)))

    def has_power_mean(self, p: Fraction) -> bool:
        """Whether `power_mean` has a finite sum for this power."""
        return p.denominator == 1 or _counted(self.plus**2 / self.even(1), self.minus**2 / self.even(1)) is not None

    def _fractional(self, p: arb, n: int) -> arb:
        share = _counted(self.plus**2 / self.even(1), self.minus**2 / self.even(1))
        if share is None:
            raise EocError(
                "a mean of a fractional power where both sides have slopes of different size",
                why="the law of R has no finite sum there",
                instead="p=1 (mean), p=2, or log_mean(n)",
            )
        scale, split = share

        def term(b: int) -> arb:
            return (2 * scale / n) ** p * ((arb(b) / 2 + p).lgamma() - (arb(b) / 2).lgamma()).exp()

        return _binomial(n, term) if split else term(n)


def _counted(alpha: Expr, beta: Expr) -> tuple[arb, bool] | None:
    """R n/scale is chi^2 with n degrees of freedom, or with Bin(n, 1/2) of them (True); None for other laws."""
    if (alpha - beta).expand() == 0:
        return plain_ball(alpha, {}), False
    if alpha == 0 or beta == 0:
        return plain_ball(alpha + beta, {}), True
    return None


def _binomial(n: int, term: Callable[[int], arb]) -> arb:
    """The mean of term(B) for B ~ Bin(n, 1/2), terms at B = 0 counted as 0."""
    total, count = arb(0), flint.fmpz(1)
    for b in range(1, n + 1):
        count = count * (n - b + 1) // b
        total += arb(count) * term(b)
    return total / arb(2) ** n


@lru_cache(maxsize=256)
def _log_moments(alpha: Expr, beta: Expr, n: int) -> tuple[Enclosure, Enclosure]:
    with flint.ctx.workprec(PRECISION):
        share = _counted(alpha, beta)
        if share is None:
            mean, square = _by_transform(plain_ball(alpha, {}), plain_ball(beta, {}), n)
        else:
            mean, square = _by_counting(*share, n)
        return to_enclosure(mean), to_enclosure(square - mean**2)


def _by_counting(scale: arb, split: bool, n: int) -> tuple[arb, arb]:
    """E log and E log^2 of scale chi^2_B/n: psi(B/2) + log(2 scale/n), and psi'(B/2) plus its square."""
    shift = (2 * scale / n).log()

    def mean(b: int) -> arb:
        return (arb(b) / 2).digamma() + shift

    def square(b: int) -> arb:
        return acb(arb(b) / 2).polygamma(acb(1)).real + mean(b) ** 2

    if not split:
        return mean(n), square(n)
    alive = 1 - arb(2) ** (-n)
    return _binomial(n, mean) / alive, _binomial(n, square) / alive


def _by_transform(alpha: arb, beta: arb, n: int) -> tuple[arb, arb]:
    """E log R and E log^2 R from M(t) = E exp(-t R) = ((1 + 2 alpha t/n)^(-1/2) + (1 + 2 beta t/n)^(-1/2))^n / 2^n.

    int_0^oo t^(p-1) (exp(-t) - M(t)) dt = Gamma(p) (1 - E R^-p) at order p^0 and p^1:
    E log R = int (exp(-t) - M)/t dt, E log^2 R = -2 int (exp(-t) - M) log(t)/t dt - 2 gamma E log R. In u = log t, cut
    where |exp(-t) - M| <= t^2 (1 + E R^2)/2 on the left and M <= (1 + m t)^(-n/2), m the smaller slope, on the right.
    """
    slope_a, slope_b, half = 2 * alpha / n, 2 * beta / n, arb(n) / 2
    low = min(slope_a, slope_b)
    second = 1 + (3 * (alpha**2 + beta**2) / 2 - 1) / n
    right = max(6.0, float((arb(100) / half - low.log()).mid()) + 1)

    def gap(u: acb, analytic: bool) -> acb:
        t = u.exp()
        base = ((1 + slope_a * t).rsqrt(analytic) + (1 + slope_b * t).rsqrt(analytic)) / 2
        return (-t).exp() - base**n

    parts = [arb(k) for k in range(-LEFT, int(right) + 2, 2)]
    tail = (-2 * arb(LEFT)).exp() * (1 + second) / 2
    end = parts[-1]
    beyond = (low * end.exp()) ** (-half)
    last = (-end.exp()).exp()
    errors = (
        tail / 2 + beyond / half + last,
        tail * (2 * LEFT + 1) / 4 + beyond * (end / half + 1 / half**2) + 2 * end * last,
    )
    found = []
    for k, error in enumerate(errors):

        def integrand(u: acb, analytic: bool, k: int = k) -> acb:
            return gap(u, analytic) * u**k

        pieces = [acb.integral(integrand, a, b).real for a, b in pairwise(parts)]
        found.append(sum(pieces, arb(0)) + arb(0, error.upper()))
    return found[0], -2 * found[1] - 2 * arb.const_euler() * found[0]


__all__ = ["ScaleInvariant"]
