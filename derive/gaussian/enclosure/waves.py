"""Sums of waves and exponentials under a Gaussian, in balls: where a function turns too often for any quadrature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from flint import acb, arb
from sympy import Add, Expr, Mul, Poly, Pow, Symbol, cos, exp, sin

MOST_TERMS = 300
HIGHEST_POWER = 12
RATE = 8
"""Standard deviations times rate below which quadrature is as good, and a witness of its own."""


@dataclass(frozen=True)
class Wave:
    """coefficient * prod z_i**powers[i] * exp(sum rates[i] z_i), complex."""

    coefficient: acb
    powers: tuple[int, ...]
    rates: tuple[acb, ...]

    def __mul__(self, other: Wave) -> Wave:
        powers = tuple(a + b for a, b in zip(self.powers, other.powers, strict=True))
        rates = tuple(a + b for a, b in zip(self.rates, other.rates, strict=True))
        return Wave(self.coefficient * other.coefficient, powers, rates)


def waves(body: Expr, variables: tuple[Symbol, ...], constant: Callable[[Expr], arb]) -> list[Wave] | None:
    """The body as a sum of waves, or None where it is none (or one of too many)."""
    found = _waves(body, variables, constant)
    return found if found is None or len(found) <= MOST_TERMS else None


def is_fast(found: list[Wave], cov: list[list[arb]]) -> bool:
    """Whether some wave turns or grows fast against its standard deviation."""
    return any(abs(rate) * cov[i][i].sqrt() > RATE for wave in found for i, rate in enumerate(wave.rates))


def mean_of_waves(found: list[Wave], mean: list[arb], cov: list[list[arb]]) -> arb:
    """The sum of E z^n exp(a.z) = exp(a.m + a'Sa/2) E_{N(m + Sa, S)} z^n, by completing the square."""
    total, size = acb(0), range(len(mean))
    for wave in found:
        tilted = [sum((cov[i][j] * wave.rates[j] for j in size), acb(mean[i])) for i in size]
        exponent = sum((wave.rates[i] * (mean[i] + tilted[i]) / 2 for i in size), acb(0))
        total += wave.coefficient * exponent.exp() * _moment(wave.powers, tilted, cov)
    return total.real


def _moment(powers: tuple[int, ...], mean: list[acb], cov: list[list[arb]]) -> acb:
    """E z^n by Stein's recursion E z_i z^n = m_i E z^n + sum_j n_j S_ij E z^(n - e_j)."""
    i = next((i for i, power in enumerate(powers) if power), None)
    if i is None:
        return acb(1)
    less = _less(powers, i)
    value = mean[i] * _moment(less, mean, cov)
    for j, power in enumerate(less):
        if power:
            value += power * cov[i][j] * _moment(_less(less, j), mean, cov)
    return value


def _less(powers: tuple[int, ...], i: int) -> tuple[int, ...]:
    return tuple(power - (k == i) for k, power in enumerate(powers))


def _waves(expr: Expr, variables: tuple[Symbol, ...], constant) -> list[Wave] | None:
    still = tuple(0 for _ in variables), tuple(acb(0) for _ in variables)
    if not expr.has(*variables):
        return [Wave(acb(constant(expr)), *still)]
    if expr in variables:
        return [Wave(acb(1), tuple(int(z == expr) for z in variables), still[1])]
    if isinstance(expr, (Add, Mul)):
        parts = [_waves(part, variables, constant) for part in expr.args]
        return None if any(part is None for part in parts) else _joined(parts, isinstance(expr, Mul))
    if isinstance(expr, exp):
        return _exponential(expr.args[0], variables, constant, (acb(1),))
    if isinstance(expr, Pow) and expr.exp.is_Integer and 0 < expr.exp <= HIGHEST_POWER:
        base = _waves(expr.base, variables, constant)
        return None if base is None else _joined([base] * int(expr.exp), True)
    if isinstance(expr, (sin, cos)):
        return _exponential(expr.args[0], variables, constant, (acb(0, 1), acb(0, -1)), isinstance(expr, sin))
    return None


def _joined(parts: list, product: bool) -> list[Wave] | None:
    if not product:
        return [wave for part in parts for wave in part]
    total = parts[0]
    for part in parts[1:]:
        if total is None or len(total) * len(part) > MOST_TERMS:
            return None
        total = [first * second for first in total for second in part]
    return total


def _exponential(inside: Expr, variables, constant, units: tuple[acb, ...], odd: bool = False) -> list[Wave] | None:
    """exp(w) for one unit; cos(w) and sin(w) as half the sum or difference of exp(+-iw), for an affine w."""
    if not inside.is_polynomial(*variables) or Poly(inside, *variables).total_degree() > 1:
        return None
    poly = Poly(inside, *variables)
    shift = constant(poly.coeff_monomial(1))
    slopes = [constant(poly.coeff_monomial(z)) for z in variables]
    found, sign = [], 1
    for unit in units:
        weight = acb(1) if len(units) == 1 else (acb(0, -0.5) * sign if odd else acb(0.5))
        powers = tuple(0 for _ in variables)
        found.append(Wave(weight * (unit * shift).exp(), powers, tuple(unit * slope for slope in slopes)))
        sign = -sign
    return found
