"""Sets {x: f(x) <= f(y)} of a function that rises and falls, by the preimages on its monotone branches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import flint
import numpy as np
from flint import acb, arb

from derive.activation.certify import period
from derive.gaussian.enclosure.budget import expired
from derive.gaussian.enclosure.prepared import Prepared
from derive.gaussian.maxima.branches import Branch, Derivatives, branches, unsettled
from derive.gaussian.maxima.mehler import normal_cdf
from derive.gaussian.maxima.turning import Turn, turn

MOST = 40
WIDEN = (1.5, 3.0, 8.0)
NEWTON, NEAR, CLOSE, TINY = 12, 1e-6, 1e-14, 1e-150
BISECTIONS = 70


@dataclass(frozen=True)
class Stretch:
    """Values between two neighbouring levels, followed along the longest of the stretches on which f takes them.

    branch    the one followed, left < x < right
    members   every branch that takes the values, the one followed first
    constant  chance that f(x') is at most f(x) = constant + sum over members of sign Phi(place/sigma)
    """

    branch: int
    left: arb
    right: arb
    members: tuple[int, ...]
    constant: arb


@dataclass(frozen=True, eq=False)
class Levels:
    """The events f(x') <= f(x) for x' ~ N(0, sigma^2) inside the reach.

    turns   for pairs of neighbouring branches of one piece: the point between where f turns
    period  of a function that rises and falls once in it, else None
    """

    f: Prepared
    of: Derivatives
    sigma: arb
    branches: list[Branch]
    stretches: list[Stretch]
    turns: dict[frozenset[int], Turn]
    period: arb | None = None

    def places(self, at: Stretch, x: acb, analytic: bool) -> list[tuple[int, acb, acb]] | None:
        """(branch, place, slope of the place in x) for every member; x is a ball that meets the real line.

        None where they are not found as analytic functions; for real x then hulls of the places.
        """
        if expired():  # an exception does not come through the integrator: what asked it looks at the clock
            return None
        found, value = [(at.branch, x, acb(1))], None
        branch = self.branches[at.branch]
        for other in at.members[1:]:
            mirrored = self._mirrored(at.branch, other, x)
            if mirrored is not None:
                found.append((other, *mirrored))
                continue
            if value is None:
                value = self.f.value(branch.piece, x, analytic)
            place = self._preimage(self.branches[other], branch.piece, x, value, analytic)
            if place is None:
                if analytic:
                    return None
                place = acb(self._bracket(self.branches[other], value.real))
            slope = self.of.slope(branch.piece, x, analytic) / self.of.slope(self.branches[other].piece, place)
            found.append((other, place, slope))
        return found

    def _mirrored(self, own: int, other: int, x: acb) -> tuple[acb, acb] | None:
        """The place on another branch: across a turning point at an end of the own one, by periods, by parity."""
        opposite = len(self.branches) - 1 - other if self.f.parity == 1 else None
        if opposite == own:
            return -x, acb(-1)
        cyclic = self.period is not None
        if self.period is not None and (other - own) % 2 == 0:
            return x + self.period * ((other - own) // 2), acb(1)
        for near in (own - 1, own + 1):
            turn = self.turns.get(frozenset((own, near))) if near == other or cyclic or opposite == near else None
            mirrored = turn.mirror(x) if turn is not None else None
            if mirrored is not None and opposite == near:
                return -mirrored[0], -mirrored[1]
            if mirrored is not None:
                periods = self.period * ((other - near) // 2) if self.period is not None and near != other else 0
                return mirrored[0] + periods, mirrored[1]
        return None

    def chance(self, at: Stretch, places: list[tuple[int, acb, acb]]) -> acb:
        """The chance that f of another unit is at most that at the places."""
        total = acb(at.constant)
        for index, place, _ in places:
            total = total + self.branches[index].sign * cdf(place / self.sigma)
        return total

    def _preimage(self, rival: Branch, piece: int, z: acb, value: acb, analytic: bool) -> acb | None:
        """The x on another branch with f(x) = f(z), by a Krawczyk step about the real solution at the middle of z.

        Contraction proves that for every value in the ball there is one solution in the box, real for a real value.
        """
        f, of = self.f, self.of
        centre = f.value(piece, acb(z.real.mid()), False)
        x = acb(arb(float(np.interp(float(centre.real.mid()), *rival.table))))
        # the middle need be no better than the ball is wide
        enough = max(TINY, 1e-3 * float(z.real.rad()) + 1e-3 * abs(float(z.imag.upper())))
        last = float("inf")
        for _ in range(NEWTON):
            slope = acb(of.slope(rival.piece, x).mid())
            step = ((f.value(rival.piece, x, False) - centre) / slope).real.mid()
            if not step.is_finite():
                return None
            x, size = acb((x - step).real.mid()), abs(float(step))
            if size < enough or (size > last / 2 and last < NEAR):
                break
            last = size
            if size < CLOSE:
                enough = max(enough, size)  # the next step is the last: errors are squared
        if not (x.real >= rival.left.lower() and x.real <= rival.right.upper()):
            return None
        inverse = 1 / slope
        if not inverse.is_finite():
            return None
        off = (f.value(rival.piece, x, False) - value) * inverse
        for factor in WIDEN:
            radius = (abs(off).upper() * factor).mid() + arb(2) ** (-flint.ctx.prec)
            box = acb(arb(0, radius), arb(0, radius))
            inner = -off + (1 - inverse * of.slope(rival.piece, x + box, True)) * box
            if inner.is_finite() and _within(inner, radius):
                return x + inner
        return None

    def _bracket(self, rival: Branch, value: arb) -> arb:
        """Where on another branch f has the values of a ball: its stretch, cut down by bisection at both ends."""
        ends = []
        # rising: the lower end comes from the lower value; falling: the other way round
        for target, above in ((value.lower(), rival.sign < 0), (value.upper(), rival.sign > 0)):
            low, high = rival.left.lower(), rival.right.upper()
            for _ in range(BISECTIONS):
                middle = ((low + high) / 2).mid()
                here = self.f.value(rival.piece, acb(middle), False).real
                if not (here > target or here < target):
                    break
                low, high = (low, middle) if bool(here > target) == (rival.sign > 0) else (middle, high)
            ends.append(high if above else low)
        return ends[0].union(ends[1])


def _within(box: acb, radius: arb) -> bool:
    return bool(abs(box.real).upper() < radius) and bool(abs(box.imag).upper() < radius)


def cdf(x: acb) -> acb:
    """Phi at a complex ball."""
    return (-x / arb(2).sqrt()).erfc() / 2


def levels(f: Prepared, sigma: arb, reach: arb) -> Levels:
    """The events of a function for units with standard deviation sigma, seen up to |x| < reach. Raises Unsupported."""
    of = Derivatives(f)
    parts = branches(f, of, reach)
    # the ends of mirrored branches, or of periods, lie on one level
    cycle = period(f.source.form.cells[0].value) if len(f.source.form.cells) == 1 else None
    symmetric = f.parity == 1 or cycle is not None
    if len(parts) > MOST:
        raise unsettled(f"it turns {len(parts) - 1} times within reach of the pre-activations")
    pieces = [piece for index in range(len(parts)) for piece in _cut(f, parts, index, symmetric)]
    kept: list[Stretch] = []
    pieces.sort(key=lambda piece: float(piece[1] - piece[2]))
    for index, left, right in pieces:
        middle = f.value(parts[index].piece, acb(((left + right) / 2).mid()), False).real
        members, constant = _inside(f, parts, index, middle, sigma)
        # a shorter stretch over the same values is followed along the longer one
        if not any(index in other.members and _over(f, parts[other.branch], other, middle) for other in kept):
            kept.append(Stretch(index, left, right, members, constant))
    kept.sort(key=lambda stretch: float(stretch.left.mid()))
    return Levels(
        f, of, sigma, parts, kept, _turnings(f, parts), cycle if cycle is not None and _once(parts, cycle) else None
    )


def _once(parts: list[Branch], cycle: arb) -> bool:
    """Whether every second turning point is one period further on, so that a period has one rise and one fall.

    Shifted turning points are turning points, and balls of different ones are apart.
    """
    turns = [branch.right for branch in parts[:-1]]
    return all((late - early).overlaps(cycle) for early, late in zip(turns, turns[2:], strict=False)) and all(
        bool(late - early < cycle) for early, late in pairwise(turns)
    )


def _turnings(f: Prepared, parts: list[Branch]) -> dict[frozenset[int], Turn]:
    found = {}
    for index, (one, two) in enumerate(pairwise(parts)):
        if one.piece == two.piece and one.sign * two.sign < 0:
            widest = min(float((one.right - one.left).mid()), float((two.right - two.left).mid()), 5.0)
            here = turn(partial(f.value, one.piece), one.right, widest)
            if here is not None:
                found[frozenset((index, index + 1))] = here
    return found


def _cut(f: Prepared, parts: list[Branch], index: int, symmetric: bool) -> list[tuple[int, arb, arb]]:
    """A branch between the points where f takes a value that it has at an end of another branch."""
    branch, cuts = parts[index], []
    for at, other in enumerate(parts) if branch.sign else ():
        for level, near in ((other.first, {at - 1}), (other.last, {at + 1})):
            near = near if other.sign else {at - 1, at + 1}
            if index == at or level < branch.low or level > branch.high:
                continue
            if level > branch.low and level < branch.high:
                cuts.append(_solve(f, branch, level))
            elif index not in near and not (symmetric or level in (branch.first, branch.last)):
                raise unsettled("two of its turning points lie on one level, as far as can be told")
    ends = [branch.left, *sorted(cuts, key=lambda c: float(c.mid())), branch.right]
    return [(index, a, b) for a, b in pairwise(ends) if not a.overlaps(b)]


def _over(f: Prepared, branch: Branch, stretch: Stretch, value: arb) -> bool:
    """Whether f takes a value on a stretch."""
    if not branch.sign:
        return False
    ends = [f.value(branch.piece, acb(x), False).real for x in (stretch.left, stretch.right)]
    return bool((ends[0] - value) * (ends[1] - value) < 0)


def _solve(f: Prepared, branch: Branch, level: arb) -> arb:
    """The point of a branch where f has a value strictly between those at its ends."""
    low, high = branch.left.mid(), branch.right.mid()
    for _ in range(flint.ctx.prec + 60):
        middle = ((low + high) / 2).mid()
        value = f.value(branch.piece, acb(middle), False).real
        if not (value > level or value < level):
            break
        low, high = (low, middle) if bool(value > level) == (branch.sign > 0) else (middle, high)
    return low.union(high)


def _inside(f: Prepared, parts: list[Branch], own: int, value: arb, sigma: arb) -> tuple[tuple[int, ...], arb]:
    """The branches that take a value, `own` first, and the mass that is below it throughout their stretch.

    A stretch on which f is flat has one value: everything stands still, and ends of other branches may have it too.
    """
    flat = parts[own].sign == 0
    movers, mass = [own], arb(0)
    for index, other in enumerate(parts):
        left, right = (normal_cdf(x / sigma) for x in (other.left, other.right))
        crossed = other.sign and value > other.low and value < other.high
        if index != own and crossed and flat:
            place = normal_cdf(_solve(f, other, value) / sigma)
            mass = mass + (place - left if other.sign > 0 else right - place)
        elif index == own or crossed:
            movers += [index] if index != own else []
            mass = mass + (-left if other.sign > 0 else right if other.sign < 0 else right - left)
        elif value > other.high or (other.sign == 0 and value > other.low) or (flat and value == other.high):
            mass = mass + right - left
        elif not (value < other.low or (flat and value == other.low)):
            raise unsettled("the order of its values is not decided")
    return tuple(movers), mass


__all__ = ["Levels", "Stretch", "cdf", "levels"]
