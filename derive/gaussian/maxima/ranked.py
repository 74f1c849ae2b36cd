"""One input: the expectation of a function of the winner among units behind a function that rises and falls."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import flint
from flint import acb, arb

from derive.gaussian.enclosure.growth import Bound, ball
from derive.gaussian.enclosure.one import enclose_one
from derive.gaussian.enclosure.prepared import Prepared
from derive.gaussian.maxima.branches import unsettled
from derive.gaussian.maxima.contest import Contest
from derive.gaussian.maxima.levels import Levels, Stretch, levels
from derive.gaussian.maxima.mehler import normal_cdf
from derive.gaussian.node import single
from derive.program.symbols import X


@dataclass(frozen=True, eq=False)
class Ranked:
    """body(x) count sum_j F(f(x))^j F(f(x)-)^(k-1-j), F(s) the chance that f of one unit is at most s.

    The largest of f(z_1), ..., f(z_k) is at most s with probability F(s)^k; where f is flat, F jumps by the mass
    of the stretch, which shares F^k - F_-^k. Beyond the reach the chance counts as somewhere in [0, 1].
    An `Analysed` function: its breaks are those of body, and the cuts of the levels.
    """

    body: Any
    rank: Prepared
    contest: Contest
    sigma: arb
    body_piece: tuple[int, ...]
    undecided: tuple[int, ...] = ()
    parity: int = 0
    memo: dict = field(default_factory=dict, repr=False)

    @property
    def reach(self) -> arb:
        """How far out the events are followed: the mass beyond is below the working precision."""
        return ((arb(2).log() * 2 * flint.ctx.prec).sqrt() * self.sigma).mid()

    @property
    def levels(self) -> Levels:
        """The events at the working precision."""
        key = "levels", flint.ctx.prec
        if key not in self.memo:
            self.memo[key] = levels(self.rank, self.sigma, self.reach)
        return self.memo[key]

    @property
    def _stretches(self) -> list[tuple[arb, Stretch | None]]:
        """(left end, stretch of the levels) ascending; None where another one follows the values, or far out."""
        key = "stretches", flint.ctx.prec
        if key not in self.memo:
            found: list[tuple[arb, Stretch | None]] = [(arb.neg_inf(), None)]
            for stretch in self.levels.stretches:
                if found[-1][0].overlaps(stretch.left):
                    found.pop()
                found += [(stretch.left, stretch), (stretch.right, None)]
            self.memo[key] = found
        return self.memo[key]

    @property
    def breaks(self) -> tuple[arb, ...]:
        """The ends of the stretches."""
        return tuple(place for place, _ in self._stretches[1:])

    @property
    def bound(self) -> Bound:
        """The growth of the body: the weights are at most k."""
        a, b, s, n = self.body.bound
        return Bound(a + arb(self.contest.k).log(), b, s, n)

    def corner(self, i: int, side: int) -> None:
        """No singular ends."""
        return

    def value(self, i: int, z: acb, analytic: bool) -> acb:
        """The i-th stretch at a complex ball."""
        stretch = self._stretches[i][1]
        if stretch is None:
            return self._beyond(z, analytic)
        at, k = self.levels, self.contest.k
        places = at.places(stretch, z, analytic)
        if places is None:
            return acb("nan")
        chance = at.chance(stretch, places)
        branch = at.branches[stretch.branch]
        if branch.sign:
            share = k * chance ** (k - 1)
        else:
            less = chance - normal_cdf(branch.right / self.sigma) + normal_cdf(branch.left / self.sigma)
            share = sum((chance**j * less ** (k - 1 - j) for j in range(k)), acb(0))
        total, scale = acb(0), 2 * self.sigma * self.sigma
        for index, place, slope in places:
            density = ((z * z - place * place) / scale).exp() if place is not z else acb(1)
            own = at.branches[index]
            alongside = slope * own.sign * branch.sign if branch.sign else slope
            total = total + self._body(own.piece, place, analytic) * alongside * density
        return total * share * self.contest.count / k

    def _body(self, piece: int, place: acb, analytic: bool) -> acb:
        """The body at a place of a piece of the rank; it breaks where the rank does, if anywhere."""
        here = self.body_piece[piece]
        return self.body.value(here, place, analytic)

    def _beyond(self, z: acb, analytic: bool) -> acb:
        """Inside the reach the values are followed elsewhere; beyond it the winner's chance is anywhere in [0, 1]."""
        if z.real > -self.reach and z.real < self.reach:
            return acb(0)
        if analytic:
            return acb("nan")
        piece = 0 if z.real < 0 else len(self.body.breaks)
        return self.body.value(piece, z, False) * acb(arb(0.5, 0.5)) * self.contest.count


def enclose_winner(found: Contest, q: Any, given: dict[str, Any], digits: int, tools: Any) -> arb:
    """E of the contest's question for independent units of variance q, as a ball. Raises Unsupported."""
    if q == 0:
        raise unsettled("the variance is 0")
    symbols = (found.rank.free_symbols | found.body.free_symbols) - {X}
    parameters = tuple(sorted((s.name, given[s.name]) for s in symbols if s.name in given))
    if any(isinstance(value, arb) for value in (q, *dict(parameters).values())):
        return _winner(found, q, dict(parameters), digits, tools)
    # a page asks for the same number several times, and it takes seconds
    return _exact_winner(found, q, parameters, digits, tools, flint.ctx.prec)


@lru_cache(maxsize=256)
def _exact_winner(found: Contest, q: Any, parameters: tuple, digits: int, tools: Any, precision: int) -> arb:
    return _winner(found, q, dict(parameters), digits, tools)


def _winner(found: Contest, q: Any, given: dict[str, Any], digits: int, tools: Any) -> arb:
    rank = tools.function(found.rank, X, given)
    if not isinstance(rank, Prepared) or not hasattr(rank.source, "form"):
        raise unsettled("its pieces are not known")
    body = tools.function(found.body, X, given)
    with flint.ctx.workprec(int(3.33 * digits) + 60):
        function = Ranked(body, rank, found, ball(q).sqrt(), _pieces(body, rank))
        value = enclose_one(function, q, digits=digits)
        beyond = 2 * normal_cdf(-function.reach / function.sigma)
        size = tools.enclose(single(found.body**2), {**given, "q": q}, 5)
        # F moves by at most `beyond`, F^(k-1) by k - 1 times that
        return value + arb(0, (beyond * found.k * found.k * abs(size).sqrt()).upper())


def _pieces(body: Any, rank: Prepared) -> tuple[int, ...]:
    """For each piece of the rank the piece of the body on it. Raises Unsupported where the body breaks elsewhere."""
    found = []
    for place in (*rank.breaks, arb.pos_inf()):
        found.append(sum(1 for edge in body.breaks if edge < place))
    if len(body.breaks) > len(rank.breaks) or any(not any(e.overlaps(b) for b in rank.breaks) for e in body.breaks):
        raise unsettled("what is asked of the winner breaks where its rank does not")
    return tuple(found)


__all__ = ["Ranked", "enclose_winner"]
