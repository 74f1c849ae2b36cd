"""Rigorous enclosures of two-variable Gaussian expectations E f(u) g(v)."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, exp, inf, isqrt, log, log2
from typing import TYPE_CHECKING

import flint
from flint import acb, arb

from derive.gaussian.enclosure.budget import OutOfTime
from derive.gaussian.enclosure.corners import clipped, corners, is_integrable, poles
from derive.gaussian.enclosure.flat import flat_error, flattened
from derive.gaussian.enclosure.grid import tensor
from derive.gaussian.enclosure.growth import Bound, ball, tail
from derive.gaussian.enclosure.one import enclose_one
from derive.gaussian.enclosure.prepared import Analysed, prepare
from derive.gaussian.enclosure.products import LineProduct, SideLimits
from derive.gaussian.enclosure.strip import Law, conditional
from derive.records import DomainError, Unsupported

if TYPE_CHECKING:
    from derive.activation.pieces import PieceFunction

NARROW = 0.02
MARGIN = 2
"""How far from a singular line the conditional rule keeps, in standard deviations of w."""
ATTEMPTS = 3
WIDE = 1600
"""Variances from which on a function may be a monomial over most of the mass."""
FARTHEST_POLE, FARTHEST_REACH = 60, 2000
NEAR, REMOTE = 6, 35


def enclose_pair(
    f: PieceFunction | Analysed,
    g: PieceFunction | Analysed,
    q1: Fraction | arb,
    q2: Fraction | arb,
    c: Fraction | arb,
    digits: int = 16,
) -> arb:
    """E f(u) g(v), Var u = q1, Var v = q2, correlation c, zero means, as a ball.

    c = 0 is a product of two one-variable expectations and c = -1, 1 a single one, f(sqrt(q1) z) g(+-sqrt(q2) z).
    Otherwise two tensor Gauss-Legendre rules with certified remainders are tried in the order that is quicker:
    the grid of the two variables (functions are evaluated at one-dimensional nodes only; its cost grows like
    1/sqrt(1 - c^2)), and the conditional law of v given u, whose cost does not depend on 1 - |c|. Both cut at the
    breaks of f and g; what lies outside the range is bounded by their growth. The radius aims at 10**-digits of
    sqrt(E f(u)^2 E g(v)^2).

    Args:
        f, g: the functions
        q1, q2: variances, exact or balls, not negative (0 is the limit)
        c: correlation, exact or a ball strictly between -1 and 1
        digits: certified digits wanted

    Raises:
        DomainError: |c| > 1 or a negative variance.
        Unsupported: the growth does not certify a finite expectation, c is a ball that touches -1 or 1, or
            the two rules give up.
    """
    if q1 < 0 or q2 < 0 or c > 1 or c < -1:
        raise DomainError("no such Gaussian law", where=f"q1={q1}, q2={q2}, c={c}", why="variances >= 0, -1 <= c <= 1")
    first = prepare(f)
    second = first if g is f else prepare(g)
    if q1 == 0 or q2 == 0:
        first, q1 = (SideLimits(first), Fraction(1)) if q1 == 0 else (first, q1)
        second, q2 = (SideLimits(second), Fraction(1)) if q2 == 0 else (second, q2)
    if c == 0:
        with flint.ctx.workprec(int(3.33 * digits) + 40):
            return enclose_one(first, q1, digits=digits + 1) * enclose_one(second, q2, digits=digits + 1)
    if c == 1 or c == -1:
        with flint.ctx.workprec(int(7 * digits) + 60):
            slope = _ratio(q1, q2) * (1 if c == 1 else -1)
            doubt = arb(0)
            if q1 > WIDE or q2 > WIDE:
                sigmas = ball(q1).sqrt(), (ball(q1).sqrt() * abs(slope))
                goal = _size(first, sigmas[0]) * _size(second, sigmas[1]) * 10.0**-digits
                first, second, doubt = _flat(first, second, sigmas, goal, digits)
        value = enclose_one(LineProduct(first, second, slope), q1, digits=digits)
        with flint.ctx.workprec(int(7 * digits) + 60):
            return value + arb(0, doubt.upper())
    if first.parity * second.parity < 0:
        return arb(0)
    if c < 0 and (sign := first.parity or second.parity):  # -v or -u has the opposite correlation
        with flint.ctx.workprec(int(7 * digits) + 60):
            return sign * _inside(first, second, q1, q2, -c, digits)
    return _inside(first, second, q1, q2, c, digits)


def _inside(f, g, q1, q2, c, digits: int) -> arb:
    """The case 0 < |c| < 1: rules tried at growing precision."""
    for h in (f, g):
        for k, _, near in corners(h):
            if not is_integrable(near):
                where = f"x = {h.breaks[k].str(6, radius=False)}"
                why = "|f| <= distance**-b with b < 1 is not proved there"
                raise Unsupported("a factor is not certainly integrable next to a point", where=where, why=why)
    result, before = arb("nan"), None
    precision = int(3.33 * digits) + 40
    for _ in range(ATTEMPTS):
        with flint.ctx.workprec(precision):
            s = _sine(c)
            if not s > 0:
                raise Unsupported(
                    "the correlation is a ball that touches -1 or 1",
                    where=str(c),
                    why="the law changes its dimension there",
                    instead="give the correlation as an exact rational number",
                )
        with flint.ctx.workprec(precision + max(0, int(-log2(float(s.lower()))))):
            try:
                value, goal = _attempt(f, g, (ball(q1), ball(q2)), ball(c), _sine(c), digits)
            except OutOfTime:
                if not result.is_finite():
                    raise
                break  # the ball reached so far
        if before is None or value.rad() < result.rad():
            result = value
        if value.rad() <= goal or (before is not None and not value.rad() < before / 16):
            break
        before, precision = value.rad(), precision * 3 // 2
    return result


def _attempt(f, g, variances: tuple[arb, arb], c: arb, s: arb, digits: int) -> tuple[arb, float]:
    sigma1 = variances[0].sqrt()
    sigma2 = sigma1 if variances[0] == variances[1] else variances[1].sqrt()
    scale = _size(f, sigma1) * _size(g, sigma2)
    goal = scale * 10.0**-digits
    if not 1e-290 < goal < 1e290:
        raise Unsupported("the expectation is beyond the range of the two-variable rules", why=f"its scale is {scale}")
    f, g, doubt = _flat(f, g, (sigma1, sigma2), goal, digits)
    reach, rest = _reach(f, g, (sigma1, sigma2), s, goal / 4)
    rest = rest + doubt
    points = 5 * digits // 4 + 4
    even = f.parity * g.parity > 0

    def grid() -> arb | None:
        whole = (arb(-reach), arb(reach))
        return tensor((f, g), (sigma1, sigma2), c, s, (whole, whole), points, goal)

    def strip() -> arb | None:
        # the variable of larger scale outside: what varies fast is then met along one variable only
        outer, inner = ((f, sigma1), (g, sigma2)) if not sigma1 < sigma2 else ((g, sigma2), (f, sigma1))
        spans = _singular_spans((outer[0], inner[0]), (outer[1], inner[1]), c, s, reach)
        total = arb(0)
        for span in spans:
            across = _image(span, c, s, reach)
            part = tensor((outer[0], inner[0]), (outer[1], inner[1]), c, s, (span, across), points, goal)
            if part is None:
                return None
            total = total + part
        rest = conditional(Law(outer[0], inner[0], outer[1], inner[1], c, s, arb(reach), spans), points, goal, even)
        return None if rest is None else total + rest

    width = float(s)
    narrow = width < NARROW and (width < NARROW / 8 or width * max(float(sigma1), float(sigma2)) < 1)
    for method in (strip, grid) if narrow else (grid, strip):
        value = method()
        if value is not None and value.is_finite():
            return value + arb(0, rest), goal
    raise Unsupported(
        "the two-variable expectation was not enclosed",
        why="too many panels: the function varies too fast for the variances",
        instead="ask for fewer digits or smaller variances",
    )


def _flat(f, g, sigmas: tuple[arb, arb], goal: float, digits: int):
    """The functions with monomials far out, and the error of that; unchanged where it is not small."""
    first = flattened(f, sigmas[0], digits + 2)
    second = first if g is f and sigmas[0] is sigmas[1] else flattened(g, sigmas[1], digits + 2)
    if (first is None and second is None) or not all(h.bound.b <= 0 and h.bound.s <= 0 for h in (f, g)):
        return f, g, arb(0)
    doubt = arb(0)
    if first is not None:
        doubt = doubt + flat_error(first, sigmas[0], g.bound, sigmas[1])
    if second is not None:
        doubt = doubt + flat_error(second, sigmas[1], (first or f).bound, sigmas[0])
    if not doubt < goal / 4 or poles(f) or poles(g):
        return f, g, arb(0)
    return first or f, second or g, doubt


def _singular_spans(functions, sigmas: tuple[arb, arb], c: arb, s: arb, reach: float) -> tuple[tuple[arb, arb], ...]:
    """Intervals of x in which f(sigma1 x) or g(sigma2(c x + s w)), |w| <= reach, meets a singular point."""
    half = ((reach + MARGIN) * s / abs(c)).upper()
    places = [functions[0].breaks[k] / sigmas[0] for k, _, _ in corners(functions[0])]
    places += [functions[1].breaks[k] / sigmas[1] / c for k, _, _ in corners(functions[1])]
    spans: list[tuple[arb, arb]] = []
    for place in sorted(places, key=lambda place: float(place.mid())):
        low, high = (place - half).lower().max(arb(-reach)), (place + half).upper().min(arb(reach))
        if not low < high:
            continue
        if spans and low <= spans[-1][1]:
            low, high = spans[-1][0], high.max(spans[-1][1])
            spans.pop()
        spans.append((low, high))
    return tuple(spans)


def _image(span: tuple[arb, arb], c: arb, s: arb, reach: float) -> tuple[arb, arb]:
    """The interval of y = c x + s w for x in the span and |w| <= reach."""
    ends = [c * end for end in span]
    low = ends[0].min(ends[1]) - s * reach
    high = ends[0].max(ends[1]) + s * reach
    return low.lower(), high.upper()


def _size(f, sigma: arb) -> float:
    """About sqrt(E f^2), to choose the tolerance (nothing rests on it); the growth of f where f vanishes nearby."""
    steps = [(k / 2 + 1 / 64, 0.5) for k in range(14)] + [(2.0**-k, 2.0**-k * log(2)) for k in range(2, 40)]
    for edge in f.breaks:  # hard-shrink: nothing below its threshold
        place = float(abs(edge / sigma).mid())
        if NEAR < place < REMOTE:
            steps += [(place + (k + 0.5) / place, 1 / place) for k in range(8)]
    total = arb(0)
    for place, width in steps:
        for x in (place, -place):
            z = sigma * x
            value = f.value(sum(1 for edge in f.breaks if edge.mid() < z), acb(z), False)
            if value.is_finite():
                total += value.abs_upper() ** 2 * exp(-x * x / 2) * width * 0.4
    size = total.sqrt() if total > 0 else f.bound.a.exp()
    return float(size.mid()) if size < 1e290 else inf


def _reach(f, g, sigmas: tuple[arb, arb], s: arb, goal: float) -> tuple[float, arb]:
    """A radius outside of which the expectation is under the goal, and the bound there.

    |u|/sigma1 and |v|/sigma2 are at most the radius r of the whitened plane, whose law has density r exp(-r^2/2).
    Where f has poles, |f| is at most the sum of a bound and of a part next to them of integral m (`clipped`): that
    part meets a bound of g in strips of the plane, in which dw = r dr/|w|, and the same part of g where the density
    is at most exp(-r^2/2)/(2 pi s).
    """
    sigma, parts = sigmas[0].max(sigmas[1]), []
    for h, own in zip((f, g), sigmas, strict=True):
        (a, b, growth, n), mass = clipped(h, own)
        ratio = own / sigma
        parts.append((Bound(a, b * ratio, growth * ratio * ratio, n), mass))
    (first, mass_f), (second, mass_g) = parts
    farthest = arb(0)
    for h, own in zip((f, g), sigmas, strict=True):
        for pole in poles(h):
            farthest = farthest.max((abs(pole) / own + 1).upper())
    reach, rest = max(5.75, 0.25 * ceil(4 * float(farthest))), arb.pos_inf()
    if reach > FARTHEST_POLE:
        raise Unsupported("a function has a pole far out", why=f"{reach:.3g} standard deviations away")
    while not rest < goal:
        reach += 0.25
        if reach > FARTHEST_REACH:
            raise Unsupported("the expectation has no certified range", why="its tails do not fall below its size")
        r = arb(reach)
        rest = tail(first * second, sigma, r, degree=1)
        if farthest > 0:
            across = 1 / (arb.pi() * (r * r - farthest * farthest).sqrt())
            rest = rest + mass_f * across * tail(second, sigma, r, degree=1)
            rest = rest + mass_g * across * tail(first, sigma, r, degree=1)
            rest = rest + mass_f * mass_g * (-r * r / 2).exp() / (2 * arb.pi() * s)
    return reach, rest


def _sine(c: Fraction | arb) -> arb:
    """sqrt(1 - c^2), without cancellation where c is exact."""
    if isinstance(c, arb):
        return ((1 - c) * (1 + c)).sqrt()
    return ball(Fraction(1 - c) * Fraction(1 + c)).sqrt()


def _ratio(q1: Fraction | arb, q2: Fraction | arb) -> arb:
    """sqrt(q2/q1), exact where it is rational and dyadic."""
    if isinstance(q1, arb) or isinstance(q2, arb):
        return arb(1) if q1 is q2 or bool(ball(q1) == ball(q2)) else (ball(q2) / ball(q1)).sqrt()
    square = Fraction(q2) / Fraction(q1)
    roots = isqrt(square.numerator), isqrt(square.denominator)
    if (roots[0] ** 2, roots[1] ** 2) == (square.numerator, square.denominator):
        return ball(Fraction(*roots))
    return ball(square).sqrt()
