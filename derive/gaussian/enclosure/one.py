"""Rigorous enclosures of one-variable Gaussian expectations of piecewise analytic functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import flint
from flint import acb, arb

from derive.gaussian.enclosure.budget import OutOfTime
from derive.gaussian.enclosure.corners import clipped, corners, diverges, is_integrable, poles, sign_next_to
from derive.gaussian.enclosure.flat import flat_part
from derive.gaussian.enclosure.growth import ball, tail
from derive.gaussian.enclosure.parts import Line, part, polynomial, slivers
from derive.gaussian.enclosure.prepared import Analysed, prepare
from derive.gaussian.enclosure.products import side_value
from derive.records import Unsupported

if TYPE_CHECKING:
    from derive.activation.pieces import PieceFunction

ATTEMPTS = 4
FARTHEST_BREAK = 2000
FARTHEST_MODE = 100_000


def enclose_one(
    f: PieceFunction | Analysed,
    q: Fraction | arb,
    mean: Fraction | arb = Fraction(0),
    digits: int = 16,
    weight: Sequence[int | Fraction | arb] = (1,),
) -> arb:
    """E f(mean + sqrt(q) z) p(z), z ~ N(0, 1), as a ball.

    Each analytic piece is integrated by itself (adaptive Gauss-Legendre with certified remainders, Petras's method
    as in Arb's `acb_calc_integrate`); what lies beyond the outer ends is bounded by the growth of f. The radius aims
    at 10**-digits of the largest contribution of a piece; the precision is raised until that is reached, and after a
    few attempts the ball reached is returned (a ball q or mean sets a limit of its own).

    Args:
        f: the function, with its breaks, pieces and growth
        q: variance, exact or a ball, q >= 0 (q = 0 is the limit q -> 0+: the mean of the two one-sided values)
        mean: mean
        digits: certified digits wanted
        weight: coefficients of the polynomial p in ascending powers of the standardised z

    Next to a point where f is singular the variable is the logarithm of the distance (`corners`); +-inf is returned
    where |f| is certainly not integrable there.

    Raises:
        Unsupported: the growth of f against the variance does not certify a finite expectation, f is not certainly
            integrable next to a singular point, or the budget of evaluations did not suffice for an exact law.
    """
    f, precision = prepare(f), int(3.33 * digits) + 28
    sign = 0 if q == 0 else _infinite(f, len(weight) == 1)
    if sign:
        return arb.pos_inf() if sign > 0 else arb.neg_inf()
    result, before = arb("nan"), None
    for _ in range(ATTEMPTS):
        with flint.ctx.workprec(precision):
            try:
                value, scale = _attempt(f, ball(q), ball(mean), [ball(w) for w in weight], digits)
            except OutOfTime:
                if not result.is_finite():
                    raise
                break  # the ball reached so far
            if before is None or value.rad() < result.rad():
                result = value
            reached = value.is_finite() and value.rad() <= scale * arb(10) ** -digits
            # A ball in the question, or a budget, sets a limit that more precision does not move.
            if reached or (before is not None and not value.rad() < before / 16):
                break
            before = value.rad()
        precision = 2 * precision
    if not (result.is_finite() or isinstance(q, arb) or isinstance(mean, arb)):
        raise Unsupported(
            "the expectation was not enclosed",
            why="the function varies too fast for the variance, or its balls stay unbounded",
            instead="ask for fewer digits or a smaller variance",
        )
    return result


def _reach(f, sigma: arb, mean: arb, digits: int) -> arb:
    """How far from 0 in z the mass may lie, by the growth of f (nothing rests on it).

    The bound exp(b|x| + s x^2 - z^2/2), x = mean + sigma z, has its mode at (b + 2 s |mean|) sigma/(1 - 2 s sigma^2).
    """
    usual, room = (2 * arb(10).log() * (digits + 3)).sqrt(), 1 - 2 * f.bound.s * sigma * sigma
    if not room > 0:
        return usual.upper()
    mode = (f.bound.b + 2 * f.bound.s * abs(mean)) * sigma / room
    return (mode + usual / room.sqrt()).upper() if mode < FARTHEST_MODE else usual.upper()


def _infinite(f, plain: bool) -> int:
    """1 or -1 where the expectation is certainly infinite, 0 where f is integrable next to every singular point."""
    near = [(k, corner) for k, _, corner in corners(f) if not is_integrable(corner)]
    if not near:
        return 0
    signs = {sign_next_to(corner) if diverges(corner) else 0 for _, corner in near}
    if not plain or len(signs) > 1 or signs == {0}:
        where = f"x = {f.breaks[near[0][0]].str(6, radius=False)}"
        why = "it diverges there with both signs" if {1, -1} <= signs else "|f| <= distance**-b, b < 1, is not proved"
        raise Unsupported("the integrand is not integrable next to a point", where=where, why=why)
    return signs.pop()


def _attempt(f, q: arb, mean: arb, weight: list[arb], digits: int) -> tuple[arb, arb]:
    """The expectation at the working precision, and the size of its largest part."""
    if q == 0:
        value = _limit(f, mean) * _polynomial_mean(weight)
        return value, abs(value).upper()
    parity = 0
    if mean == 0:
        parity = f.parity * _polynomial_parity(weight)
        if parity < 0:
            tail(f.bound, q.sqrt(), arb(1))  # raises where the two halves need not be finite
            return arb(0), arb(0)
    sigma = q.sqrt()
    line = Line(f, sigma, mean, weight)
    reach = _reach(f, sigma, mean, digits)
    goal = arb(10) ** (-digits - 1)
    total, size, done = arb(0), arb(0), None
    ends = _ends(f, sigma, mean, reach, half=parity > 0)
    guess = _guess(f, sigma, mean, weight, ends)
    if mean == 0 and weight == [1]:
        flat, inner = _flat_parts(f, sigma, ends, goal * guess, digits)
        if flat is not None:
            for left, right, piece in _segments(f, sigma, mean, inner, None):
                value = part(line, piece, left, right, goal * size.max(guess) / 8)
                total, size = total + value, size.max(abs(value).upper())
            total, size = total + flat + slivers(line, inner, None), size.max(abs(flat).upper())
            done = ends
    for _ in range(12):
        for left, right, piece in _segments(f, sigma, mean, ends, done):
            value = part(line, piece, left, right, goal * size.max(guess) / 8)
            total, size = total + value, size.max(abs(value).upper())
        total = total + slivers(line, ends, done)
        done = ends
        rest = _beyond(f, sigma, mean, weight, ends, half=parity > 0)
        if rest <= goal * size or not size > 0:
            break
        reach = reach * 5 / 4
        ends = _ends(f, sigma, mean, reach, half=parity > 0)
    norm = (2 * arb.pi()).rsqrt() * (2 if parity > 0 else 1)
    return (total + arb(0, rest)) * norm, size * norm


def _flat_parts(f, sigma: arb, ends: tuple[arb, arb], tolerance: arb, digits: int):
    """What the monomial outer parts of f give between the ends, and the inner ends that are left to quadrature."""
    low, high = ends
    right = flat_part(f, sigma, 1, high, tolerance, digits)
    left = flat_part(f, sigma, -1, -low, tolerance, digits) if low < 0 else None
    if right is None and left is None:
        return None, ends
    value = arb(0)
    if right is not None:
        value, high = value + right.value, right.start
    if left is not None:
        value, low = value + left.value, -left.start
    return value, (low, high)


def _guess(f, sigma: arb, mean: arb, weight: list[arb], ends: tuple[arb, arb]) -> arb:
    """About half the largest value of the integrand, for a first tolerance (nothing rests on it)."""
    best, step = arb(0), (ends[1] - ends[0]) / 29
    places = [ends[0] + step * k for k in range(30)]
    places += [middle.mid() for middle in _modes(f, sigma, mean, ends)]
    for z in places:
        x = sigma * z + mean
        piece = sum(1 for edge in f.breaks if edge.mid() < x.mid())
        value = f.value(piece, acb(x), False) * (-(z * z) / 2).exp() * polynomial(weight, z)
        if value.is_finite():
            best = best.max(value.abs_upper())
    return (best / 2).mid()


def _ends(f, sigma: arb, mean: arb, reach: arb, half: bool) -> tuple[arb, arb]:
    """Where the integration stops: past the mass, the nearer breaks and the sign change of x."""
    shift = mean / sigma
    low, high = reach, reach
    needed = poles(f)
    for edge in f.breaks:
        place = (edge - mean) / sigma
        if abs(place) < FARTHEST_BREAK or any(edge.overlaps(pole) for pole in needed):
            high = high.max(place.upper() + reach) if place.upper() > 1 else high
            low = low.max(-place.lower() + reach) if place.lower() < -1 else low
    low, high = low.max(shift.upper()).upper(), high.max((-shift).upper()).upper()
    low, high = low.ceil().mid(), high.ceil().mid()
    return (arb(0), high) if half else (-low, high)


def _segments(f, sigma: arb, mean: arb, ends: tuple[arb, arb], done) -> Iterator[tuple[arb, arb, int]]:
    """Consecutive intervals of z and the index of the piece on each, those next to the mode first."""
    places = [(edge - mean) / sigma for edge in f.breaks]
    low, high = ends
    cuts = [place.mid() for place in places if low < place.mid() < high]
    own = [low, high, arb(0), (-mean / sigma).mid(), *(done or ())]
    for middle in _modes(f, sigma, mean, ends):
        own += [middle.mid(), (middle - 16).mid(), (middle + 16).mid()]
    if done is None:
        radius = arb(16)
        while radius < high.max(-low):
            own += [radius, -radius]
            radius = radius * 2
    for cut in own:
        if low <= cut <= high and cut not in cuts:
            cuts.append(cut)
    cuts.sort(key=float)
    pairs = list(pairwise(cuts))
    pairs.sort(key=lambda pair: float(abs(pair[0] + pair[1])))
    for left, right in pairs:
        centre = ((left + right) / 2).mid()
        if done is None or centre < done[0] or centre > done[1]:
            yield left, right, sum(1 for place in places if place.mid() < centre)


def _modes(f, sigma: arb, mean: arb, ends: tuple[arb, arb]) -> list[arb]:
    """Where far out the bound of the integrand is largest on either side."""
    room = 1 - 2 * f.bound.s * sigma * sigma
    if not room > 0:
        return []
    modes = [(side * f.bound.b + 2 * f.bound.s * mean) * sigma / room for side in (-1, 1)]
    return [mode for mode in modes if abs(mode) > 8 and ends[0] < mode < ends[1]]


def _beyond(f, sigma: arb, mean: arb, weight: list[arb], ends: tuple[arb, arb], half: bool) -> arb:
    """A bound of what the integral leaves out."""
    degree, factor = len(weight) - 1, arb(0)
    bound = clipped(f, sigma)[0]  # the ends lie beyond the poles
    for coefficient in weight:
        factor = factor + abs(coefficient)
    total = arb(0)
    for side, end in ((1, ends[1]), (-1, -ends[0])):
        if half and side < 0:
            continue
        total = total + tail(bound, sigma, end, side * mean, degree)
    return (total * factor).upper()


def _limit(f, x: arb) -> arb:
    """The mean of the two one-sided values at x; a union where it is undecided whether x is a break."""
    touching = [j for j, edge in enumerate(f.breaks) if edge.overlaps(x)]
    if not touching:
        return f.value(sum(1 for edge in f.breaks if edge < x), acb(x), False).real
    left, right = (side_value(f, j, x, side) for j, side in ((touching[0], -1), (touching[-1] + 1, 1)))
    if len(touching) == 1 and x == f.breaks[touching[0]]:
        return (left + right) / 2
    values = [f.value(j, acb(x), False).real for j in range(touching[0], touching[-1] + 2)]
    hull = values[0]
    for value in values[1:]:
        hull = hull.union(value)
    return hull


def _polynomial_parity(weight: list[arb]) -> int:
    odd = all(w == 0 for w in weight[::2])
    even = all(w == 0 for w in weight[1::2])
    return 1 if even else -1 if odd else 0


def _polynomial_mean(weight: list[arb]) -> arb:
    moment, total = arb(1), arb(0)
    for k in range(0, len(weight), 2):
        total = total + weight[k] * moment
        moment = moment * (k + 1)
    return total
