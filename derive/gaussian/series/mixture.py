"""tanh as a finite mixture of error functions, with a proved bound that is uniform on the real line.

The logistic function is a scale mixture of normal distribution functions, sigma(x) = E Phi(x/(2 S)) with S
Kolmogorov-distributed (Stefanski, A normal scale mixture representation of the logistic distribution, Statistics
& Probability Letters 11, 1991), so tanh(x) = E erf(x/(sqrt(2) S)). The trapezoidal rule in log S makes the mean a
finite sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, log, log10, pi

import flint
from flint import acb, arb, fmpq

from derive.gaussian.series.kolmogorov import density, line_integral
from derive.gaussian.series.tanh_powers import derivative_at_zero
from derive.records import DomainError, Unsupported

ANGLE = 0.7
"""Half the width of the strip: the density has its natural boundary at pi/4, and the number of terms is flat here."""
SMALLEST, LARGEST = Fraction(1, 10**40), Fraction(1, 10)


@dataclass(frozen=True)
class Mixture:
    """tanh^(k)(x) = sum_i w_i d^k/dx^k erf(x/(sqrt(2) s_i)) + e, |e| <= bounds[k] for all real x.

    scales, weights  exact; the weights are positive and sum to 1
    bounds           of the function and of its derivatives, as exact numbers
    """

    scales: tuple[Fraction, ...]
    weights: tuple[Fraction, ...]
    bounds: tuple[Fraction, ...]


@lru_cache(maxsize=32)
def mixture(accuracy: Fraction, slopes: int = 0) -> Mixture:
    """A mixture with all bounds of tanh and its first `slopes` derivatives at most `accuracy`.

    Raises DomainError for an accuracy outside [1e-40, 0.1].
    """
    if not SMALLEST <= accuracy <= LARGEST:
        raise DomainError(f"a uniform accuracy of {float(accuracy)}", why=f"{SMALLEST} to {LARGEST} stand", where="")
    digits = ceil(-log10(accuracy)) + 3 + 2 * slopes  # s^-k magnifies what rounding the scales changes
    with flint.ctx.workprec(int(3.33 * digits) + 80):
        for halvings in range(20):
            found = _attempt(float(accuracy) / 2**halvings, digits, slopes)
            if all(bound <= accuracy for bound in found.bounds):
                return found
    raise Unsupported(
        f"no mixture of accuracy {float(accuracy)} for {slopes} derivatives", instead="a lower power, or .number()"
    )


def certify(
    scales: tuple[Fraction, ...], weights: tuple[Fraction, ...], step: Fraction, first: int, slope: int
) -> Fraction:
    """A bound of |tanh^(slope) - sum_i w_i erf(x/(sqrt(2) s_i))^(slope)|, given that s_i is near exp((first + i) step).

    Four parts: the trapezoidal rule with all its nodes (the integral of the modulus on both edges of the strip
    over exp(2 pi angle/step) - 1: Trefethen and Weideman, SIAM Review 56, 2014, theorem 5.1); the nodes left out,
    by the total mass; the weights given against those of the rule; the scales given against those of the rule.
    """
    nodes = [step * (first + i) for i in range(len(scales))]
    exact = [_ball(step) * density(acb(_ball(t))).real for t in nodes]
    size = _size(slope, arb(1))
    total = alias(step, slope) * _size(slope, (2 * arb(ANGLE)).cos())
    total = total + size * _left_out(nodes, exact, step, slope)
    moved = slope * size + _hermite_size(slope + 1, 1, arb(1))
    for t, p, s, w in zip(nodes, exact, scales, weights, strict=True):
        power, shift = _ball(s) ** -slope, abs(_ball(s).log() - _ball(t))
        total = total + abs(_ball(w) - p) * power * size + p * shift * power * moved * (shift * slope).exp()
    return _above(total)


def alias(step: Fraction, slope: int) -> arb:
    """The relative part of the trapezoidal rule's error: for |integrand| <= |p(t) exp(-slope t)| on the strip."""
    return 2 * line_integral(ANGLE, slope) / ((2 * arb.pi() * arb(ANGLE) / _ball(step)).exp() - 1)


