"""Where a function is a monomial to all digits: the part of a Gaussian integral that needs no quadrature.

tanh, the logistic function and what is made of them reach their asymptotes exponentially fast, and their poles stay
near the real axis: at a large variance an adaptive rule would spend thousands of panels on a constant.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flint import acb, arb
from sympy import Add, Expr, Poly, cosh, expand

from derive.activation.interval import Range, intersect
from derive.activation.ranges import Ranges, constant
from derive.activation.tail import Tail
from derive.gaussian.enclosure.growth import Bound
from derive.gaussian.enclosure.stable import far_form
from derive.program.symbols import X
from derive.records import Unsupported

if TYPE_CHECKING:
    from derive.gaussian.enclosure.corners import Approach
    from derive.gaussian.enclosure.prepared import Analysed

LARGEST_POWER = 6
STARTS = (4, 6, 9, 14, 20, 30, 45, 70, 200, 1000)
FARTHEST = 60
"""Standard deviations up to which the two-variable rules ask."""
WORTH_IT = 40
"""Standard deviations below which quadrature is as fast."""


@dataclass(frozen=True, slots=True)
class FlatPart:
    """The integral of f(sigma z) exp(-z**2/2) over start < side*z < end."""

    start: arb
    value: arb


def flat_part(f, sigma: arb, side: int, end: arb, tolerance: arb, digits: int) -> FlatPart | None:
    """The outer part of the integral on one side, if f = r x**n there with an r known to the tolerance.

    r is enclosed by the range of f/x**n over the whole interval; its integral is r times a partial moment.
    """
    source: Any = getattr(f, "source", None)
    if not sigma > WORTH_IT or f.undecided or not hasattr(source, "form"):
        return None
    cell = source.form.cells[-1 if side > 0 else 0]
    edges = [abs(edge).upper() for edge in f.breaks]
    far = (sigma * end).upper()
    start = arb(5 * (digits + 4)) / 2
    for _ in range(4):
        if not start * 4 < far:
            return None
        if all(edge < start for edge in edges):
            found = _monomial(cell.value, source.values, side, start, far, sigma, end, tolerance)
            if found is not None:
                return FlatPart((start / sigma).mid(), found)
        start = start * 4
    return None


def _monomial(value, values, side: int, start: arb, far: arb, sigma: arb, end: arb, tolerance: arb) -> arb | None:
    cut = (start / sigma).mid()
    if value.has(cosh):
        value = expand(far_form(value, side), power_exp=False, log=False)
    base, value = _polynomial_part(value, values)
    fixed = arb(0)
    for power, coefficient in enumerate(reversed(base)):
        fixed += coefficient * sigma**power * _partial_moment(power, cut, end) * (side**power)
    for power in range(LARGEST_POWER + 1):
        found = _ratio(value, values, side, start, far, power)
        if found is None:
            continue
        moment = sigma**power * _partial_moment(power, cut, end) * (side**power)
        part = found * moment
        if part.rad() <= tolerance:
            return fixed + part
    return None


def _ratio(value: Expr, values, side: int, start: arb, far: arb, power: int) -> arb | None:
    """A ball that contains f/x**power for start <= |x| <= far on a side, or None.

    Summands whose range is not known are bounded by their growth: x exp(x) exp(-exp(x)) is 0 to all digits.
    """
    ranges = Ranges(start, far, values) if side > 0 else Ranges(-far, -start, values)
    total: Range = Range(arb(0), arb(0))
    try:
        whole = ranges(value / X**power)
        if whole.finite() and not isinstance(value, Add):
            return whole.ball()
        for term in Add.make_args(expand(value, power_exp=False, log=False)):
            part = ranges(term / X**power)
            size = _decaying(term / X**power, values, side, start, far) if part.low < 0 < part.high else None
            if size is not None:
                part = intersect(part, Range(-size, size))
            if not part.finite():
                return None
            total = total + part
    except Unsupported:
        return None
    return total.ball()


def _decaying(term: Expr, values, side: int, start: arb, far: arb) -> arb | None:
    """A bound of |term| for start <= |x| <= far, where its growth bound falls from the start on."""
    log = Tail(side, start, values, far).above(term)
    if log is None or not log.s <= 0:
        return None
    falls = log.b + 2 * log.s * start + (log.n / (1 + start) if log.n > 0 else 0)
    if not falls <= 0:
        return None
    return (log.a + log.b * start + log.s * start * start + log.n * (1 + start).log()).exp().upper()


@dataclass(frozen=True, eq=False)
class Flattened:
    """f with outer parts, x < -starts[0] and x > starts[1], replaced by p + r x**n; each r is exact.

    bases  the polynomial summands p of f on either side, coefficients in descending powers
    error  |f - p - r x**n| <= error |x|**n there
    """

    f: Analysed
    starts: tuple[arb, arb]
    power: int
    ratios: tuple[arb, arb]
    error: arb
    parity: int
    bases: tuple[tuple[arb, ...], tuple[arb, ...]] = ((), ())
    undecided: tuple[int, ...] = ()

    @cached_property
    def memo(self) -> dict:
        """What rules keep of the function."""
        return {}

    @property
    def breaks(self) -> tuple[arb, ...]:
        return (-self.starts[0], *self.f.breaks, self.starts[1])

    def value(self, i: int, z: acb, analytic: bool) -> acb:
        if 0 < i < len(self.f.breaks) + 2:
            return self.f.value(i - 1, z, analytic)
        base = acb(0)
        for coefficient in self.bases[1 if i else 0]:
            base = base * z + coefficient
        return base + self.ratios[1 if i else 0] * z**self.power

    def corner(self, i: int, side: int) -> Approach | None:
        """The corner of f."""
        return self.f.corner(i - 1, side) if 0 < i < len(self.f.breaks) + 2 else None

    @property
    def bound(self) -> Bound:
        """That of f and of the outer parts."""
        (a, b, s, n), top = self.f.bound, arb(1)
        for ratio, base in zip(self.ratios, self.bases, strict=True):
            top = top.max(sum((abs(coefficient) for coefficient in base), abs(ratio)))
        degree = max(self.power, *(len(base) - 1 for base in self.bases))
        return Bound(a.max(top.log().upper()), b, s, n.max(arb(degree)))


def flattened(f, sigma: arb, digits: int) -> Flattened | None:
    """f with monomials far out, where they are known to the digits and worth it; None where not."""
    source: Any = getattr(f, "source", None)
    if not sigma > WORTH_IT or f.undecided or not hasattr(source, "form") or f.bound.b > 0 or f.bound.s > 0:
        return None
    cells, far = source.form.cells, (sigma * FARTHEST).upper()
    if len(cells) == 1 and cells[0].value.is_polynomial(X):
        return None
    for power in range(LARGEST_POWER + 1):
        left, right = (_from_where_on(f, side, power, far, digits) for side in (-1, 1))
        if left is None or right is None:
            continue
        ratios, bases = (left[1].mid(), right[1].mid()), (left[2], right[2])
        plain = bases == ((), ())
        if plain and f.parity and left[0] == right[0] and left[1].overlaps(f.parity * (-1) ** power * right[1]):
            ratios = f.parity * (-1) ** power * ratios[1], ratios[1]
        parity = f.parity if plain and ratios[0] == f.parity * (-1) ** power * ratios[1] and left[0] == right[0] else 0
        error = max(abs(found[1] - r).upper() for found, r in zip((left, right), ratios, strict=True))
        return Flattened(f, (left[0], right[0]), power, ratios, error, parity, bases)
    return None


def _from_where_on(f, side: int, power: int, far: arb, digits: int) -> tuple[arb, arb, tuple[arb, ...]] | None:
    """(start, a ball of that many digits that contains (f - p)/x**power from there to `far`, p), or None."""
    value = f.source.form.cells[-1 if side > 0 else 0].value
    base, rest = _polynomial_part(far_form(value, side), f.source.values)
    nearest = max([arb(0), *(side * edge.upper() for edge in f.breaks)])
    for start in STARTS:
        if start <= nearest or not start * 4 < far:
            continue
        found = _ratio(rest, f.source.values, side, arb(start), far, power)
        if found is not None and found.rad() <= arb(10) ** (-digits - 4):
            return arb(start), found, base
    return None


def _polynomial_part(value: Expr, values) -> tuple[tuple[arb, ...], Expr]:
    """The polynomial summands as coefficients in descending powers, and the other ones: log cosh x is like |x| - log 2.

    Nothing is split off where every summand, or none that depends on x, is a polynomial.
    """
    terms = Add.make_args(value)
    polynomial = [term for term in terms if term.is_polynomial(X)]
    if len(polynomial) == len(terms) or not any(term.has(X) for term in polynomial):
        return (), value
    coefficients = Poly(Add(*polynomial), X).all_coeffs()
    rest = Add(*(term for term in terms if term not in polynomial))
    return tuple(constant(c, values) for c in coefficients), rest


def flat_error(f: Flattened, sigma: arb, g: Bound, other: arb) -> arb:
    """A bound of E |f(u) - f~(u)| |g(v)| by Cauchy-Schwarz, for |g| <= exp(a)(1 + |x|)^n.

    E u^(2n) = (2n - 1)!! sigma^(2n), and (1 + |x|)^(2n) <= 4^n (1 + |x|^(2n))/2 by convexity (n made whole).
    """
    n = int(float(g.n.ceil()))
    second = (2 * g.a).exp() * arb(4) ** n / 2 * (1 + _moment(n, other))
    return (f.error * (_moment(f.power, sigma) * second).sqrt()).upper()


def _moment(n: int, sigma: arb) -> arb:
    """E u^(2n)."""
    value = sigma ** (2 * n)
    for k in range(1, 2 * n, 2):
        value = value * k
    return value


def _partial_moment(n: int, a: arb, b: arb) -> arb:
    """The integral of z**n exp(-z**2/2) over a < z < b."""
    root = arb(2).sqrt()
    if n == 0:
        return (arb.pi() / 2).sqrt() * (acb(a / root).erfc().real - acb(b / root).erfc().real)
    ends = a ** (n - 1) * (-a * a / 2).exp() - b ** (n - 1) * (-b * b / 2).exp()
    return ends if n == 1 else ends + (n - 1) * _partial_moment(n - 2, a, b)
