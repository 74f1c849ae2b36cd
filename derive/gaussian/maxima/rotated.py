"""Pairs of maxima where the inputs are nearly alike or nearly opposite: coordinates along and across the diagonal.

With r = |c|, v' = v or -v so that u and v' have correlation r, and s = a x + b y, t' = a x - b y,
a = sqrt((1 + r)/2), b = sqrt((1 - r)/2): (x, y) are independent standard normals, whatever r. The chance that the pair
(u, v') lies across the corner (s, t') is Psi = 2 sum_m T^(2m+1) He_2m(x) phi(x) I_(2m+1)(|y|), T = b/a, where I_n is
the n-fold integral of the normal density from |y| on (Taylor's series of Phi(x + T h) - Phi(x - T h), integrated).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import flint
from flint import acb, arb, arb_poly

from derive.gaussian.enclosure.growth import tail
from derive.gaussian.enclosure.quadrature import upper
from derive.gaussian.maxima.cells import Line, heights, integral
from derive.gaussian.maxima.mehler import CRAMER, normal_cdf

LONGEST = 60


class Side(NamedTuple):
    """A function of one input and its standard deviation; `one` where it is the constant 1."""

    h: Any
    sigma: arb
    one: bool


@dataclass(frozen=True, eq=False)
class Turned:
    """The integrand of a pair of maxima in rotated coordinates.

    sign    of c
    plain   True: f(s) g(t) Phi_2^(k-1) phi(x) phi(y), both maxima taken by one pair; False: F'(s) G'(t) times the
            gap of Phi_2^k from its value at c = 1 or -1 (Hoeffding's form), times the Jacobian 2 a b
    """

    first: Side
    second: Side
    sign: int
    k: int
    plain: bool
    a: arb
    b: arb
    terms: int
    rest: arb
    memo: dict = field(default_factory=dict, repr=False)

    def pieces(self, x: arb, y: arb) -> tuple[int, int, bool]:
        """The pieces of both functions, and whether y < 0."""
        s, t = self.a * x + self.b * y, self.sign * (self.a * x - self.b * y)
        found = [
            sum(1 for e in side.h.breaks if e.mid() < (side.sigma * z).mid())
            for side, z in ((self.first, s), (self.second, t))
        ]
        return found[0], found[1], bool(y < 0)

    def row(self, y: arb) -> arb_poly:
        """Psi/phi(x) as a polynomial in x^2."""
        z, ratio = abs(y), self.b / self.a
        with flint.ctx.workprec(flint.ctx.prec + 6 * self.terms + 200):
            before, now = (-z * z / 2).exp() * (2 * arb.pi()).rsqrt(), normal_cdf(-z)
            total, power = [arb(0)] * (self.terms + 1), 2 * ratio
            for n in range(1, 2 * self.terms + 2):
                before, now = now, (before - z * now) / n
                if n % 2:
                    for j, h in enumerate(_hermite(n // 2, self.memo)):
                        total[j] = total[j] + power * now * h
                    power = power * ratio * ratio
        return arb_poly(total)

    def value(self, x: arb, y: arb, row: arb_poly, p: tuple[int, int, bool]) -> arb:
        """The integrand at a point."""
        s, mirrored = self.a * x + self.b * y, self.a * x - self.b * y
        factor = self._factors(s, self.sign * mirrored, p)
        bell = (-x * x / 2).exp() * (2 * arb.pi()).rsqrt()
        across = row(x * x) * bell + arb(0, self.rest)
        if self.sign > 0:
            alike = normal_cdf(s if p[2] else mirrored)
            joint = alike - across
        else:
            alike = arb(0) if p[2] else normal_cdf(s) - normal_cdf(mirrored)
            joint = alike + across
        if self.plain:
            return factor * joint ** (self.k - 1) * bell * (-y * y / 2).exp() * (2 * arb.pi()).rsqrt()
        return factor * (joint**self.k - alike**self.k) * 2 * self.a * self.b

    def _factors(self, s: arb, t: arb, p: tuple[int, int, bool]) -> arb:
        total = arb(1)
        for side, z, piece in ((self.first, s, p[0]), (self.second, t, p[1])):
            total = total if side.one else total * side.h.value(piece, acb(side.sigma * z), False).real
        return total

    def size(self, x: acb, y: acb, p: tuple[int, int, bool]) -> float:
        """A bound on complex boxes: a shift by i(g, h) multiplies Gaussian chances by exp((g^2 + h^2)/2) at most."""
        s, t = self.a * x + self.b * y, self.sign * (self.a * x - self.b * y)
        sizes = 1.0
        for side, z, piece in ((self.first, s, p[0]), (self.second, t, p[1])):
            sizes *= 1.0 if side.one else upper(side.h.value(piece, side.sigma * z, True))
        if not sizes < float("inf"):
            return sizes
        g, h = (abs(z.imag).upper() for z in (x, y))
        grown = (self.k * (g * g + h * h) / 2).exp() * (1 if self.sign > 0 else 2**self.k)
        if self.plain:
            return sizes * float((grown * (-(x.real**2 + y.real**2) / 2).exp()).upper()) / 6.28
        return sizes * float((grown * 2 * 2 * self.a * self.b).upper())

    def small(self, x: arb, y: arb, p: tuple[int, int, bool]) -> float:
        """A bound on real boxes: Psi <= exp(-max(y^2, (a|x| + b|y|)^2)/2)/2."""
        s, t = self.a * x + self.b * y, self.sign * (self.a * x - self.b * y)
        sizes = 1.0
        for side, z, piece in ((self.first, s, p[0]), (self.second, t, p[1])):
            sizes *= 1.0 if side.one else upper(side.h.value(piece, acb(side.sigma * z), False))
        if not sizes < float("inf"):
            return sizes
        out, up = abs(x).lower(), abs(y).lower()
        if self.plain:
            return sizes * float((-(out * out + up * up) / 2).exp().upper()) / 6.28
        far = up.max(self.a * out + self.b * up)
        return sizes * float(((-far * far / 2).exp() * self.k * self.a * self.b).upper())


def turned(first: Side, second: Side, c: arb, k: int, plain: bool, reach: float, goal: float) -> arb:
    """The integral for one c with 0 < |c| < 1, over the whole plane. Raises Unsupported."""
    sign = 1 if c > 0 else -1
    r, far = abs(c), arb(reach)
    a, b = ((1 + r) / 2).sqrt(), ((1 - r) / 2).sqrt()
    terms, rest = _length(b / a, goal)
    plane = Turned(first, second, sign, k, plain, a, b, terms, rest)
    lines = [Line(-far / a, arb(0)), Line(far / a, arb(0))]
    lines += [Line(e / first.sigma / a, -b / a) for e in first.h.breaks if abs(e / first.sigma) < far]
    lines += [Line(sign * e / second.sigma / a, b / a) for e in second.h.breaks if abs(e / second.sigma) < far]
    levels = heights(lines, far)
    alike = plain is False and sign > 0 and first is second
    if alike:  # the mirror image in the diagonal
        levels = [h for h in levels if h <= 0]
    inner = integral(plane, levels, lines, goal) * (2 if alike else 1)
    return inner + arb(0, _beyond(first, second, a, b, k, plain, far).upper())


def _length(ratio: arb, goal: float) -> tuple[int, arb]:
    """Terms of the series, and a bound of its rest: Cramer's inequality, and I_n(0) falls as sqrt(n!) grows."""
    first = arb(CRAMER) * (2 * arb.pi()).rsqrt() * 2 * ratio
    for terms in range(1, LONGEST):
        first = first * ratio * ratio
        rest = first / (1 - ratio * ratio)
        if rest < goal:
            return terms, rest.upper()
    return LONGEST, rest.upper()


def _hermite(m: int, memo: dict) -> list[int]:
    """He_2m as integer coefficients in x^2."""
    if m not in memo:
        rows = [[1], [0, 1]]
        for n in range(1, 2 * m):
            up = [0, *rows[-1]]
            down = [*(n * w for w in rows[-2]), 0, 0]
            rows.append([x - y for x, y in zip(up, down, strict=False)])
        memo[m] = rows[2 * m][::2]
    return memo[m]


def _beyond(first: Side, second: Side, a: arb, b: arb, k: int, plain: bool, far: arb) -> arb:
    """What lies outside: |s|, |t| <= R = a|x| + b|y| and Psi <= exp(-max(y^2, R^2)/2)/2; the rest is a tail in R."""
    bounds = [scaled(side) for side in (first, second)]
    both = bounds[0] * bounds[1]
    weight = tail(both, arb(1), far, degree=1)
    # twice, because strips next to the outer lines may reach beyond them
    if plain:  # (x, y) beyond a square of that half width: R <= |(x, y)|, polar coordinates
        return 2 * weight
    return 16 * k * b * weight


def scaled(side: Side) -> Any:
    """The growth of h(sigma s) in s, for sigma of any size."""
    bound, sigma = side.h.bound, side.sigma
    stretch = sigma.max(arb(1))
    return type(bound)(bound.a + bound.n * stretch.log(), bound.b * sigma, bound.s * sigma * sigma, bound.n)