def _attempt(goal: float, digits: int, slopes: int) -> Mixture:
    step, wide = _step(goal, slopes), 12
    count = int(wide / step)
    mass = {j: float(step) * float(density(acb(_ball(step * j))).real) for j in range(-count, count // 2)}
    sizes = [float(_size(k, arb(1))) for k in range(slopes + 1)]

    def weight(j: int) -> float:
        return mass[j] * max(size * 2.718281828459045 ** (-k * j * float(step)) for k, size in enumerate(sizes))

    low, high = min(mass), max(mass)
    for move in (1, -1):
        left = 0.0
        while (left := left + weight(low if move > 0 else high)) < goal / 12:
            low, high = (low + 1, high) if move > 0 else (low, high - 1)
    unit = 10**digits
    scales = tuple(_rounded(_ball(step * j).exp(), unit) for j in range(low, high + 1))
    weights = [_rounded(_ball(step) * density(acb(_ball(step * j))).real, unit) for j in range(low, high + 1)]
    top = max(range(len(weights)), key=weights.__getitem__)
    weights[top] += 1 - sum(weights)
    bounds = tuple(certify(scales, tuple(weights), step, low, k) for k in range(slopes + 1))
    return Mixture(scales, tuple(weights), bounds)


def _step(goal: float, slopes: int) -> Fraction:
    """The widest step, to three digits, with an error of the trapezoidal rule of half the goal."""
    cosine, widest = (2 * arb(ANGLE)).cos(), 1.0
    for k in range(slopes + 1):
        size = float(line_integral(ANGLE, k) * _size(k, cosine))
        widest = min(widest, 2 * pi * ANGLE / log(1 + 4 * size / goal))
    return Fraction(int(widest * 2000), 2000)


def _left_out(nodes: list[Fraction], exact: list[arb], step: Fraction, power: int) -> arb:
    """A bound of the sum of w s^-power over the nodes left out: the whole sum is near the moment E S^-power."""
    if power and power % 2 == 0:  # s^-k <= (s^-(k-1) + s^-(k+1))/2
        return (_left_out(nodes, exact, step, power - 1) + _left_out(nodes, exact, step, power + 1)) / 2
    kept = sum((p * (-power * _ball(t)).exp() for t, p in zip(nodes, exact, strict=True)), arb(0))
    return (_moment(power) + alias(step, power) - kept).max(arb(0))


def _moment(power: int) -> arb:
    """E S^-power for 0 and odd powers, from tanh^(k)(0) = sqrt(2/pi) He_(k-1)(0) E S^-k up to sign."""
    if power == 0:
        return arb(1)
    odd = 1
    for n in range(3, power, 2):
        odd *= n
    return abs(_ball(derivative_at_zero(power))) / (odd * _root())


def _size(slope: int, cosine: arb) -> arb:
    """A bound of |d^slope/dz^slope erf(z/sqrt(2))| where Re z^2 >= cosine |z|^2."""
    return 1 / cosine.sqrt() if slope == 0 else _hermite_size(slope, 0, cosine)


def _hermite_size(slope: int, shift: int, cosine: arb) -> arb:
    """A bound of |sqrt(2/pi) z^shift He_(slope-1)(z) exp(-z^2/2)|: r^m exp(-r^2 c/2) <= (m/(e c))^(m/2)."""
    total = arb(0)
    for n, c in enumerate(hermite_coefficients(slope - 1)):
        m = n + shift
        total = total + abs(c) * ((m / (arb(1).exp() * cosine)) ** (arb(m) / 2) if m else arb(1))
    return total * _root()


def hermite_coefficients(n: int) -> tuple[int, ...]:
    """Coefficients of the probabilists' Hermite polynomial He_n in ascending powers."""
    below, here = [0], [1]
    for k in range(n):
        up = [0, *here]
        for i, c in enumerate(below):
            up[i] -= k * c
        below, here = here, up
    return tuple(here)


def _root() -> arb:
    return (2 / arb.pi()).sqrt()


def _ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def _rounded(value: arb, unit: int) -> Fraction:
    return Fraction(_integer((value * unit).mid().floor()), unit)


def _above(value: arb) -> Fraction:
    """A short fraction above a ball."""
    exponent = -int(float((value.upper().log() / arb(10).log()).floor())) + 3
    scaled = (value.upper() * arb(10) ** exponent).upper()
    return Fraction(_integer(scaled.ceil()) + 1) / Fraction(10) ** exponent


def _integer(value: arb) -> int:
    """The value of an exact ball that is an integer."""
    man, exp = value.man_exp()
    return int(man) << int(exp) if exp >= 0 else int(man) >> -int(exp)


__all__ = ["Mixture", "certify", "hermite_coefficients", "mixture"]
